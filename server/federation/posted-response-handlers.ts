import { UnsolicitedResponsePage } from '../../views/federation/unsolicited-response-page.tsx';
import { HttpError, type RequestContext } from '../http/index.ts';
import { type FlowId, toFlowId } from '../shared/index.ts';
import type { FederationDeps } from './deps.ts';
import { finishAttempt } from './finish-attempt.ts';
import { handleIdentity } from './handle-identity.ts';
import { FederationError, type RefusalKind, type UpstreamIdentity } from './identity.ts';
import type { PostedResponse } from './posted-responses.ts';
import { finishPath, type Provider, requireProvider } from './providers.ts';
import { redirectRefused } from './refusals.ts';
import { loginPageUrl } from './sign-in-notices.ts';

const belongsTo = (ticket: PostedResponse | undefined, provider: Provider): ticket is PostedResponse =>
  ticket?.provider === provider.id;

/** A posted response without an attempt. */
interface UnsolicitedResponse {
  provider: Provider;
  ticketId: FlowId;
  identity: UpstreamIdentity;
}

/**
 * GET /federation/<provider>/finish?ticket=: the browser returns from the SAML POST with its cookies. The response
 * counts only in the browser of its attempt, once.
 */
export async function showPostedResponse(r: RequestContext, deps: FederationDeps): Promise<void> {
  const provider = requireProvider(r, deps);
  const ticketId = toFlowId(r.query('ticket') ?? '');
  const ticket = await deps.tickets.find(ticketId);
  if (!belongsTo(ticket, provider)) {
    const error = new FederationError('over', 'ticket expired or unknown');
    return redirectRefused(r, deps, { provider, attempt: undefined, error });
  }
  const { attempt: attemptId, outcome } = ticket;
  if (outcome.kind === 'refused') return redirectEarlierRefusal(r, deps, { provider, attemptId, why: outcome.why });
  if (attemptId === undefined) return renderUnsolicitedPage(r, { provider, ticketId, identity: outcome.identity });
  const verify = async () => {
    const unused = await deps.tickets.takeOnce(ticketId);
    if (!belongsTo(unused, provider)) throw new FederationError('over', 'ticket already used');
    return outcome.identity;
  };
  await finishAttempt(r, deps, { provider, attemptId, verify });
}

/** The error was reported at the POST. Only the browser of the attempt learns its continuation. */
async function redirectEarlierRefusal(
  r: RequestContext,
  { attempts }: FederationDeps,
  { provider, attemptId, why }: { provider: Provider; attemptId: FlowId | undefined; why: RefusalKind },
): Promise<void> {
  const found = attemptId === undefined ? undefined : await attempts.find(r.req, attemptId, provider.id);
  const attempt = found && found.kind !== 'unknown' ? found.attempt : undefined;
  if (attempt) r.belongToRequest(`/${attempt.continuation}`);
  r.redirect(loginPageUrl(attempt, provider, why));
}

/**
 * An attacker who sends a visitor here with the attacker's own response must not sign them in to the attacker's
 * account.
 */
function renderUnsolicitedPage(r: RequestContext, { provider, ticketId: ticket, identity }: UnsolicitedResponse): void {
  const there = { name: `${identity.givenName} ${identity.familyName}`.trim(), email: identity.email ?? '' };
  const action = finishPath(provider.id);
  r.render(
    UnsolicitedResponsePage,
    { action, fields: { ticket }, provider: provider.name, there, backHref: '/' },
    {
      title: (ctx) => ctx.t('federation.unsolicited.title', { provider: provider.name }),
      address: `${action}?${new URLSearchParams({ ticket })}`,
    },
  );
}

/** POST: the visitor confirms an unsolicited (IdP-initiated) response. */
export async function finishPostedResponse(r: RequestContext, deps: FederationDeps): Promise<void> {
  const provider = requireProvider(r, deps);
  const id = toFlowId(r.field('ticket'));
  const found = await deps.tickets.find(id);
  if (found?.attempt !== undefined) throw new HttpError('badRequest', { detail: 'ticket belongs to an attempt' });
  const attempt = { intent: { kind: 'sign-in' }, continuation: '', remember: false } as const;
  try {
    const ticket = await deps.tickets.takeOnce(id);
    if (!belongsTo(ticket, provider) || ticket.outcome.kind !== 'identity')
      throw new FederationError('over', 'ticket expired or unknown');
    await handleIdentity(r, deps, { provider, identity: ticket.outcome.identity, attempt });
  } catch (error) {
    redirectRefused(r, deps, { provider, attempt, error });
  }
}

import { UnsolicitedResponsePage } from '../../views/federation/unsolicited-response-page.tsx';
import { HttpError, type RequestContext } from '../http/index.ts';
import { type FlowId, toFlowId } from '../shared/index.ts';
import { lookupRefusals } from './attempts.ts';
import { logRefusal, requireProvider } from './callback.ts';
import type { FederationDeps } from './deps.ts';
import { handleIdentity } from './handle-identity.ts';
import { FederationError, type RefusalKind, type UpstreamIdentity } from './identity.ts';
import type { PostedResponse } from './posted-responses.ts';
import { finishPath, type Provider } from './providers.ts';
import { loginPageUrl } from './sign-in-notices.ts';

const belongsTo = (ticket: PostedResponse | undefined, provider: Provider): ticket is PostedResponse =>
  ticket?.provider === provider.id;

/** A posted response of an attempt or, without one, an unsolicited one. */
interface TicketedResponse {
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
    logRefusal(deps, provider, new FederationError('over', 'ticket expired or unknown'));
    return r.redirect(loginPageUrl(undefined, provider, 'over'));
  }
  const { attempt: attemptId, outcome } = ticket;
  if (outcome.kind === 'refused') return redirectRefused(r, deps, { provider, attemptId, why: outcome.why });
  const response = { provider, ticketId, identity: outcome.identity };
  if (attemptId === undefined) return renderUnsolicitedPage(r, response);
  await finishAttempt(r, deps, { ...response, attemptId });
}

/** The error was reported at the POST. Only the browser of the attempt learns its continuation. */
async function redirectRefused(
  r: RequestContext,
  { attempts }: FederationDeps,
  { provider, attemptId, why }: { provider: Provider; attemptId: FlowId | undefined; why: RefusalKind },
): Promise<void> {
  const found = attemptId === undefined ? undefined : await attempts.find(r.req, attemptId, provider.id);
  const attempt = found && found.state !== 'unknown' ? found.attempt : undefined;
  if (attempt) r.belongToRequest(`/${attempt.continuation}`);
  r.redirect(loginPageUrl(attempt, provider, why));
}

async function finishAttempt(
  r: RequestContext,
  deps: FederationDeps,
  { provider, ticketId, identity, attemptId }: TicketedResponse & { attemptId: FlowId },
): Promise<void> {
  const found = await deps.attempts.take(r.req, attemptId, provider.id);
  const attempt = found.state === 'unknown' ? undefined : found.attempt;
  if (attempt) r.belongToRequest(`/${attempt.continuation}`);
  try {
    if (found.state !== 'open') throw new FederationError(lookupRefusals[found.state], 'attempt not open');
    const ticket = await deps.tickets.takeOnce(ticketId);
    if (!belongsTo(ticket, provider)) throw new FederationError('over', 'ticket already used');
    await handleIdentity(r, deps, { provider, identity, attempt: found.attempt });
  } catch (error) {
    const { kind } = logRefusal(deps, provider, error);
    r.redirect(loginPageUrl(attempt, provider, kind));
  }
}

/**
 * An attacker who sends a visitor here with the attacker's own response must not sign them in to the attacker's
 * account.
 */
function renderUnsolicitedPage(r: RequestContext, { provider, ticketId: ticket, identity }: TicketedResponse): void {
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
    const { kind } = logRefusal(deps, provider, error);
    r.redirect(loginPageUrl(attempt, provider, kind));
  }
}

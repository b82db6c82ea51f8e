import type { Response } from 'express';
import { UnsolicitedResponsePage } from '../../views/federation/unsolicited-response-page.tsx';
import { continuationFromQuery, HttpError, type RequestContext } from '../http/index.ts';
import { type FlowId, toFlowId } from '../shared/index.ts';
import { transition } from './attempt-state.ts';
import type { FederationAttempt } from './attempts.ts';
import type { FederationDeps } from './deps.ts';
import { handleIdentity } from './handle-identity.ts';
import { expiredThere, FederationError, type RefusalKind, type UpstreamIdentity } from './identity.ts';
import type { PostedResponse } from './posted-responses.ts';
import { finishPath, type Provider, requireProvider } from './providers.ts';
import { logRefusal, redirectRefused } from './refusals.ts';
import { loginPageAfter } from './sign-in-notices.ts';
import { startAttempt } from './start-attempt.ts';

/**
 * Facebook's responses end in `#_=_`, and a browser keeps a fragment across redirects, also to a client app, unless the
 * target has one (RFC 9110, section 10.2.2), so the target gets an empty one.
 */
function endFragment(res: Response): void {
  const location = res.location.bind(res);
  res.location = (url) => location(url.includes('#') ? url : `${url}#`);
}

/** @returns the provider's address, if its form had expired; only once */
async function askAgain(
  r: RequestContext,
  deps: FederationDeps,
  { provider, attempt, refusal }: { provider: Provider; attempt: FederationAttempt; refusal: FederationError },
): Promise<string | undefined> {
  if (refusal.detail !== expiredThere || attempt.repeated) return undefined;
  const { intent, remember, strategyState } = attempt;
  const continuation = continuationFromQuery(attempt.continuation, deps.publicUrl);
  const forceFresh = strategyState.againAtS !== undefined;
  const repeated = { provider, intent, continuation, remember, forceFresh, repeated: true } as const;
  return startAttempt(r, deps, repeated).catch((error: unknown) => {
    logRefusal(r, deps, { provider, error, attempt });
    return undefined;
  });
}

/** GET /federation/<provider>/callback: the provider's response (RFC 6749, section 4.1.2). */
export async function handleCallback(r: RequestContext, deps: FederationDeps): Promise<void> {
  const provider = requireProvider(r, deps);
  if (provider.kind === 'saml') throw new HttpError('notFound');
  if (provider.kind === 'facebook') endFragment(r.res);
  // A repeated parameter counts as absent: an error page for it would have a code in its address.
  const { state } = r.req.query;
  await finishAttempt(r, deps, {
    provider,
    attemptId: toFlowId(typeof state === 'string' ? state : ''),
    verify: (attempt) => provider.strategy.finish(r.req, attempt),
    recover: (attempt, refusal) => askAgain(r, deps, { provider, attempt, refusal }),
  });
}

interface AttemptResponse {
  provider: Provider;
  attemptId: FlowId;
  /** Verifies the response to an open attempt. @throws {FederationError} */
  verify(attempt: FederationAttempt): Promise<UpstreamIdentity>;
  /** @returns the next address after a refusal; undefined: the page on which the attempt was started */
  recover?(attempt: FederationAttempt, refusal: FederationError): Promise<string | undefined>;
}

/** Ends an attempt of this browser with the response of its provider; each attempt only once. */
async function finishAttempt(
  r: RequestContext,
  deps: FederationDeps,
  { provider, attemptId, verify, recover }: AttemptResponse,
): Promise<void> {
  const found = await deps.attempts.take(r.req, attemptId, provider.id);
  const attempt = found.kind === 'unknown' ? undefined : found.attempt;
  if (attempt) r.belongToRequest(`/${attempt.continuation}`);
  try {
    const returned = transition(found, { kind: 'response-received' });
    if (returned.kind === 'refuse') {
      // OAuth's parameter `state` names the attempt.
      throw new FederationError(returned.why, `${provider.kind === 'saml' ? 'attempt' : 'state'} ${returned.detail}`);
    }
    const identity = await verify(returned.attempt);
    await handleIdentity(r, deps, { provider, identity, attempt: returned.attempt });
  } catch (error) {
    const refusal = logRefusal(r, deps, { provider, error, attempt });
    const address = attempt && (await recover?.(attempt, refusal));
    r.redirect(address ?? loginPageAfter(attempt, provider, refusal.kind));
  }
}

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
  r.redirect(loginPageAfter(attempt, provider, why));
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

/** GET /federation/<provider>/jwks: the keys with which Foyer is registered at a provider (RFC 7517). */
export function showClientKeys(r: RequestContext, deps: FederationDeps): void {
  const { clientKeys } = requireProvider(r, deps);
  if (!clientKeys) throw new HttpError('notFound');
  r.res.json({ keys: clientKeys });
}

import type { Response } from 'express';
import { continuationFromQuery, HttpError, type RequestContext } from '../http/index.ts';
import { toFlowId } from '../shared/index.ts';
import type { FederationAttempt } from './attempts.ts';
import type { FederationDeps } from './deps.ts';
import { finishAttempt } from './finish-attempt.ts';
import { expiredThere, type FederationError } from './identity.ts';
import { type Provider, requireProvider } from './providers.ts';
import { logRefusal } from './refusals.ts';
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
    logRefusal(deps, provider, error);
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

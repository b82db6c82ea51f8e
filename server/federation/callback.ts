import type { Response } from 'express';
import { continuationFromQuery, HttpError, type RequestContext } from '../http/index.ts';
import { toFlowId } from '../shared/index.ts';
import { type FederationAttempt, lookupRefusals } from './attempts.ts';
import type { FederationDeps } from './deps.ts';
import { handleIdentity } from './handle-identity.ts';
import { expiredThere, FederationError } from './identity.ts';
import type { Provider } from './providers.ts';
import { loginPageUrl } from './sign-in-notices.ts';
import { startAttempt } from './start-attempt.ts';

/** The provider in a path. @throws {HttpError} notFound */
export function requireProvider(r: RequestContext, { providers }: Pick<FederationDeps, 'providers'>): Provider {
  const provider = providers.find(r.param('provider'));
  if (!provider) throw new HttpError('notFound');
  return provider;
}

/** Logs a refusal without any data from the provider. */
export function logRefusal(
  { log, metrics }: Pick<FederationDeps, 'log' | 'metrics'>,
  provider: Provider,
  error: unknown,
): FederationError {
  if (!(error instanceof FederationError)) throw error;
  const { kind: outcome, detail, count } = error;
  log.info(
    { act: 'federation', provider: provider.id, outcome, detail, ...(count !== undefined && { count }) },
    'federation',
  );
  metrics.signIn(provider.kind, error.kind);
  return error;
}

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
  const found = await deps.attempts.take(r.req, toFlowId(typeof state === 'string' ? state : ''), provider.id);
  const attempt = found.state === 'unknown' ? undefined : found.attempt;
  if (attempt) r.belongToRequest(`/${attempt.continuation}`);
  try {
    if (found.state !== 'open') throw new FederationError(lookupRefusals[found.state], 'state not open');
    const identity = await provider.strategy.finish(r.req, found.attempt);
    await handleIdentity(r, deps, { provider, identity, attempt: found.attempt });
  } catch (error) {
    const refusal = logRefusal(deps, provider, error);
    const address = attempt && (await askAgain(r, deps, { provider, attempt, refusal }));
    r.redirect(address ?? loginPageUrl(attempt, provider, refusal.kind));
  }
}

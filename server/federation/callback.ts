import type { Request, RequestHandler, Response } from 'express';
import { belongToRequest, continuationFromQuery, HttpError } from '../http/index.ts';
import { toFlowId } from '../shared/index.ts';
import { type FederationAttempt, lookupRefusals } from './attempts.ts';
import type { FederationDeps } from './deps.ts';
import { handleIdentity } from './handle-identity.ts';
import { expiredThere, FederationError } from './identity.ts';
import type { Provider } from './providers.ts';
import { loginPageUrl } from './sign-in-notices.ts';
import { startAttempt } from './start-attempt.ts';

/** The provider in a path. @throws {HttpError} notFound */
export function requireProvider({ providers }: Pick<FederationDeps, 'providers'>, req: Request): Provider {
  const id = req.params.provider;
  const provider = typeof id === 'string' ? providers.find(id) : undefined;
  if (!provider) throw new HttpError('notFound');
  return provider;
}

/** Logs a refusal without any data from the provider. */
export function logRefusal({ log, metrics }: FederationDeps, provider: Provider, error: unknown): FederationError {
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
  deps: FederationDeps,
  req: Request,
  res: Response,
  { provider, attempt, refusal }: { provider: Provider; attempt: FederationAttempt; refusal: FederationError },
): Promise<string | undefined> {
  if (refusal.detail !== expiredThere || attempt.repeated) return undefined;
  const { intent, remember, strategyState } = attempt;
  const continuation = continuationFromQuery(attempt.continuation, deps.publicUrl);
  const forceFresh = strategyState.againAtS !== undefined;
  return startAttempt(deps, req, res, provider, intent, { continuation, remember, forceFresh, repeated: true }).catch(
    (error: unknown) => {
      logRefusal(deps, provider, error);
      return undefined;
    },
  );
}

/** GET: the provider's response (RFC 6749, section 4.1.2). */
export function callback(deps: FederationDeps): RequestHandler {
  return async (req, res) => {
    const provider = requireProvider(deps, req);
    if (provider.kind === 'saml') throw new HttpError('notFound');
    if (provider.kind === 'facebook') endFragment(res);
    // A repeated parameter counts as absent: an error page for it would have a code in its address.
    const state = typeof req.query.state === 'string' ? req.query.state : '';
    const found = await deps.attempts.take(req, toFlowId(state), provider.id);
    const attempt = found.state === 'unknown' ? undefined : found.attempt;
    if (attempt) belongToRequest(deps.cookies, { req, res }, `/${attempt.continuation}`);
    try {
      if (found.state !== 'open') throw new FederationError(lookupRefusals[found.state], 'state not open');
      const identity = await provider.strategy.finish(req, found.attempt);
      await handleIdentity(deps, req, res, { provider, identity, attempt: found.attempt });
    } catch (error) {
      const refusal = logRefusal(deps, provider, error);
      const address = attempt && (await askAgain(deps, req, res, { provider, attempt, refusal }));
      res.redirect(303, address ?? loginPageUrl(attempt, provider, refusal.kind));
    }
  };
}

import type { Request, Response } from 'express';
import { type Continuation, requestTraits } from '../http/index.ts';
import { consumeLimits } from '../rate-limits/index.ts';
import type { FederationIntent } from './attempts.ts';
import type { FederationDeps } from './deps.ts';
import { FederationError } from './identity.ts';
import type { Provider } from './providers.ts';

export interface StartAttemptInput {
  continuation: Continuation;
  remember: boolean;
  loginHint?: string | undefined;
  /** Demands a fresh authentication even for a plain sign-in. */
  forceFresh?: boolean;
  repeated?: true;
}

/**
 * Starts an attempt in this browser.
 * @returns the provider's address. A form's answer uses `renderRedirectPage`, not a redirect, which the form's own
 * policy (`form-action 'self'`) would block somewhere in the provider's chain
 * @throws {FederationError} too-many, unreachable
 */
export async function startAttempt(
  deps: FederationDeps,
  req: Request,
  res: Response,
  provider: Provider,
  intent: FederationIntent,
  { continuation, remember, loginHint, repeated, forceFresh = intent.kind === 're-authenticate' }: StartAttemptInput,
): Promise<string> {
  const { kv, limits, attempts, pages } = deps;
  const ofCompany = provider.domains.length > 0;
  const limit = ofCompany ? limits.companyFederationAttempt : limits.federationAttempt;
  const decision = await consumeLimits(kv, limit, { address: req.ip ?? '' });
  if (!decision.allowed) throw new FederationError('too-many', 'too many attempts from one network');
  const id = attempts.newId();
  const { lang } = pages.context(req, res);
  const { url, stored: strategyState } = await provider.strategy.begin(
    { id },
    { loginHint, repeated: forceFresh, lang },
  );
  const popup = requestTraits(deps.cookies, req, `/${continuation.search}`).popup;
  const attempt = { id, provider: provider.id, intent, continuation: continuation.search, remember, strategyState };
  await attempts.begin(req, res, { ...attempt, ...(popup && { popup }), ...(repeated && { repeated }) });
  return url;
}

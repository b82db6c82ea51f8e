import { type Continuation, consumeLimits, type RequestContext, requestTraits } from '../http/index.ts';
import type { FederationIntent } from './attempts.ts';
import type { FederationDeps } from './deps.ts';
import { FederationError } from './identity.ts';
import type { Provider } from './providers.ts';

export interface StartAttemptInput {
  intent: FederationIntent;
  continuation: Continuation;
  remember: boolean;
  loginHint?: string | undefined;
  /** Demands a fresh authentication even for a plain sign-in. */
  forceFresh?: boolean;
  repeated?: true;
}

/**
 * Starts an attempt in this browser.
 * @returns the provider's address. A form's answer uses `redirectAway`, not a redirect, which the form's own policy
 * (`form-action 'self'`) would block somewhere in the provider's chain
 * @throws {FederationError} too-many, unreachable
 */
export async function startAttempt(
  r: RequestContext,
  deps: FederationDeps,
  { provider, ...input }: StartAttemptInput & { provider: Provider },
): Promise<string> {
  const { kv, limits, attempts } = deps;
  const { intent, continuation, remember, loginHint, repeated } = input;
  const ofCompany = provider.domains.length > 0;
  const limit = ofCompany ? limits.companyFederationAttempt : limits.federationAttempt;
  const decision = await consumeLimits(kv, limit, { address: r.ip });
  if (!decision.allowed) throw new FederationError('too-many', 'too many attempts from one network');
  const id = attempts.newId();
  const forceFresh = input.forceFresh ?? intent.kind === 're-authenticate';
  const { url, stored: strategyState } = await provider.strategy.begin(
    { id },
    { loginHint, repeated: forceFresh, lang: r.lang },
  );
  const { popup } = requestTraits(deps.cookies, r.req, `/${continuation.search}`);
  const attempt = { id, provider: provider.id, intent, continuation: continuation.search, remember, strategyState };
  await attempts.begin(r, { ...attempt, ...(popup && { popup }), ...(repeated && { repeated }) });
  return url;
}

import type { Request } from 'express';
import type { FederationAttempt } from './attempts.ts';
import type { UpstreamIdentity } from './identity.ts';

/** The state of a strategy between request and response: verifier, nonce, request id. JSON; sealed in the attempt. */
export type StrategyState = Record<string, unknown>;

/**
 * The protocol-specific part of a provider: its request and response. Each implementation calls `passport.authenticate`
 * with the id of its provider (`providers/passport.ts`); no other module knows Passport.
 */
export interface ProviderStrategy {
  /**
   * The address of the authentication request. `attempt.id` is its `state` (RFC 6749, section 10.12) or RelayState.
   * @param options.again demands a fresh authentication, if the provider supports that
   * @throws {FederationError} unreachable
   */
  begin(
    attempt: Pick<FederationAttempt, 'id'>,
    options: { loginHint?: string | undefined; repeated: boolean; lang: string },
  ): Promise<{ url: string; stored: StrategyState }>;
  /**
   * Reads the response to an open attempt of this browser (SAML: the browser is checked afterwards).
   * @param attempt undefined: unsolicited (SAML's IdP-initiated sign-in, if the provider may)
   * @throws {FederationError}
   */
  finish(req: Request, attempt: FederationAttempt | undefined): Promise<UpstreamIdentity>;
}

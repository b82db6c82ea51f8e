import type { Request } from 'express';
import type { FederationAttempt } from './attempts.ts';
import type { UpstreamIdentity } from './identity.ts';

/** The state of a strategy between request and answer: verifier, nonce, request id. JSON; sealed in the attempt. */
export type StrategyState = Record<string, unknown>;

/**
 * The request to one provider and its answer: everything that is special to a protocol. Each implementation calls
 * `passport.authenticate` with the id of its provider (`providers/passport.ts`); no other module knows Passport.
 */
export interface ProviderStrategy {
  /**
   * Where the browser goes to be asked. `attempt.id` is the request's `state` (RFC 6749, section 10.12) or RelayState.
   * @param options.again the person must show anew who they are, where the provider can be asked for that
   * @throws {FederationRefusal} unreachable
   */
  begin(
    attempt: Pick<FederationAttempt, 'id'>,
    options: { loginHint?: string | undefined; repeated: boolean; lang: string },
  ): Promise<{ url: string; stored: StrategyState }>;
  /**
   * Reads the answer to an attempt that is open, and is this browser's (SAML: is checked afterwards).
   * @param attempt undefined: nobody asked (SAML's IdP-initiated sign-in, where the provider may)
   * @throws {FederationRefusal}
   */
  finish(req: Request, attempt: FederationAttempt | undefined): Promise<UpstreamIdentity>;
}

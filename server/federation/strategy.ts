import type { Request } from 'express';
import type { Attempt } from './attempts.ts';
import type { UpstreamIdentity } from './identity.ts';

/** What a strategy must find again when the answer comes: verifier, nonce, request id. JSON; sealed in the attempt. */
export type Kept = Record<string, unknown>;

/**
 * How one provider is asked and its answer is read: the whole of what is special to a protocol. Behind it stand Passport's
 * strategies; nothing else in the house knows them.
 */
export interface Strategy {
  /**
   * Where the browser goes to be asked. `attempt.id` is the request's `state` (RFC 6749, section 10.12) or RelayState.
   * @param options.again the person must show anew who they are, where the provider can be asked for that
   * @throws {FederationRefusal} unreachable
   */
  begin(
    attempt: Pick<Attempt, 'id'>,
    options: { loginHint?: string | undefined; again: boolean; lang: string },
  ): Promise<{ url: string; kept: Kept }>;
  /**
   * Reads the answer to an attempt that is open, and is this browser's (SAML: is checked afterwards).
   * @param attempt undefined: nobody asked (SAML's IdP-initiated sign-in, where the provider may)
   * @throws {FederationRefusal}
   */
  finish(req: Request, attempt: Attempt | undefined): Promise<UpstreamIdentity>;
}

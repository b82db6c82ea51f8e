import { type Client, errors, type KoaContextWithOIDC } from 'oidc-provider';

/** Tests whether code requests of a client without a PKCE challenge are valid: with a nonce, or without one too. */
export const mayOmitChallenge = (client: Client, nonce: unknown): boolean =>
  client.pkce_optional === true && (client.nonce_optional === true || nonce !== undefined);

/**
 * Code requests need a PKCE challenge. A client for which the operator has waived it sends a nonce in its place (RFC
 * 9700, section 2.1.1). The library checks every challenge that is sent.
 * @throws {errors.InvalidRequest} if such a client sends neither
 */
export function requiresChallenge(ctx: KoaContextWithOIDC, client: Client): boolean {
  if (client.pkce_optional !== true) return true;
  if (mayOmitChallenge(client, ctx.oidc.params?.nonce)) return false;
  throw new errors.InvalidRequest(
    'a request without PKCE needs a nonce: send code_challenge with code_challenge_method=S256, or a nonce',
  );
}

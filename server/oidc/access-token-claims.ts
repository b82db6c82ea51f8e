import type { AccessToken, ClientCredentials, KoaContextWithOIDC } from 'oidc-provider';
import { rejectUnregisteredScopes } from './client-credentials.ts';

/** What a token says of when its member has shown who they are, in seconds, and how (RFC 9470, section 6; RFC 8176). */
interface AuthenticationClaims {
  [name: string]: unknown;
  auth_time?: number;
  acr?: string;
  amr?: string[];
}

/**
 * The library asks this of every access token before it gives it out: here one can still be refused, and a member's is told
 * when and how surely they signed in. A token that was refreshed says when that was, too.
 * @param ctx undefined for tokens that Foyer makes by itself (`session-tokens.ts`): they say it already
 * @throws {errors.InvalidScope}
 */
export function accessTokenClaims(
  ctx: KoaContextWithOIDC | undefined,
  token: AccessToken | ClientCredentials,
): AuthenticationClaims | undefined {
  rejectUnregisteredScopes(token);
  if (token.kind !== 'AccessToken') return undefined;
  const { AuthorizationCode: code, DeviceCode: deviceCode, RefreshToken: refreshToken } = ctx?.oidc.entities ?? {};
  const { authTime, acr, amr } = code ?? deviceCode ?? refreshToken ?? {};
  if (authTime === undefined) return token.extra;
  return { auth_time: authTime, ...(acr !== undefined && { acr }), ...(amr && { amr }) };
}

/** The same in milliseconds; nothing for a token that was given before tokens said it. */
export function toAuthentication({ extra }: Pick<AccessToken, 'extra'>): { amr: string[]; authTimeMs?: number } {
  const { auth_time: seconds, amr = [] } = (extra ?? {}) as AuthenticationClaims;
  return { amr, ...(typeof seconds === 'number' && { authTimeMs: seconds * 1000 }) };
}

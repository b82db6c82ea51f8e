import type { AccessToken, ClientCredentials, KoaContextWithOIDC } from 'oidc-provider';
import { refuseForeignScopes } from './service-tokens.ts';

/** What a token says of how its member has shown who they are, and when, in seconds (RFC 9470, section 6). */
interface Said {
  [name: string]: unknown;
  auth_time?: number;
  acr?: string;
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
): Said | undefined {
  refuseForeignScopes(token);
  if (token.kind !== 'AccessToken') return undefined;
  const { AuthorizationCode: code, RefreshToken: refreshToken } = ctx?.oidc.entities ?? {};
  const { authTime, acr } = code ?? refreshToken ?? {};
  return authTime === undefined ? token.extra : { auth_time: authTime, ...(acr !== undefined && { acr }) };
}

/** In milliseconds; undefined for a token that was given before tokens said it. */
export function authTimeOf({ extra }: Pick<AccessToken, 'extra'>): number | undefined {
  const { auth_time: seconds } = (extra ?? {}) as Said;
  return typeof seconds === 'number' ? seconds * 1000 : undefined;
}

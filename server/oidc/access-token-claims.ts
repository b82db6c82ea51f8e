import { type AccessToken, type ClientCredentials, errors, type KoaContextWithOIDC } from 'oidc-provider';
import { isClientScope } from './scopes.ts';

/**
 * The time (in seconds) and the methods of the user's authentication, as claims of the token (RFC 9470, section 6; RFC
 * 8176).
 */
interface AuthenticationClaims {
  [name: string]: unknown;
  auth_time?: number;
  acr?: string;
  amr?: string[];
}

/**
 * Client credentials give only scopes that the client app is registered for in its own name, never scopes that a user
 * must give. The library compares with the registration only if that has scopes, and cannot distinguish the two kinds.
 * @throws {errors.InvalidScope} also if no scope, or only unknown ones are requested
 */
function rejectUnregisteredScopes(token: AccessToken | ClientCredentials): undefined {
  // Scopes of a resource server have already been compared with its own registration.
  if (token.kind !== 'ClientCredentials' || token.aud !== undefined) return;
  const registered = (token.client?.scope ?? '').split(' ');
  // RFC 6749, section 3.3: without a scope the server fails. A token without scopes would authorize nothing, without an
  // explanation.
  if (token.scopes.size === 0) throw new errors.InvalidScope('name at least one registered scope', '');
  for (const scope of token.scopes) {
    if (!isClientScope(scope) || !registered.includes(scope)) {
      throw new errors.InvalidScope('requested scope is not allowed', scope);
    }
  }
}

/**
 * The library calls this for every access token before it issues it. This is the last place to refuse one, and adds the
 * time and class of the user's authentication. A refreshed token keeps the original time.
 * @param ctx undefined for tokens that Foyer issues itself (`session-tokens.ts`): they already have the claims
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

/** The same in milliseconds; nothing for a token that is older than these claims. */
export function toAuthentication({ extra }: Pick<AccessToken, 'extra'>): { amr: string[]; authTimeMs?: number } {
  const { auth_time: seconds, amr = [] } = (extra ?? {}) as AuthenticationClaims;
  return { amr, ...(typeof seconds === 'number' && { authTimeMs: seconds * 1000 }) };
}

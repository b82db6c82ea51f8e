import { type AccessToken, type Client, type ClientCredentials, errors, type KoaContextWithOIDC } from 'oidc-provider';
import { type Claims, claimsByScope } from '../users/index.ts';
import { consentReason } from './load-existing-grant.ts';
import { isClientScope } from './scopes.ts';
import { isObject } from './step-up.ts';

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
  if (token.kind !== 'ClientCredentials') return;
  // RFC 6749, section 3.3: without a scope the server fails. A token without scopes would authorize nothing, without an
  // explanation.
  if (token.scopes.size === 0) throw new errors.InvalidScope('name at least one registered scope', '');
  // Scopes of a resource server have already been compared with its own registration.
  if (token.aud !== undefined) return;
  const registered = (token.client?.scope ?? '').split(' ');
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

const authenticationClaims: ReadonlySet<string> = new Set(['acr', 'amr', 'auth_time', 'sub']);

/** The claims of a request with the parameter `claims`, as the library stores them. */
interface RequestedClaims {
  id_token: Record<string, unknown>;
  userinfo?: Record<string, null>;
}

/**
 * The claims that a request may name: those of its scopes, or of all the app's scopes if it is registered so and users
 * are not asked.
 */
function namedByScopes(ctx: KoaContextWithOIDC, client: Client): ReadonlySet<string> {
  const ofAll = client.claims_without_scope === true && consentReason(client) === undefined;
  const scopes = ofAll ? client.scope : String(ctx.oidc.params?.scope ?? '');
  return new Set((scopes ?? '').split(' ').flatMap((scope) => claimsByScope[scope] ?? []));
}

/**
 * Keeps of the `claims` parameter the claims about the authentication itself, and those that the app may have anyway
 * (OpenID Connect Core 1.0, section 5.5). The rest is ignored, as are the values of the latter.
 */
export function limitRequestedClaims(
  ctx: KoaContextWithOIDC,
  claims: { id_token?: unknown; userinfo?: unknown },
  client: Client,
): RequestedClaims {
  const named = namedByScopes(ctx, client);
  const requested = (part: unknown) =>
    Object.entries(isObject(part) ? part : {}).filter(([, value]) => value === null || isObject(value));
  const idToken = requested(claims.id_token).flatMap(([name, value]): [string, unknown][] => {
    if (authenticationClaims.has(name)) return [[name, value]];
    return named.has(name) ? [[name, null]] : [];
  });
  const userinfo = requested(claims.userinfo).flatMap(([name]) => (named.has(name) ? [[name, null] as const] : []));
  return {
    id_token: Object.fromEntries(idToken),
    ...(userinfo.length > 0 && { userinfo: Object.fromEntries(userinfo) }),
  };
}

/** Tests whether an id token beside an access token has the claims of the scopes: older apps read nothing else. */
export const hasScopeClaims = (client: { readonly [name: string]: unknown } | undefined): boolean =>
  client?.id_token_claims === true || client?.legacy === true;

/**
 * Tests whether an id token leaves out the claims of the scopes: it comes beside an access token that opens userinfo
 * (OpenID Connect Core 1.0, section 5.4).
 */
function omitsScopeClaims({ oidc }: KoaContextWithOIDC): boolean {
  const { client, entities, route } = oidc;
  const opensUserinfo = route === 'token' && entities.AccessToken?.aud === undefined;
  return opensUserinfo && !hasScopeClaims(client);
}

/** The requested content of an id token or of an answer of userinfo. */
interface ClaimsTarget {
  use: string;
  scope: string;
  /** The names in the `claims` parameter, as {@link limitRequestedClaims} left them. */
  requested: readonly string[];
}

/** The claims of a user in an id token or at userinfo: those of the scopes, and the requested ones. */
export function selectClaims(
  ctx: KoaContextWithOIDC,
  { use, scope, requested }: ClaimsTarget,
  toClaims: (scopes: ReadonlySet<string>) => Claims,
): Claims {
  const scopes = new Set(use === 'id_token' && omitsScopeClaims(ctx) ? [] : scope.split(' '));
  const ofScopes = toClaims(scopes);
  if (requested.length === 0) return ofScopes;
  const all = toClaims(new Set(ctx.oidc.client?.scope?.split(' ')));
  const named = requested.flatMap((name) => (Object.hasOwn(all, name) ? [[name, all[name]] as const] : []));
  return { ...ofScopes, ...Object.fromEntries(named) };
}

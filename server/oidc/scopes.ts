import { errors, type KoaContextWithOIDC } from 'oidc-provider';
import { apiScopes, type MemberApiScope } from '../http/index.ts';
import { isItemIn } from '../shared/index.ts';

/** The scope for a user's record and profile, and its name in client apps that come from Cognito: they are synonyms. */
const accountScopes = ['account', 'aws.cognito.signin.user.admin'] as const;

/**
 * Scopes with which a client app changes credentials, or charges the card. Their tokens never leave a server of the
 * marketplace: a token in a browser or on a device can be stolen there, and a third party could take the account over.
 */
export const sensitiveScopes = ['account:security', 'account:payments'] as const satisfies MemberApiScope[];

const sensitive: ReadonlySet<string> = new Set(sensitiveScopes);

export const isSensitiveScope = (scope: string): boolean => sensitive.has(scope);

/** The scopes of a token, with synonyms replaced. */
export const canonicalScopes = (scopes: Iterable<string>): string[] => [
  ...new Set([...scopes].map((scope) => (isItemIn(accountScopes, scope) ? 'account' : scope))),
];

/** Scopes that a user can give to a client app. */
const memberScopes = [
  'openid',
  'profile',
  'email',
  'phone',
  'address',
  'membership',
  'offline_access',
  ...accountScopes,
  ...sensitiveScopes,
] as const;

/** All scopes of Foyer itself; those of resource servers have other names. */
export const knownScopes = [...memberScopes, ...apiScopes] as const;

const ofMembers: ReadonlySet<string> = new Set(memberScopes);
const ofClients: ReadonlySet<string> = new Set(apiScopes);

/** Tests whether only client apps themselves get it, with client credentials: a user cannot give it. */
export function isClientScope(scope: string): boolean {
  return ofClients.has(scope);
}

/** Tests whether only a user can give it. */
export function isMemberScope(scope: string): boolean {
  return ofMembers.has(scope);
}

/** A client that may request a scope by one of its names may request it by the other. */
export function expandScopes(scopes: readonly string[]): string[] {
  const either = accountScopes.some((scope) => scopes.includes(scope));
  return [...new Set([...scopes, ...(either ? accountScopes : [])])];
}

/**
 * A request must ask for something that can be given (RFC 6749, section 3.3): a scope of Foyer, or of a resource
 * server. The library finds out only after the sign-in, and answers `access_denied`, as if the user had refused. Runs
 * for authorization, pushed and device requests, after the library's own checks of scope and resource.
 * @throws {errors.InvalidScope} if nothing can be given
 */
export function requireGrantableScope(ctx: KoaContextWithOIDC): void {
  const { params, requestParamOIDCScopes, requestParamScopes, resourceServers } = ctx.oidc;
  if (requestParamOIDCScopes.size > 0) return;
  if (requestParamScopes.size > 0 && Object.keys(resourceServers ?? {}).length > 0) return;
  throw new errors.InvalidScope('ask for at least one scope, such as openid', String(params?.scope ?? ''));
}

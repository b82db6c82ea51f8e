import { apiScopes, type MemberApiScope } from '../http/index.ts';

/** The scope that opens a member's record and profile, and its name in client apps that come from Cognito: each stands for both. */
export const accountScopes = ['account', 'aws.cognito.signin.user.admin'] as const;

/**
 * Scopes with which a client app changes credentials, or charges the card. Their tokens never leave a server of the
 * marketplace: a token in a browser or on a device can be stolen there, and a third party could take the account over.
 */
export const sensitiveScopes = ['account:security', 'account:payments'] as const satisfies MemberApiScope[];

const sensitive: ReadonlySet<string> = new Set(sensitiveScopes);

export const isSensitiveScope = (scope: string): boolean => sensitive.has(scope);

/** The scopes of a token, each under one name. */
export const canonicalScopes = (scopes: Iterable<string>): string[] => [
  ...new Set([...scopes].map((scope) => ((accountScopes as readonly string[]).includes(scope) ? 'account' : scope))),
];

/** What a client app may be given by a member. */
export const memberScopes = [
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

/** Everything that Foyer itself opens; what resource servers open has its own names. */
export const knownScopes = [...memberScopes, ...apiScopes] as const;

const ofMembers: ReadonlySet<string> = new Set(memberScopes);
const ofClients: ReadonlySet<string> = new Set(apiScopes);

/** Whether only client apps themselves are given it, by client credentials: no member can hand it on. */
export function isClientScope(scope: string): boolean {
  return ofClients.has(scope);
}

/** Whether only a member can give it. */
export function isMemberScope(scope: string): boolean {
  return ofMembers.has(scope);
}

/** Whoever may ask for the scope by one of its names may ask for it by the other. */
export function expandScopes(scopes: readonly string[]): string[] {
  const either = accountScopes.some((scope) => scopes.includes(scope));
  return [...new Set([...scopes, ...(either ? accountScopes : [])])];
}

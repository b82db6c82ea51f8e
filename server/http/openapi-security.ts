import type { DocumentedCall, SecurityScheme } from '../../views/api-reference/document.ts';
import { type ApiAccess, apiScopes, type MemberApiScope } from './access.ts';

/** Addresses that the security schemes name. */
export interface SecuritySettings {
  /** Name of the session cookie. */
  sessionCookie: string;
  authorizationUrl: string;
  tokenUrl: string;
  /** URL of the discovery document. */
  openIdConnectUrl: string;
}

/** A token with any one of these scopes, sent by either method. Linters look for scopes at `oauth2` alone. */
const byToken = (...scopes: string[]): DocumentedCall['security'] => [
  ...scopes.map((scope) => ({ oauth: [scope] })),
  { openId: [] },
  { dpop: [] },
];

/** Alias of the scope that client apps from Cognito use. */
const aliases: Partial<Record<MemberApiScope, string>> = { account: 'aws.cognito.signin.user.admin' };

/** Any one of them is enough. The first is the one that every generator of clients knows. */
export function toSecurity(access: ApiAccess | 'public'): DocumentedCall['security'] {
  if (access === 'public') return [];
  const { member, client, otherClient } = access;
  return [
    { bearer: [] },
    ...(member === undefined ? [] : [{ session: [] }]),
    ...byToken(...[member ?? [], (member && aliases[member]) ?? [], client ?? [], otherClient ?? []].flat()),
  ];
}

/** The demands of a rule in words: scopes and recent authentication. */
export function describeAccess(access: ApiAccess | 'public'): string {
  if (access === 'public') return 'Open to anyone.';
  const { member, client, otherClient, recent } = access;
  const scopes = [client, otherClient].flatMap((scope) => (scope === undefined ? [] : `\`${scope}\``));
  const callers = [
    ...(member === undefined ? [] : [`a member's session on Foyer's own pages, a member's token with \`${member}\``]),
    ...(client === undefined ? [] : [`a service's own token with ${scopes.join(' or ')}`]),
  ];
  const owner = recent === true ? 'A member' : 'A member with a second factor';
  const rule =
    recent === undefined
      ? ''
      : ` ${owner} must have authenticated within ten minutes, with the second factor if there is one; otherwise 401 with \`max_age\`, and with \`acr_values\` where the second factor is missing (RFC 9470).`;
  return `Open to ${callers.join(', or to ')}.${rule}`;
}

const scopeTexts: Record<(typeof apiScopes)[number], string> = {
  'clients:read': 'Read the list of client apps',
  'users:read': 'Read members',
  'users:write': 'Change members',
  'messages:send': 'Send messages to members',
  'messages:read': 'Read the notifications of members',
  'plans:read': 'Read plans',
  'payments:write': 'Save members’ cards and buy plans with them',
  'visitors:act-for': 'Name the address of the visitor for whom it makes a public call',
};

const memberScopeTexts: Record<MemberApiScope, string> = {
  account: 'Read the member’s record and change their profile',
  'account:security':
    'Change the member’s email address, phone number, password and second factor: for confidential web clients of the marketplace alone',
  'account:payments':
    'Buy and change plans with the member’s saved card: for confidential web clients of the marketplace alone',
};

export function securitySchemes({
  sessionCookie,
  authorizationUrl,
  tokenUrl,
  openIdConnectUrl,
}: SecuritySettings): Record<string, SecurityScheme> {
  const alias = Object.entries(aliases).map(([scope, name]) => [name, `Another name for ${scope}`]);
  const schemes = {
    bearer: {
      type: 'http',
      scheme: 'bearer',
      description: 'An access token in the Authorization header (RFC 6750); with one, cookies are not looked at',
    },
    session: {
      type: 'apiKey',
      in: 'cookie',
      name: sessionCookie,
      description: "The member's own browser, on this site's pages alone",
    },
    oauth: {
      type: 'oauth2',
      description: 'How a client app gets such a token, and the scopes of the calls',
      flows: {
        authorizationCode: {
          authorizationUrl,
          tokenUrl,
          scopes: { ...memberScopeTexts, ...Object.fromEntries(alias) },
        },
        clientCredentials: {
          tokenUrl,
          scopes: Object.fromEntries(apiScopes.map((scope) => [scope, scopeTexts[scope]])),
        },
      },
    },
    client: {
      type: 'http',
      scheme: 'basic',
      description: 'Id and secret of a client app, for the token endpoint alone (RFC 6749, section 2.3.1)',
    },
    openId: {
      type: 'openIdConnect',
      openIdConnectUrl,
      description: 'The same access tokens, with the metadata of the issuer',
    },
    dpop: {
      type: 'http',
      scheme: 'DPoP',
      description: 'An access token that is bound to a key, with a proof in the header DPoP (RFC 9449)',
    },
  };
  return schemes;
}

import type { CryptoKey, JWK } from 'jose';
import type { Person, StandInKind } from './people.ts';
import type { SamlResponseOptions } from './saml/response.ts';

/** The possible faults of a response, in the words of the account chooser; grouped by the endpoint. */
const atReturn = {
  error: 'Says that it has failed',
  'no-code': 'No code',
  'no-state': 'No state',
  'wrong-state': 'Another state',
  'wrong-code': 'Another code',
} as const;
const ways = {
  error: 'Refuses',
  'server-error': 'Answers 502',
  'not-json': 'No JSON',
  empty: 'Nothing in it',
  huge: 'Has no end',
  hangs: 'Never answers',
  drops: 'Ends the connection',
} as const;
type Endpoint = 'token' | 'profile';
/** Each way of not answering, at one endpoint. */
const at = <T extends Endpoint>(endpoint: T) =>
  Object.fromEntries(Object.entries(ways).map(([way, words]) => [`${endpoint}-${way}`, words])) as {
    [way in keyof typeof ways as `${T}-${way}`]: string;
  };
const ofCodes = {
  'When coming back': atReturn,
  'At the token endpoint': at('token'),
  'Where it says who it is': at('profile'),
};
const ofIdTokens = {
  'id-token-missing': 'None',
  'id-token-unsigned': 'Unsigned',
  'id-token-other-key': 'Another key',
  'id-token-wrong-issuer': 'Another issuer',
  'id-token-wrong-audience': 'For another app',
  'id-token-wrong-nonce': 'Another nonce',
  'id-token-expired': 'Expired',
  'other-subject': 'Userinfo of someone else',
  /** RFC 9207: the response names another issuer. */
  'wrong-iss': 'Comes back from another issuer',
} as const;
const ofSaml = {
  'The response': {
    status: 'Says that it has failed',
    'no-assertion': 'No assertion',
    'not-xml': 'No XML',
    'wrong-destination': 'Another destination',
    unsolicited: 'To no request',
    'wrong-request': 'To another request',
    'no-relay-state': 'No RelayState',
  },
  'Its signature': { unsigned: 'None', 'other-key': 'Another key', changed: 'Changed afterwards' },
  'The assertion': {
    'wrong-issuer': 'Another issuer',
    'wrong-audience': 'For another app',
    'wrong-recipient': 'Another recipient',
    expired: 'Expired',
    'not-yet': 'Not valid yet',
    'no-subject': 'No subject',
  },
} as const;

type Keys<T> = T extends unknown ? keyof T : never;
export type Broken =
  | Keys<(typeof ofCodes)[keyof typeof ofCodes]>
  | keyof typeof ofIdTokens
  | Keys<(typeof ofSaml)[keyof typeof ofSaml]>;

/** For each kind: the groups' titles, and their faults with names for programs and for people. */
export const brokenGroups: Record<StandInKind, Record<string, Partial<Record<Broken, string>>>> = {
  google: ofCodes,
  facebook: ofCodes,
  amazon: ofCodes,
  oidc: { ...ofCodes, 'The id token': ofIdTokens },
  saml: ofSaml,
};

export const isBroken = (kind: StandInKind, name: string): name is Broken =>
  Object.values(brokenGroups[kind]).some((group) => Object.hasOwn(group, name));

type Claims = Record<string, unknown>;
/** @param keys the provider's signing key, and its published part */
export type IdTokenChange = (
  claims: Claims,
  keys: { kid: string; privateKey: CryptoKey; publicJwk: JWK },
) => Claims | string | Promise<string>;

/** A provider's response to one request. */
export interface Answer {
  /** Undefined: none, the person cancelled. */
  person?: Person | undefined;
  broken?: Broken | undefined;
  /** OpenID Connect: other claims for the id token, or a whole one instead. */
  idToken?: IdTokenChange | undefined;
  /** SAML: further differences. */
  saml?: SamlResponseOptions | undefined;
}

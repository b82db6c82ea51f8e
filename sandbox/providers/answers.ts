import type { CryptoKey, JWK } from 'jose';
import { byStandardKind } from '../../config/standard-providers.ts';
import type { Person, StandInKind } from './people.ts';
import type { SamlResponseOptions } from './saml/response.ts';

/** The possible faults of a response, in the words of the account chooser; grouped by the endpoint. */
const callbackFaults = {
  error: 'Says that it has failed',
  'no-code': 'No code',
  'no-state': 'No state',
  'wrong-state': 'Another state',
  'wrong-code': 'Another code',
} as const;
const answerFaults = {
  error: 'Refuses',
  'server-error': 'Answers 502',
  'not-json': 'No JSON',
  empty: 'Nothing in it',
  huge: 'Has no end',
  hangs: 'Never answers',
  drops: 'Ends the connection',
} as const;
type Endpoint = 'token' | 'profile';
/** Each fault of an answer, at one endpoint. */
const toEndpointFaults = <T extends Endpoint>(endpoint: T) =>
  Object.fromEntries(Object.entries(answerFaults).map(([fault, label]) => [`${endpoint}-${fault}`, label])) as {
    [fault in keyof typeof answerFaults as `${T}-${fault}`]: string;
  };
const codeFlowFaults = {
  'When coming back': callbackFaults,
  'At the token endpoint': toEndpointFaults('token'),
  'Where it says who it is': toEndpointFaults('profile'),
};
const idTokenFaults = {
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
const samlFaults = {
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
  | Keys<(typeof codeFlowFaults)[keyof typeof codeFlowFaults]>
  | keyof typeof idTokenFaults
  | Keys<(typeof samlFaults)[keyof typeof samlFaults]>;

/** For each kind: the groups' titles, and their faults with names for programs and for people. */
export const brokenGroups: Record<StandInKind, Record<string, Partial<Record<Broken, string>>>> = {
  ...byStandardKind(() => codeFlowFaults),
  oidc: { ...codeFlowFaults, 'The id token': idTokenFaults },
  saml: samlFaults,
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

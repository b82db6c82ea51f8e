import type { Person, StandInKind } from './people.ts';
import type { SamlResponseOptions } from './saml/response.ts';

/** What can be wrong with an answer of each protocol. */
const ofCodes = [
  /** At the browser's return. */
  'error',
  'no-code',
  'no-state',
  'wrong-state',
  'wrong-code',
  /** At the token endpoint: each way of not answering. */
  'token-error',
  'token-server-error',
  'token-not-json',
  'token-empty',
  'token-huge',
  'token-hangs',
  'token-drops',
  /** At the endpoint that tells who it is. */
  'profile-error',
  'profile-server-error',
  'profile-not-json',
  'profile-empty',
  'profile-huge',
  'profile-hangs',
  'profile-drops',
] as const;
const ofIdTokens = [
  'id-token-missing',
  'id-token-unsigned',
  'id-token-other-key',
  'id-token-wrong-issuer',
  'id-token-wrong-audience',
  'id-token-wrong-nonce',
  'id-token-expired',
  'other-subject',
  /** RFC 9207: the answer says that it is from somebody else. */
  'wrong-iss',
] as const;
const ofSaml = [
  'status',
  'no-assertion',
  'not-xml',
  'unsigned',
  'other-key',
  'changed',
  'wrong-audience',
  'wrong-recipient',
  'wrong-destination',
  'wrong-issuer',
  'expired',
  'not-yet',
  'unsolicited',
  'wrong-request',
  'no-relay-state',
  'no-subject',
] as const;

export const brokenAnswers: Record<StandInKind, readonly Broken[]> = {
  google: ofCodes,
  facebook: ofCodes,
  amazon: ofCodes,
  oidc: [...ofCodes, ...ofIdTokens],
  saml: ofSaml,
};
export type Broken = (typeof ofCodes)[number] | (typeof ofIdTokens)[number] | (typeof ofSaml)[number];

/** What a provider says to one request. */
export interface Answer {
  /** Undefined: nobody; the person pressed Cancel. */
  person?: Person | undefined;
  broken?: Broken | undefined;
  /** SAML: what else is to be different. */
  saml?: SamlResponseOptions | undefined;
}

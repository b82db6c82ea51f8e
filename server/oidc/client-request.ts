import type { PublicKeySet } from './client-keys.ts';

/** The words in which an operator registers a client; `client-registration.ts` derives its metadata from them. */
export interface ClientRequest {
  id: string;
  name: string;
  redirectUris: string[];
  logoutUris?: string[];
  logbackUri?: string;
  logo?: string;
  /** Its pages for the consent page. */
  clientUri?: string;
  policyUri?: string;
  tosUri?: string;
  public?: boolean;
  /** It authenticates with a key (`private_key_jwt`): its public keys, or their address. */
  jwks?: PublicKeySet;
  jwksUri?: string;
  native?: boolean;
  /** It also acts for itself, with client credentials (RFC 6749, section 4.4); then redirect addresses are optional. */
  service?: boolean;
  thirdParty?: boolean;
  scopes?: string[];
  resources?: string[];
  responseTypes?: string[];
  idTokenAlg?: string;
  /** Its id tokens have the claims of its scopes in every flow. */
  idTokenClaims?: boolean;
  /** The `claims` parameter also opens claims of registered scopes that the request leaves out. */
  claimsWithoutScope?: boolean;
  legacy?: boolean;
  legacyIdTokenRedirect?: boolean;
  backchannelLogoutUri?: string;
  /** It may request a sign-in on another device (RFC 8628); then redirect addresses are optional. */
  device?: boolean;
  requirePushedRequests?: boolean;
  /** Only signed requests (RFC 9101). */
  requireSignedRequests?: boolean;
  /** It may send request objects without a signature. */
  unsignedRequestObjects?: boolean;
  /** `fapi2`: the FAPI 2.0 Security Profile. */
  profile?: string;
  dpopBound?: boolean;
  /** Its code requests need a nonce or a PKCE challenge, in place of a challenge. */
  pkceOptional?: boolean;
  /** Without a challenge they need no nonce either. */
  nonceOptional?: boolean;
  requiredPlans?: string[];
  requiredEntitlements?: string[];
  hidden?: boolean;
  callsPerMinute?: number;
  /** By the id of the call. */
  callsPerMinuteByCall?: Record<string, number>;
}

/** All faults of a registration together. */
export class InvalidClientRequest extends Error {
  override name = 'InvalidClientRequest';
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.faults = faults;
  }
}

/** A request with its defaults, and with what follows from its parts. */
export interface CompleteRequest extends ClientRequest {
  logoutUris: string[];
  public: boolean;
  native: boolean;
  service: boolean;
  thirdParty: boolean;
  scopes: string[];
  resources: string[];
  responseTypes: string[];
  idTokenAlg: string;
  legacy: boolean;
  legacyIdTokenRedirect: boolean;
  device: boolean;
  requirePushedRequests: boolean;
  dpopBound: boolean;
  /** Users come to it in a browser: it has a redirect address. */
  byBrowser: boolean;
  /** Users sign in to it. */
  signsIn: boolean;
}

const userScopes = ['openid', 'profile', 'email', 'phone'];

const splitScopes = (scopes: readonly string[]): string[] =>
  scopes.flatMap((text) => text.split(/[\s,]+/)).filter(Boolean);

/**
 * Libraries for servers expect RS256 (OpenID Connect Registration 1.0, section 2). Apps that keep no secret get the
 * shorter signature, and the FAPI 2.0 profile forbids RS256.
 */
const defaultAlgorithm = ({ public: open, native, profile }: ClientRequest): string =>
  open || native || profile !== undefined ? 'ES256' : 'RS256';

export function completeRequest(request: ClientRequest): CompleteRequest {
  const {
    native = false,
    service = false,
    device = false,
    thirdParty = false,
    legacyIdTokenRedirect = false,
  } = request;
  const byBrowser = request.redirectUris.length > 0;
  const signsIn = !service || device || byBrowser;
  const { logoutUris = [], resources = [], responseTypes = ['code'] } = request;
  return {
    ...request,
    logoutUris,
    public: request.public ?? false,
    native,
    service,
    thirdParty,
    scopes: splitScopes(request.scopes ?? (signsIn ? userScopes : [])),
    resources,
    responseTypes: byBrowser ? [...new Set([...responseTypes, ...(legacyIdTokenRedirect ? ['id_token'] : [])])] : [],
    idTokenAlg: request.idTokenAlg ?? defaultAlgorithm(request),
    legacy: request.legacy ?? false,
    legacyIdTokenRedirect,
    device,
    requirePushedRequests: request.requirePushedRequests ?? request.profile !== undefined,
    dpopBound: request.dpopBound ?? request.profile !== undefined,
    byBrowser,
    signsIn,
  };
}

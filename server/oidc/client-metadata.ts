import type { ClientId } from '../shared/index.ts';
import type { PublicKeySet } from './client-keys.ts';

type ResponseType = 'code' | 'id_token';
export const isResponseType = (type: string): type is ResponseType => type === 'code' || type === 'id_token';

/**
 * The registration of a client app, in the names of RFC 7591 (OAuth 2.0 Dynamic Client Registration, section 2), OpenID
 * Connect Registration, RP-Initiated Logout and Back-Channel Logout, RFC 9126 (pushed requests), RFC 9449 (DPoP) and
 * RFC 9101 (signed requests), plus Foyer's own: `first_party`, `legacy`, `legacy_id_token_redirect`, `resources`,
 * `required_plans`, `required_entitlements`, `unsigned_request_objects`, `profile`, `hidden`,
 * `pkce_optional`, `nonce_optional`, `id_token_claims` and `claims_without_scope`. Optional properties are present only
 * if they were registered.
 */
export interface ClientMetadata {
  client_id: ClientId;
  client_name: string;
  redirect_uris: string[];
  post_logout_redirect_uris: string[];
  /** The specification's `logback_uri`. */
  initiate_login_uri?: string;
  logo_uri?: string;
  /** Its pages about itself, its use of data and its terms: the consent page links them. */
  client_uri?: string;
  policy_uri?: string;
  tos_uri?: string;
  application_type: 'web' | 'native';
  token_endpoint_auth_method: 'none' | 'client_secret_basic' | 'private_key_jwt';
  /** Public keys of its assertions, for `private_key_jwt` (RFC 7523): one of these two properties. */
  jwks?: PublicKeySet;
  jwks_uri?: string;
  grant_types: string[];
  response_types: ResponseType[];
  /** The scopes that it may request; others are refused (`security.md`, rule 5). */
  scope: string;
  id_token_signed_response_alg: 'ES256' | 'RS256';
  /** Its id tokens have the claims of its scopes also where it gets an access token, with which it could ask userinfo. */
  id_token_claims?: true;
  /** The `claims` parameter also opens claims of registered scopes that the request leaves out. */
  claims_without_scope?: true;
  /** The registered resource servers that it may request. */
  resources?: string[];
  /** The marketplace's own apps need no consent page. */
  first_party: boolean;
  /** Registered for the specification's older short forms. */
  legacy: boolean;
  /** It receives id tokens in the query of its address: `{redirect_uri}/?id_token=…`. */
  legacy_id_token_redirect?: true;
  /** The address for notifications of ended sessions (OpenID Connect Back-Channel Logout 1.0, section 2.2). */
  backchannel_logout_uri?: string;
  /** It identifies sessions by `sid`, so its id tokens have one. */
  backchannel_logout_session_required?: true;
  require_pushed_authorization_requests?: true;
  /** Only signed requests (RFC 9101, section 10.5). */
  require_signed_request_object?: true;
  /** It may send request objects without a signature (OpenID Connect Core 1.0, section 6.1). */
  unsigned_request_objects?: true;
  dpop_bound_access_tokens?: true;
  /** Its code requests may come without a PKCE challenge: then with a nonce (RFC 9700, section 2.1.1). */
  pkce_optional?: true;
  /** Without a challenge they need no nonce either. */
  nonce_optional?: true;
  /** FAPI 2.0 Security Profile: everything else is refused for it. */
  profile?: 'fapi2';
  /** Users need one of these plans, or one of these entitlements; absent: no condition. */
  required_plans?: string[];
  required_entitlements?: string[];
  /** No list shows it to users. */
  hidden?: true;
  /** Its own limit of each JSON call per minute, instead of the default. */
  calls_per_minute?: number;
  /** The same for single calls, by their id; these win. */
  calls_per_minute_by_call?: Record<string, number>;
}

export const extraMetadata = [
  'first_party',
  'legacy',
  'legacy_id_token_redirect',
  'resources',
  'required_plans',
  'required_entitlements',
  'hidden',
  'previous_secret_hash',
  'previous_secret_expires_at',
  'calls_per_minute',
  'calls_per_minute_by_call',
  'pkce_optional',
  'nonce_optional',
  'unsigned_request_objects',
  'profile',
  'id_token_claims',
  'claims_without_scope',
] as const;
export const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';
export const signingAlgorithms = ['ES256', 'RS256'] as const;

/**
 * Tests whether a text can be a client's id. Others are never looked up: PostgreSQL, for example, rejects a zero byte.
 */
export function isClientId(text: string): text is ClientId {
  return /^[A-Za-z0-9._~-]{1,100}$/.test(text);
}

/** Tests whether users sign in to it; otherwise it is not an app of the marketplace. */
export const signsUsersIn = (client: Pick<ClientMetadata, 'redirect_uris' | 'grant_types'>): boolean =>
  client.redirect_uris.length > 0 || client.grant_types.includes(deviceGrant);

/** Tests whether lists show it to users before it has sent them here. */
export const isVisibleToUsers = (client: Pick<ClientMetadata, 'redirect_uris' | 'grant_types' | 'hidden'>): boolean =>
  client.hidden !== true && signsUsersIn(client);

/**
 * Tests whether a registered client may have scopes that change credentials or charge cards: confidential, web,
 * first-party.
 */
export const mayHoldSensitive = (client: {
  application_type?: unknown;
  token_endpoint_auth_method?: unknown;
  first_party?: unknown;
  grant_types?: readonly string[];
}): boolean =>
  client.application_type === 'web' &&
  client.token_endpoint_auth_method !== 'none' &&
  client.first_party === true &&
  client.grant_types?.includes(deviceGrant) === false;

/** The origin of a client app's logo, for the content security policy; empty if there is no such address. */
export function toLogoOrigins(logoUrl: string | undefined): string[] {
  const origin = logoUrl === undefined ? undefined : URL.parse(logoUrl)?.origin;
  return origin === undefined || origin === 'null' ? [] : [origin];
}

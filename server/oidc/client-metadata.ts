import { type ClientId, toClientId } from '../shared/index.ts';
import { hasKeys, keyFaults, type PublicKeySet } from './client-keys.ts';
import { callsPerMinuteFault } from './client-limits.ts';
import { findRedirectUriFault } from './redirect-uri-registration-rules.ts';
import { findIdentifierFault } from './resource-server.ts';
import { isClientScope, isMemberScope, isSensitiveScope, knownScopes } from './scopes.ts';

/**
 * The registration of a client app, in the names of RFC 7591 (OAuth 2.0 Dynamic Client Registration, section 2), OpenID
 * Connect Registration, RP-Initiated Logout and Back-Channel Logout, RFC 9126 (pushed requests) and RFC 9449 (DPoP),
 * plus Foyer's own: `first_party`, `legacy`, `legacy_id_token_redirect`, `resources`, `required_plans`,
 * `required_entitlements` and `hidden`. Optional properties are present only if they were registered.
 */
export interface ClientMetadata {
  client_id: ClientId;
  client_name: string;
  redirect_uris: string[];
  post_logout_redirect_uris: string[];
  /** The specification's `logback_uri`. */
  initiate_login_uri?: string;
  logo_uri?: string;
  application_type: 'web' | 'native';
  token_endpoint_auth_method: 'none' | 'client_secret_basic' | 'private_key_jwt';
  /** Public keys of its assertions, for `private_key_jwt` (RFC 7523): one of these two properties. */
  jwks?: PublicKeySet;
  jwks_uri?: string;
  grant_types: string[];
  response_types: ('code' | 'id_token')[];
  /** The scopes that it may request; others are refused (`security.md`, rule 5). */
  scope: string;
  id_token_signed_response_alg: 'ES256' | 'RS256';
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
  dpop_bound_access_tokens?: true;
  /** Users need one of these plans, or one of these entitlements; absent: no condition. */
  required_plans?: string[];
  required_entitlements?: string[];
  /** No list shows it to users. */
  hidden?: true;
  /** Its own limit of each JSON call per minute, instead of the default. */
  calls_per_minute?: number;
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

export interface ClientRequest {
  id: string;
  name: string;
  redirectUris: string[];
  logoutUris?: string[];
  logbackUri?: string;
  logo?: string;
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
  legacy?: boolean;
  legacyIdTokenRedirect?: boolean;
  backchannelLogoutUri?: string;
  /** It may request a sign-in on another device (RFC 8628); then redirect addresses are optional. */
  device?: boolean;
  requirePushedRequests?: boolean;
  dpopBound?: boolean;
  requiredPlans?: string[];
  requiredEntitlements?: string[];
  hidden?: boolean;
  callsPerMinute?: number;
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

interface ScopeHolder {
  service: boolean;
  signsIn: boolean;
  thirdParty: boolean;
  native: boolean;
  public: boolean;
  device: boolean;
}

/** The reason that a client of this kind must not have a scope that changes credentials or charges cards. */
function sensitiveFault({ thirdParty, native, public: open, device }: ScopeHolder): string | undefined {
  if (thirdParty) return 'a third party runs this client';
  if (native) return 'a native client keeps no secret';
  if (open) return 'a public client keeps no secret';
  return device ? 'a device client keeps no secret' : undefined;
}

function scopeFault(scope: string, client: ScopeHolder): string | undefined {
  if (isSensitiveScope(scope)) {
    const fault = sensitiveFault(client);
    if (fault !== undefined) return `scope ${scope}: ${fault}; only confidential web clients of the marketplace get it`;
  }
  if (isMemberScope(scope))
    return client.signsIn ? undefined : `scope ${scope}: only members give it: write a redirect-uri`;
  if (!isClientScope(scope)) return `scope ${scope}: unknown; known are ${knownScopes.join(', ')}`;
  return client.service ? undefined : `scope ${scope}: is for clients that act for themselves: make it a service`;
}

function toAuthMethod(request: ClientRequest): ClientMetadata['token_endpoint_auth_method'] {
  if (request.public || request.native) return 'none';
  return hasKeys(request) ? 'private_key_jwt' : 'client_secret_basic';
}

/**
 * Checks a registration and derives the remaining properties.
 * @throws {InvalidClientRequest} with every fault
 */
export function clientMetadata(request: ClientRequest, { development }: { development: boolean }): ClientMetadata {
  const faults: string[] = [];
  const native = request.native ?? false;
  if (!isClientId(request.id)) faults.push('id: write 1 to 100 letters, digits, or . _ ~ -');
  if (request.name.trim() === '' || request.name.length > 200)
    faults.push('name: write a name of at most 200 characters');
  const service = request.service ?? false;
  if (service && (native || request.public))
    faults.push('service: a client that keeps no secret cannot act for itself');
  const device = request.device ?? false;
  const byBrowser = request.redirectUris.length > 0;
  /** Users sign in to it. */
  const signsIn = !service || device || byBrowser;
  if (signsIn && !byBrowser && !device) faults.push('redirect-uri: write at least one');
  for (const uri of request.redirectUris) {
    const fault = findRedirectUriFault(uri, native, development);
    if (fault) faults.push(`redirect-uri ${uri}: ${fault}`);
  }
  for (const uri of request.logoutUris ?? []) {
    const fault = findRedirectUriFault(uri, native, development);
    if (fault) faults.push(`logout-uri ${uri}: ${fault}`);
  }
  for (const [name, uri] of [
    ['logback-uri', request.logbackUri],
    ['logo', request.logo],
    ['backchannel-logout-uri', request.backchannelLogoutUri],
    ['jwks-uri', request.jwksUri],
  ] as const) {
    const fault = uri === undefined ? undefined : findRedirectUriFault(uri, false, development);
    if (fault) faults.push(`${name} ${uri}: ${fault}`);
  }
  faults.push(...keyFaults(request));
  const callsFault = callsPerMinuteFault(request.callsPerMinute, service);
  if (callsFault) faults.push(callsFault);
  const resources = request.resources ?? [];
  for (const resource of resources) {
    const fault = findIdentifierFault(resource);
    if (fault) faults.push(`resource ${resource}: ${fault}`);
  }
  const thirdParty = request.thirdParty ?? false;
  const scopes =
    request.scopes?.flatMap((s) => s.split(/[\s,]+/)).filter(Boolean) ??
    (signsIn ? ['openid', 'profile', 'email', 'phone'] : []);
  const holder: ScopeHolder = { service, signsIn, thirdParty, native, public: request.public ?? false, device };
  faults.push(...scopes.flatMap((scope) => scopeFault(scope, holder) ?? []));
  if (signsIn && !scopes.includes('openid')) faults.push('scope: must include openid');
  if (!signsIn && scopes.length === 0 && resources.length === 0) faults.push('scope: write at least one');
  const legacyIdTokenRedirect = request.legacyIdTokenRedirect ?? false;
  if (legacyIdTokenRedirect && !request.redirectUris.some((uri) => uri.endsWith('/')))
    faults.push('redirect-uri: id tokens in the query go to an address that ends with a slash: write one');
  const responseTypes = byBrowser
    ? [...new Set([...(request.responseTypes ?? ['code']), ...(legacyIdTokenRedirect ? ['id_token'] : [])])]
    : [];
  for (const type of responseTypes) {
    if (type !== 'code' && type !== 'id_token') faults.push(`response-type ${type}: write code or id_token`);
  }
  const algorithm = request.idTokenAlg ?? 'ES256';
  if (algorithm !== 'ES256' && algorithm !== 'RS256') faults.push(`id-token-alg ${algorithm}: write ES256 or RS256`);
  if (faults.length > 0) throw new InvalidClientRequest(faults);
  const code = responseTypes.includes('code');
  return {
    client_id: toClientId(request.id),
    client_name: request.name.trim(),
    redirect_uris: request.redirectUris,
    post_logout_redirect_uris: request.logoutUris ?? [],
    ...(request.logbackUri !== undefined && { initiate_login_uri: request.logbackUri }),
    ...(request.logo !== undefined && { logo_uri: request.logo }),
    application_type: native ? 'native' : 'web',
    token_endpoint_auth_method: toAuthMethod(request),
    ...(request.jwks && { jwks: request.jwks }),
    ...(request.jwksUri !== undefined && { jwks_uri: request.jwksUri }),
    grant_types: [
      ...(code ? ['authorization_code', 'refresh_token'] : []),
      ...(responseTypes.includes('id_token') ? ['implicit'] : []),
      ...(device ? [deviceGrant, ...(code ? [] : ['refresh_token'])] : []),
      ...(service ? ['client_credentials'] : []),
    ],
    response_types: responseTypes as ('code' | 'id_token')[],
    scope: scopes.join(' '),
    ...(resources.length > 0 && { resources }),
    id_token_signed_response_alg: algorithm === 'RS256' ? 'RS256' : 'ES256',
    first_party: !thirdParty,
    legacy: (request.legacy ?? false) || legacyIdTokenRedirect,
    ...(legacyIdTokenRedirect && { legacy_id_token_redirect: true }),
    ...(request.backchannelLogoutUri !== undefined && {
      backchannel_logout_uri: request.backchannelLogoutUri,
      backchannel_logout_session_required: true,
    }),
    ...(request.requirePushedRequests && { require_pushed_authorization_requests: true }),
    ...(request.dpopBound && { dpop_bound_access_tokens: true }),
    ...(request.requiredPlans?.length && { required_plans: request.requiredPlans }),
    ...(request.requiredEntitlements?.length && { required_entitlements: request.requiredEntitlements }),
    ...(request.hidden && { hidden: true }),
    ...(request.callsPerMinute !== undefined && { calls_per_minute: request.callsPerMinute }),
  };
}

/**
 * The request of a registration: the inverse of {@link clientMetadata}, so that an update is checked like a
 * registration.
 */
export function toClientRequest(client: ClientMetadata): ClientRequest {
  return {
    id: client.client_id,
    name: client.client_name,
    redirectUris: client.redirect_uris,
    logoutUris: client.post_logout_redirect_uris,
    ...(client.initiate_login_uri !== undefined && { logbackUri: client.initiate_login_uri }),
    ...(client.logo_uri !== undefined && { logo: client.logo_uri }),
    public: client.token_endpoint_auth_method === 'none',
    ...(client.jwks && { jwks: client.jwks }),
    ...(client.jwks_uri !== undefined && { jwksUri: client.jwks_uri }),
    native: client.application_type === 'native',
    service: client.grant_types.includes('client_credentials'),
    thirdParty: !client.first_party,
    scopes: client.scope.split(' ').filter(Boolean),
    resources: client.resources ?? [],
    ...(client.response_types.length > 0 && { responseTypes: client.response_types }),
    idTokenAlg: client.id_token_signed_response_alg,
    legacy: client.legacy,
    legacyIdTokenRedirect: client.legacy_id_token_redirect ?? false,
    ...(client.backchannel_logout_uri !== undefined && { backchannelLogoutUri: client.backchannel_logout_uri }),
    device: client.grant_types.includes(deviceGrant),
    requirePushedRequests: client.require_pushed_authorization_requests ?? false,
    dpopBound: client.dpop_bound_access_tokens ?? false,
    requiredPlans: client.required_plans ?? [],
    requiredEntitlements: client.required_entitlements ?? [],
    hidden: client.hidden ?? false,
    ...(client.calls_per_minute !== undefined && { callsPerMinute: client.calls_per_minute }),
  };
}

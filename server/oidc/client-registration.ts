import { toClientId } from '../shared/index.ts';
import type { Database } from '../store/index.ts';
import { hasKeys } from './client-keys.ts';
import { type ClientMetadata, deviceGrant, isResponseType } from './client-metadata.ts';
import { type ClientRequest, type CompleteRequest, completeRequest, InvalidClientRequest } from './client-request.ts';
import { findRequestFaults } from './client-request-rules.ts';
import { createClientSecret, insertClient } from './client-store.ts';

function toAuthMethod(request: CompleteRequest): ClientMetadata['token_endpoint_auth_method'] {
  if (request.public || request.native) return 'none';
  return hasKeys(request) ? 'private_key_jwt' : 'client_secret_basic';
}

function toGrantTypes({ responseTypes, device, service }: CompleteRequest): string[] {
  const code = responseTypes.includes('code');
  return [
    ...(code ? ['authorization_code', 'refresh_token'] : []),
    ...(responseTypes.includes('id_token') ? ['implicit'] : []),
    ...(device ? [deviceGrant, ...(code ? [] : ['refresh_token'])] : []),
    ...(service ? ['client_credentials'] : []),
  ];
}

/** The properties of {@link toOptionalMetadata} about requests and tokens. */
const toSecurityMetadata = (request: CompleteRequest): Partial<ClientMetadata> => ({
  ...(request.requirePushedRequests && { require_pushed_authorization_requests: true }),
  ...(request.requireSignedRequests && { require_signed_request_object: true }),
  ...(request.unsignedRequestObjects && { unsigned_request_objects: true }),
  ...(request.dpopBound && { dpop_bound_access_tokens: true }),
  ...(request.pkceOptional && { pkce_optional: true }),
  ...(request.nonceOptional && { nonce_optional: true }),
  ...(request.profile !== undefined && { profile: 'fapi2' }),
});

/** The properties that are stored only if they were registered. */
function toOptionalMetadata(request: CompleteRequest): Partial<ClientMetadata> {
  return {
    ...(request.legacyIdTokenRedirect && { legacy_id_token_redirect: true }),
    ...(request.backchannelLogoutUri !== undefined && {
      backchannel_logout_uri: request.backchannelLogoutUri,
      backchannel_logout_session_required: true,
    }),
    ...(request.clientUri !== undefined && { client_uri: request.clientUri }),
    ...(request.policyUri !== undefined && { policy_uri: request.policyUri }),
    ...(request.tosUri !== undefined && { tos_uri: request.tosUri }),
    ...toSecurityMetadata(request),
    ...(request.requiredPlans?.length && { required_plans: request.requiredPlans }),
    ...(request.requiredEntitlements?.length && { required_entitlements: request.requiredEntitlements }),
    ...(request.idTokenClaims && { id_token_claims: true }),
    ...(request.claimsWithoutScope && { claims_without_scope: true }),
    ...(request.hidden && { hidden: true }),
    ...(request.callsPerMinute !== undefined && { calls_per_minute: request.callsPerMinute }),
    ...(request.callsPerMinuteByCall && { calls_per_minute_by_call: request.callsPerMinuteByCall }),
  };
}

/**
 * Checks a registration and derives the remaining properties.
 * @throws {InvalidClientRequest} with every fault
 */
export function clientMetadata(input: ClientRequest, { development }: { development: boolean }): ClientMetadata {
  const request = completeRequest(input);
  const faults = findRequestFaults(request, development);
  if (faults.length > 0) throw new InvalidClientRequest(faults);
  return {
    client_id: toClientId(request.id),
    client_name: request.name.trim(),
    redirect_uris: request.redirectUris,
    post_logout_redirect_uris: request.logoutUris,
    ...(request.logbackUri !== undefined && { initiate_login_uri: request.logbackUri }),
    ...(request.logo !== undefined && { logo_uri: request.logo }),
    application_type: request.native ? 'native' : 'web',
    token_endpoint_auth_method: toAuthMethod(request),
    ...(request.jwks && { jwks: request.jwks }),
    ...(request.jwksUri !== undefined && { jwks_uri: request.jwksUri }),
    grant_types: toGrantTypes(request),
    response_types: request.responseTypes.filter(isResponseType),
    scope: request.scopes.join(' '),
    ...(request.resources.length > 0 && { resources: request.resources }),
    id_token_signed_response_alg: request.idTokenAlg === 'RS256' ? 'RS256' : 'ES256',
    first_party: !request.thirdParty,
    legacy: request.legacy || request.legacyIdTokenRedirect,
    ...toOptionalMetadata(request),
  };
}

/** Its pages for the consent page. */
const toPages = ({ client_uri, policy_uri, tos_uri }: ClientMetadata): Partial<ClientRequest> => ({
  ...(client_uri !== undefined && { clientUri: client_uri }),
  ...(policy_uri !== undefined && { policyUri: policy_uri }),
  ...(tos_uri !== undefined && { tosUri: tos_uri }),
});

/** Its requests and tokens. */
function toSecurityRequest(client: ClientMetadata): Partial<ClientRequest> {
  return {
    // Only what is registered: a profile implies both, and refuses that an update takes one of them away.
    ...(client.require_pushed_authorization_requests && { requirePushedRequests: true }),
    ...(client.dpop_bound_access_tokens && { dpopBound: true }),
    ...(client.profile !== undefined && { profile: client.profile }),
    pkceOptional: client.pkce_optional ?? false,
    nonceOptional: client.nonce_optional ?? false,
    requireSignedRequests: client.require_signed_request_object ?? false,
    unsignedRequestObjects: client.unsigned_request_objects ?? false,
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
    ...toPages(client),
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
    idTokenClaims: client.id_token_claims === true,
    claimsWithoutScope: client.claims_without_scope === true,
    legacy: client.legacy,
    legacyIdTokenRedirect: client.legacy_id_token_redirect ?? false,
    ...(client.backchannel_logout_uri !== undefined && { backchannelLogoutUri: client.backchannel_logout_uri }),
    device: client.grant_types.includes(deviceGrant),
    ...toSecurityRequest(client),
    requiredPlans: client.required_plans ?? [],
    requiredEntitlements: client.required_entitlements ?? [],
    hidden: client.hidden ?? false,
    ...(client.calls_per_minute !== undefined && { callsPerMinute: client.calls_per_minute }),
    ...(client.calls_per_minute_by_call && { callsPerMinuteByCall: client.calls_per_minute_by_call }),
  };
}

/**
 * The marketplace's own web client, which owns the token cookies of users. Created if it is missing; an operator's
 * changes stay. Its secret is discarded, so only this server can redeem what is issued to it.
 */
export async function ensureDefaultClient(
  database: Database,
  { id, name, publicUrl, development }: { id: string; name: string; publicUrl: string; development: boolean },
  nowMs: number,
): Promise<void> {
  // Its id token stands in a cookie, and all three cookies have 4 KB: ES256 is the shorter signature.
  const request = { id, name, redirectUris: [`${publicUrl}/`], idTokenAlg: 'ES256' };
  const client = clientMetadata(request, { development });
  await insertClient(database.db, client, { secret: createClientSecret(), nowMs });
}

import {
  type ClientMetadata,
  canonicalScopes,
  deviceGrant,
  isVisibleToUsers,
  type SecretTimes,
} from '../oidc/index.ts';
import { facts, numericDate, present } from './text.ts';

export const isPublic = (client: ClientMetadata) => client.token_endpoint_auth_method === 'none';
/** Other clients have no secret, or authenticate with a key. */
export const hasSecret = (client: ClientMetadata) => client.token_endpoint_auth_method === 'client_secret_basic';

function pkceExemption(client: ClientMetadata): string | undefined {
  if (!client.pkce_optional) return undefined;
  return client.nonce_optional ? 'no PKCE, no nonce' : 'no PKCE';
}

export const clientKind = (client: ClientMetadata): string =>
  present(
    client.application_type,
    isPublic(client) ? 'public' : 'confidential',
    client.first_party ? 'first-party' : 'third-party',
    client.legacy && 'legacy',
    client.grant_types.includes(deviceGrant) && 'device',
    client.grant_types.includes('client_credentials') && 'service',
    pkceExemption(client),
  ).join(', ');

const clientRequirements = (client: ClientMetadata): string =>
  present(
    client.require_pushed_authorization_requests && 'pushed requests',
    client.require_signed_request_object && 'signed requests',
    client.dpop_bound_access_tokens && 'DPoP',
    client.token_endpoint_auth_method === 'private_key_jwt' && 'assertions signed with its key',
    client.legacy_id_token_redirect && 'id tokens in the query',
  ).join(', ');

/** As RFC 7591, section 3.2.1, answers a registration. */
export function withSecret(client: ClientMetadata, secret: string | null | undefined): object {
  return secret ? { ...client, client_secret: secret, client_secret_expires_at: 0 } : client;
}

/** Times of the secrets in JSON; NumericDates. RFC 7591 has no names for them. */
export function secretTimesJson(times: SecretTimes | undefined): object {
  if (!times) return {};
  const { createdAtMs, previousUntilMs } = times;
  return {
    client_secret_created_at: numericDate(createdAtMs),
    ...(previousUntilMs !== undefined && { previous_secret_expires_at: numericDate(previousUntilMs) }),
  };
}

interface Described {
  secret?: string | null;
  grants?: number;
  /** Undefined: it has no secret, or has just got its first one. */
  times?: SecretTimes | undefined;
}

/** Undefined: the tile is whole. */
function dashboardTile(client: ClientMetadata): string | undefined {
  if (client.hidden) return 'not shown';
  const isWhole = client.initiate_login_uri !== undefined || !isVisibleToUsers(client);
  return isWhole ? undefined : 'a tile without Open: --logback-uri gives it one';
}

export function describeClient(client: ClientMetadata, { secret, grants, times }: Described = {}): string {
  const isoTime = (ms: number) => new Date(ms).toISOString();
  const created = times && `created ${isoTime(times.createdAtMs)}`;
  const keys = client.jwks?.keys.map(({ kid, kty }) => String(kid ?? kty)).join(' ');
  return facts([
    ['Client id', client.client_id],
    ['Client secret', secret ? `${secret}  (shown this once: Foyer keeps only its hash)` : created],
    [
      'Previous secret',
      times?.previousUntilMs !== undefined
        ? `valid until ${isoTime(times.previousUntilMs)}, replaced ${isoTime(times.createdAtMs)}`
        : undefined,
    ],
    ['Keys', client.jwks_uri ?? keys],
    ['Name', client.client_name],
    ['Kind', clientKind(client)],
    ['Redirect URIs', client.redirect_uris],
    ['Logout URIs', client.post_logout_redirect_uris],
    ['Logback URI', client.initiate_login_uri],
    ['Logo', client.logo_uri],
    ['Website', client.client_uri],
    ['Privacy policy', client.policy_uri],
    ['Terms', client.tos_uri],
    ['Scopes', client.scope],
    ['Resources', client.resources],
    ['Response types', client.response_types.join(' ')],
    ['Id tokens', `signed with ${client.id_token_signed_response_alg}: your library must expect it`],
    ['Claims in id tokens', client.id_token_claims ? 'those of its scopes' : undefined],
    ['Told of logouts at', client.backchannel_logout_uri],
    ['Needs', clientRequirements(client)],
    ['Profile', client.profile === 'fapi2' ? 'FAPI 2.0 Security Profile' : undefined],
    ['Request objects', client.unsigned_request_objects ? 'also unsigned' : undefined],
    ['Calls a minute', callLimits(client)],
    ['Dashboard', dashboardTile(client)],
    ['Members need', [...(client.required_plans ?? []), ...(client.required_entitlements ?? [])].join(' or ')],
    ['Grants', grants === undefined ? undefined : `${grants} from members`],
  ]);
}

function callLimits({ calls_per_minute: all, calls_per_minute_by_call: byCall = {} }: ClientMetadata): string {
  const own = Object.entries(byCall).map(([id, calls]) => `${calls} of ${id}`);
  return [...(all === undefined ? [] : [`${all} of each call`]), ...own].join(', ');
}

/** The text with the warnings about an allowed registration. */
export function withWarnings(client: ClientMetadata, text: string): string {
  const readsRecords = !client.first_party && canonicalScopes(client.scope.split(' ')).includes('account');
  return present(
    text,
    readsRecords &&
      'Warning: a third party gets the scope account: it reads the record of each member who consents, and changes their profile.',
    client.nonce_optional &&
      'Warning: requests of this client may come without PKCE and without a nonce. It cannot notice a code that an attacker injects (RFC 9700, section 4.5). Register it so only for a certification.',
    client.legacy &&
      'Warning: a legacy client may send no nonce of its own. It cannot notice an id token that an attacker injects (OpenID Connect Core 1.0, section 3.2.2.11).',
    client.legacy_id_token_redirect &&
      'Warning: id tokens in the query of an address stand in histories and logs. Change the app to the code flow soon.',
  ).join('\n\n');
}

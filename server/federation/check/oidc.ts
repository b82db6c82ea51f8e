import type * as client from 'openid-client';
import type { OidcProviderConfig } from '../../../config/providers.ts';
import { type Discovered, discoverOnce } from '../providers/discovery.ts';
import { fetchLimited } from '../providers/fetch-limited.ts';
import { fromDiscoveryError, fromOidcError } from '../providers/oidc-errors.ts';
import { type CredentialsCheck, checkCredentials } from './oidc-credentials.ts';
import { isObject, parsedJson } from './probe.ts';
import { joinedReports, type ProviderCheckResult } from './report.ts';

/** Checks an OpenID provider's discovery document, its keys, and whether it accepts the credentials. */
export async function checkOidc(check: Omit<CredentialsCheck, 'discovered'>): Promise<ProviderCheckResult> {
  const { config, answerMs } = check;
  let discovered: Discovered;
  try {
    discovered = await discoverOnce(config, { answerMs });
  } catch (error) {
    const { detail } = fromDiscoveryError(error);
    const why = detail.includes('issuer')
      ? 'its discovery document names another issuer'
      : `its discovery document cannot be used (${detail.replace('discovery: ', '')})`;
    return { faults: [why] };
  }
  const claims = discovered.configuration.serverMetadata();
  const document: ProviderCheckResult = {
    faults: [...endpointFaults(claims, config.issuer), ...algorithmFaults(claims), ...pushFaults(claims, config)],
    warnings: capabilities(claims, config),
    unseen: unseenSettings(claims, config),
  };
  if (document.faults?.length !== 0) return document;
  const more = await Promise.all([
    keyFaults(claims.jwks_uri ?? '', answerMs).then((faults) => ({ faults })),
    checkCredentials({ ...check, discovered }),
  ]);
  return joinedReports(document, ...more);
}

/** The asymmetric algorithms of the library. */
const algorithms: ReadonlySet<string> = new Set([
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512'],
  ...['EdDSA', 'Ed25519', 'ML-DSA-44', 'ML-DSA-65', 'ML-DSA-87'],
]);

function algorithmFaults({ id_token_signing_alg_values_supported: known }: client.ServerMetadata): string[] {
  if (known === undefined || known.some((algorithm) => algorithms.has(algorithm))) return [];
  const names = known.join(', ') || 'nothing';
  return [`it signs id tokens with ${names} only (id_token_signing_alg_values_supported), which is not supported`];
}

function pushFaults(claims: client.ServerMetadata, { pushedRequests }: OidcProviderConfig): string[] {
  const demanded = pushedRequests || claims.require_pushed_authorization_requests === true;
  if (!demanded || claims.pushed_authorization_request_endpoint !== undefined) return [];
  return ['its discovery document has no pushed_authorization_request_endpoint, and requests are to be pushed'];
}

/** Settings for this client that the provider can have, and that its document does not name. */
function unseenSettings(claims: client.ServerMetadata, config: OidcProviderConfig): string[] {
  const symmetric = claims.id_token_signing_alg_values_supported?.filter((one) => one.startsWith('HS')) ?? [];
  return [
    ...(symmetric.length > 0
      ? [`that it signs the id tokens of this client with none of ${symmetric.join(', ')}, which are not supported`]
      : []),
    ...(claims.pushed_authorization_request_endpoint !== undefined &&
    !config.pushedRequests &&
    !claims.require_pushed_authorization_requests
      ? ['that it demands no pushed requests of this client, as pushedRequests is not set']
      : []),
    ...(claims.id_token_encryption_alg_values_supported !== undefined && config.decryptionKey === undefined
      ? ['that it does not encrypt the id tokens of this client, as there is no decryptionKey']
      : []),
  ];
}

const needed = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const;

function endpointFaults(claims: client.ServerMetadata, issuer: string): string[] {
  const plain = issuer.startsWith('http://');
  return [...needed, 'userinfo_endpoint' as const].flatMap((name) => {
    const address = claims[name];
    if (address === undefined) return name === 'userinfo_endpoint' ? [] : [`its discovery document has no ${name}`];
    const protocol = URL.parse(address)?.protocol;
    return protocol === 'https:' || (plain && protocol === 'http:') ? [] : [`its ${name} is no https address`];
  });
}

function capabilities(
  claims: client.ServerMetadata & client.ServerMetadataHelpers,
  { scope }: OidcProviderConfig,
): string[] {
  const lacks = (list: readonly string[] | undefined, value: string) => list !== undefined && !list.includes(value);
  const unknown = scope.split(' ').filter((one) => lacks(claims.scopes_supported, one));
  return [
    ...(lacks(claims.response_types_supported, 'code') ? ['it does not name the response type code'] : []),
    ...(claims.supportsPKCE() ? [] : ['it does not say that it knows PKCE (S256)']),
    ...(unknown.length > 0 ? [`it does not name the scope ${unknown.join(' ')}`] : []),
    ...(claims.userinfo_endpoint === undefined ? ['it has no userinfo_endpoint: only id tokens are read'] : []),
  ];
}

async function keyFaults(address: string, answerMs?: number): Promise<string[]> {
  try {
    const { status, text } = await fetchLimited(address, { headers: { Accept: 'application/json' } }, answerMs);
    const keys = parsedJson(text);
    if (status !== 200) return [`its keys (jwks_uri) answer ${status}`];
    const list = isObject(keys) && Array.isArray(keys.keys) ? keys.keys : [];
    return list.length > 0 ? [] : ['its keys (jwks_uri) are none'];
  } catch (error) {
    return [`its keys (jwks_uri) cannot be read (${fromOidcError(error).detail})`];
  }
}

import * as client from 'openid-client';
import type { OidcProviderConfig } from '../../../config/providers.ts';
import { discoverOnce } from '../providers/discovery.ts';
import { fetchLimited } from '../providers/fetch-limited.ts';
import { fromOidcError } from '../providers/oidc-errors.ts';
import { isObject, parsedJson, toProbeUrl } from './probe.ts';
import type { ProviderCheckResult } from './report.ts';

/** Checks an OpenID provider's discovery document, its keys, and whether it accepts the credentials. */
export async function checkOidc(
  config: OidcProviderConfig,
  redirectUri: string,
  answerMs?: number,
): Promise<ProviderCheckResult> {
  let configuration: client.Configuration;
  try {
    configuration = await discoverOnce(config, answerMs);
  } catch (error) {
    const { kind, detail } = fromOidcError(error);
    const why =
      kind === 'invalid' && detail.includes('issuer')
        ? 'its discovery document names another issuer'
        : `its discovery document cannot be used (${detail})`;
    return { faults: [why], warnings: [] };
  }
  const claims = configuration.serverMetadata();
  const [faults, warnings] = [endpointFaults(claims, config.issuer), capabilities(claims, config)];
  if (faults.length > 0) return { faults, warnings };
  const more = await Promise.all([
    keyFaults(claims.jwks_uri ?? '', answerMs),
    credentialFaults(configuration, redirectUri),
  ]);
  return { faults: more.flat(), warnings };
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

/** With an invalid code, a provider that accepts the credentials answers `invalid_grant` (RFC 6749, section 5.2). */
async function credentialFaults(configuration: client.Configuration, redirectUri: string): Promise<string[]> {
  try {
    await client.authorizationCodeGrant(configuration, toProbeUrl(redirectUri, configuration.serverMetadata().issuer), {
      pkceCodeVerifier: client.randomPKCECodeVerifier(),
    });
    return ['it gave a token for a code that it had issued to no one'];
  } catch (error) {
    const { kind, detail } = fromOidcError(error);
    if (kind === 'invalid' && detail.endsWith('invalid_grant')) return [];
    if (/invalid_client|unauthorized_client|credentials/.test(detail))
      return ['it does not take clientId and clientSecret'];
    return [`its token endpoint does not answer as it should (${detail})`];
  }
}

import { createPublicKey } from 'node:crypto';
import { type Findings, hasType, type Json } from './certification-conditions.ts';

const words = (text: string) => text.split(/\s+/).filter(Boolean);

/** Metadata that the suite knows (OpenID Connect Discovery 1.0, section 3; RFC 8414 and its extensions), by type. */
const addresses = words(`
  issuer authorization_endpoint token_endpoint jwks_uri registration_endpoint userinfo_endpoint end_session_endpoint
  check_session_iframe revocation_endpoint introspection_endpoint pushed_authorization_request_endpoint
  device_authorization_endpoint service_documentation op_policy_uri op_tos_uri`);
const lists = words(`
  scopes_supported response_types_supported response_modes_supported grant_types_supported acr_values_supported
  token_endpoint_auth_methods_supported token_endpoint_auth_signing_alg_values_supported ui_locales_supported
  revocation_endpoint_auth_methods_supported introspection_endpoint_auth_methods_supported subject_types_supported
  code_challenge_methods_supported id_token_signing_alg_values_supported userinfo_signing_alg_values_supported
  request_object_signing_alg_values_supported display_values_supported claim_types_supported claims_supported
  claims_locales_supported dpop_signing_alg_values_supported prompt_values_supported
  authorization_signing_alg_values_supported introspection_signing_alg_values_supported`);
const flags = words(`
  claims_parameter_supported request_parameter_supported request_uri_parameter_supported
  require_request_uri_registration frontchannel_logout_supported frontchannel_logout_session_supported
  backchannel_logout_supported backchannel_logout_session_supported require_pushed_authorization_requests
  require_signed_request_object authorization_response_iss_parameter_supported
  tls_client_certificate_bound_access_tokens`);

const isList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length > 0 && value.every((entry) => typeof entry === 'string');
const isHttps = (value: unknown) => typeof value === 'string' && URL.parse(value)?.protocol === 'https:';

function checkTypes(findings: Findings, metadata: Json): void {
  for (const [name, value] of Object.entries(metadata)) {
    const text = `${name} is ${JSON.stringify(value)}`;
    if (addresses.includes(name)) findings.must(typeof value === 'string' && URL.canParse(value), text);
    else if (lists.includes(name)) findings.must(isList(value), text);
    else if (flags.includes(name)) findings.must(typeof value === 'boolean', text);
    else findings.should(false, `${name} is no metadata that the suite knows`);
    if (name.endsWith('_endpoint') || name === 'jwks_uri') findings.must(isHttps(value), text);
  }
}

function checkRequired(findings: Findings, metadata: Json): void {
  for (const name of ['authorization_endpoint', 'token_endpoint', 'jwks_uri']) {
    findings.must(isHttps(metadata[name]), `${name} is ${metadata[name]}`);
  }
  findings.should(metadata.userinfo_endpoint !== undefined, 'userinfo_endpoint is missing');
  findings.should(isList(metadata.claims_supported), 'claims_supported is missing');
  const entries = (name: string) => (isList(metadata[name]) ? metadata[name] : []);
  const subjectTypes = entries('subject_types_supported');
  findings.must(subjectTypes.length > 0, 'subject_types_supported is missing');
  findings.must(
    subjectTypes.every((type) => ['public', 'pairwise'].includes(type)),
    'an unknown type of subjects',
  );
  findings.must(entries('response_types_supported').includes('code'), 'response_types_supported has no code');
  findings.must(entries('id_token_signing_alg_values_supported').includes('RS256'), 'id tokens have no RS256');
  findings.should(entries('request_object_signing_alg_values_supported').includes('RS256'), 'requests have no RS256');
  findings.must(entries('scopes_supported').includes('openid'), 'scopes_supported has no openid');
  const isScope = (scope: string) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope);
  findings.must(entries('scopes_supported').every(isScope), 'scopes_supported has a scope that is none');
  for (const tag of [...entries('ui_locales_supported'), ...entries('claims_locales_supported')]) {
    findings.must(Intl.DateTimeFormat.supportedLocalesOf([tag]).length === 1, `${tag} is no language`);
    findings.should(Intl.getCanonicalLocales(tag)[0] === tag, `${tag} is not in its usual form`);
  }
}

const privateMembers = words('d p q dp dq qi oth k');

function checkKeys(findings: Findings, keys: readonly Json[]): void {
  findings.must(keys.length > 0, 'there is no key');
  const ids = keys.map(({ kid }) => kid);
  findings.must(
    ids.every((kid) => typeof kid === 'string' && kid !== ''),
    'a key has no kid',
  );
  findings.must(new Set(ids).size === ids.length, 'two keys have one kid');
  for (const key of keys) {
    const secret = privateMembers.filter((name) => name in key);
    findings.must(secret.length === 0, `${key.kid} has ${secret.join(' ')}`);
    let isUsable = true;
    try {
      createPublicKey({ key, format: 'jwk' });
    } catch {
      isUsable = false;
    }
    findings.must(isUsable, `${key.kid} is no key`);
  }
}

/** The module `oidcc-discovery-endpoint-verification` of the plan `oidcc-config-certification-test-plan`. */
export function checkDiscovery(
  findings: Findings,
  answer: Response,
  { metadata, keys, issuer }: { metadata: Json; keys: readonly Json[]; issuer: string },
): void {
  findings.must(answer.status === 200, `discovery answers ${answer.status}`);
  findings.must(hasType(answer, 'application/json'), `its type is ${answer.headers.get('content-type')}`);
  findings.must(answer.url === `${issuer}/.well-known/openid-configuration`, `its address is ${answer.url}`);
  findings.must(metadata.issuer === issuer && isHttps(issuer), `issuer is ${metadata.issuer}`);
  const { search, hash } = new URL(String(metadata.issuer));
  findings.must(search === '' && hash === '', 'issuer has a query or a fragment');
  checkTypes(findings, metadata);
  checkRequired(findings, metadata);
  checkKeys(findings, keys);
}

import { isServiceCall } from '../http/index.ts';
import { hasKeys, keyFaults } from './client-keys.ts';
import { isClientId, isResponseType } from './client-metadata.ts';
import type { CompleteRequest } from './client-request.ts';
import { fapi2Faults } from './fapi2-registration.ts';
import { findRedirectUriFault, type RedirectUriKind } from './redirect-uri-registration-rules.ts';
import { findIdentifierFault } from './resource-server.ts';
import { isClientScope, isMemberScope, isSensitiveScope, knownScopes } from './scopes.ts';

/** @returns the faults of one part of a registration, in words for the operator */
type Rule = (request: CompleteRequest, development: boolean) => string[];

const faultIf = (wrong: boolean, fault: string): string[] => (wrong ? [fault] : []);

const idRule: Rule = ({ id }) => faultIf(!isClientId(id), 'id: write 1 to 100 letters, digits, or . _ ~ -');

const nameRule: Rule = ({ name }) =>
  faultIf(name.trim() === '' || name.length > 200, 'name: write a name of at most 200 characters');

const serviceRule: Rule = ({ service, native, public: open }) =>
  faultIf(service && (native || open), 'service: a client that keeps no secret cannot act for itself');

const redirectUriRule: Rule = ({ redirectUris, native, signsIn, byBrowser, device }, development) => [
  ...faultIf(signsIn && !byBrowser && !device, 'redirect-uri: write at least one'),
  ...redirectUris.flatMap((uri) => uriFaults('redirect-uri', uri, { native, development })),
];

const logoutUriRule: Rule = ({ logoutUris, native }, development) =>
  logoutUris.flatMap((uri) => uriFaults('logout-uri', uri, { native, development }));

/** Addresses that are never those of a native app. */
const webUriRule: Rule = (
  { logbackUri, logo, clientUri, policyUri, tosUri, backchannelLogoutUri, jwksUri },
  development,
) =>
  Object.entries({
    'logback-uri': logbackUri,
    logo,
    'client-uri': clientUri,
    'policy-uri': policyUri,
    'tos-uri': tosUri,
    'backchannel-logout-uri': backchannelLogoutUri,
    'jwks-uri': jwksUri,
  }).flatMap(([name, uri]) => (uri === undefined ? [] : uriFaults(name, uri, { native: false, development })));

function uriFaults(name: string, uri: string, kind: RedirectUriKind): string[] {
  const fault = findRedirectUriFault(uri, kind);
  return fault ? [`${name} ${uri}: ${fault}`] : [];
}

const callsPerMinuteRule: Rule = ({ callsPerMinute, callsPerMinuteByCall = {}, service }) => {
  const byCall = Object.entries(callsPerMinuteByCall);
  const unknown = byCall.filter(([id]) => !isServiceCall(id)).map(([id]) => `calls-per-minute: no service calls ${id}`);
  const faults = [callsPerMinute, ...byCall.map(([, calls]) => calls)].flatMap(
    (calls) => callsPerMinuteFault(calls, service) ?? [],
  );
  return [...unknown, ...new Set(faults)];
};

const resourceRule: Rule = ({ resources }) =>
  resources.flatMap((resource) => {
    const fault = findIdentifierFault(resource);
    return fault ? [`resource ${resource}: ${fault}`] : [];
  });

/** The reason that a client of this kind must not have a scope that changes credentials or charges cards. */
function sensitiveFault({ thirdParty, native, public: open, device }: CompleteRequest): string | undefined {
  if (thirdParty) return 'a third party runs this client';
  if (native) return 'a native client keeps no secret';
  if (open) return 'a public client keeps no secret';
  return device ? 'a device client keeps no secret' : undefined;
}

function scopeFault(scope: string, request: CompleteRequest): string | undefined {
  if (isSensitiveScope(scope)) {
    const fault = sensitiveFault(request);
    if (fault !== undefined) return `scope ${scope}: ${fault}; only confidential web clients of the marketplace get it`;
  }
  if (isMemberScope(scope))
    return request.signsIn ? undefined : `scope ${scope}: only members give it: write a redirect-uri`;
  if (!isClientScope(scope)) return `scope ${scope}: unknown; known are ${knownScopes.join(', ')}`;
  return request.service ? undefined : `scope ${scope}: is for clients that act for themselves: make it a service`;
}

const scopeRule: Rule = (request) => {
  const { scopes, resources, signsIn } = request;
  return [
    ...scopes.flatMap((scope) => scopeFault(scope, request) ?? []),
    ...faultIf(signsIn && !scopes.includes('openid'), 'scope: must include openid'),
    ...faultIf(!signsIn && scopes.length === 0 && resources.length === 0, 'scope: write at least one'),
  ];
};

const legacyRedirectRule: Rule = ({ legacyIdTokenRedirect, redirectUris }) =>
  faultIf(
    legacyIdTokenRedirect && !redirectUris.some((uri) => uri.endsWith('/')),
    'redirect-uri: id tokens in the query go to an address that ends with a slash: write one',
  );

const responseTypeRule: Rule = ({ responseTypes }) =>
  responseTypes.flatMap((type) => faultIf(!isResponseType(type), `response-type ${type}: write code or id_token`));

const algorithmRule: Rule = ({ idTokenAlg }) =>
  faultIf(idTokenAlg !== 'ES256' && idTokenAlg !== 'RS256', `id-token-alg ${idTokenAlg}: write ES256 or RS256`);

const pkceRule: Rule = ({ pkceOptional, nonceOptional, public: open, native, device }) => [
  ...faultIf(
    pkceOptional === true && (open || native || device),
    'no-pkce: only a web client with a secret or a key may do without PKCE; this client keeps no secret',
  ),
  ...faultIf(
    nonceOptional === true && pkceOptional !== true,
    'no-nonce: goes together with no-pkce; with PKCE a nonce is never required',
  ),
];

const signedRequestRule: Rule = (request) => [
  ...faultIf(
    request.requireSignedRequests === true && !hasKeys(request),
    'require-signed-request: needs the keys that sign: write --jwks or --jwks-uri',
  ),
  ...faultIf(
    request.requireSignedRequests === true && request.unsignedRequestObjects === true,
    'unsigned-request-objects: and require-signed-request: write one of them',
  ),
];

const claimsRule: Rule = ({ claimsWithoutScope, thirdParty, native }) =>
  faultIf(
    claimsWithoutScope === true && (thirdParty || native),
    'claims-without-scope: the users of this client are asked for the scopes of a request, so its claims follow them',
  );

const rules: readonly Rule[] = [
  idRule,
  nameRule,
  serviceRule,
  redirectUriRule,
  logoutUriRule,
  webUriRule,
  keyFaults,
  callsPerMinuteRule,
  resourceRule,
  scopeRule,
  legacyRedirectRule,
  responseTypeRule,
  algorithmRule,
  pkceRule,
  signedRequestRule,
  fapi2Faults,
  claimsRule,
];

/** @returns all faults of a registration; `development` allows plain http on this machine */
export const findRequestFaults: Rule = (request, development) => rules.flatMap((rule) => rule(request, development));

const maxCallsPerMinute = 100_000;

/** @returns the fault of a client app's own limit of calls, in words for the operator; undefined if there is none */
function callsPerMinuteFault(calls: number | undefined, service: boolean): string | undefined {
  if (calls === undefined) return undefined;
  if (!service) return 'calls-per-minute: is for clients that act for themselves: make it a service';
  const fits = Number.isInteger(calls) && calls >= 1 && calls <= maxCallsPerMinute;
  return fits ? undefined : `calls-per-minute: write a whole number from 1 to ${maxCallsPerMinute}`;
}

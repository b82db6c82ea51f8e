import { readFileSync } from 'node:fs';
import { type ClientRequest, isKeySet, keySetFormat, knownScopes, signingAlgorithms } from '../oidc/index.ts';
import { parseUnknownJson } from '../shared/index.ts';
import { CliError, exitCodes, refused, usageError } from './errors.ts';
import { requireOption } from './require-option.ts';

type TextOption = 'id' | 'name' | 'idTokenAlg' | 'oldSecretFor';
type RemovableOption =
  | ('profile' | 'logbackUri' | 'logo' | 'clientUri' | 'policyUri' | 'tosUri')
  | ('backchannelLogoutUri' | 'jwks' | 'jwksUri');
type ListOption = 'redirectUri' | 'scope' | 'responseType';
type RemovableListOption = 'callsPerMinute' | 'logoutUri' | 'onlyPlan' | 'onlyEntitlement' | 'resource';
type SwitchOption =
  | ('public' | 'native' | 'service' | 'thirdParty' | 'legacy' | 'legacyIdTokenRedirect' | 'device')
  | ('requireSignedRequest' | 'unsignedRequestObjects')
  | ('requirePar' | 'dpop' | 'hidden' | 'newSecret' | 'dropOldSecret' | 'pkce' | 'nonce' | 'certification')
  | ('idTokenClaims' | 'claimsWithoutScope');

/** The options from commander: false for `--no-…`. */
export type ClientOptions = { [K in TextOption]?: string } & { [K in RemovableOption]?: string | false } & {
  [K in ListOption]?: string[];
} & { [K in RemovableListOption]?: string[] | false } & { [K in SwitchOption]?: boolean };

/** Of `add` and `update`. */
export const clientOptions: [flags: string, description: string][] = [
  ['--name <NAME>', 'what members see on the consent and sign-out pages'],
  ['--redirect-uri <URI...>', 'where the browser may be sent back to; compared exactly'],
  ['--logout-uri <URI...>', 'where the browser may be sent after signing out; compared exactly'],
  ['--logback-uri <URI>', 'where a sign-in to the client begins (initiate_login_uri)'],
  ['--logo <URL>', 'its picture'],
  ['--client-uri <URI>', 'its website, linked on the consent page'],
  ['--policy-uri <URI>', 'its privacy policy, linked there'],
  ['--tos-uri <URI>', 'its terms of service, linked there'],
  ['--public', 'it cannot keep a secret (a browser or a device): no client secret, PKCE alone'],
  ['--jwks <FILE>', 'it authenticates with a key (private_key_jwt): a file with its public keys (JWKS)'],
  ['--jwks-uri <URI>', 'the same, with the address of its public keys'],
  ['--native', 'an app on a device: public, loopback and private schemes allowed, members are asked'],
  ['--service', 'it acts for itself too, by client credentials; then it needs no --redirect-uri'],
  ['--third-party', 'a third party runs it: members are asked what it may know'],
  ['--scope <SCOPE...>', `what it may ask for: ${knownScopes.join(', ')} (default: openid profile email phone)`],
  ['--resource <URI...>', 'resource servers that it may ask for, with all their scopes (see `foyer resource`)'],
  ['--response-type <TYPE...>', 'code, id_token, or both (default: code)'],
  [
    '--id-token-alg <ALG>',
    `how its id tokens are signed: ${signingAlgorithms.join(' or ')} (default: RS256; ES256 for a --public or --native client)`,
  ],
  ['--id-token-claims', 'its id tokens have the claims of its scopes too; else only userinfo has them'],
  ['--claims-without-scope', 'its claims parameter also opens claims of scopes that a request leaves out'],
  ['--device', 'it has no browser: members sign in on another device (RFC 8628); needs no --redirect-uri'],
  ['--backchannel-logout-uri <URI>', 'where it is told that a session is over'],
  ['--require-par', 'it pushes its requests first (RFC 9126); others are refused'],
  ['--require-signed-request', 'it signs its requests with its key (RFC 9101); others are refused'],
  ['--unsigned-request-objects', 'its request objects need no signature (OpenID Connect Core, 6.1)'],
  ['--dpop', 'its access tokens are bound to its key (RFC 9449)'],
  ['--profile <PROFILE>', 'fapi2: the FAPI 2.0 Security Profile, with keys, --require-par and --dpop'],
  ['--pkce', 'its code requests need PKCE (the default)'],
  ['--no-pkce', 'they may come without PKCE: then with a nonce; for a library that knows no PKCE'],
  ['--nonce', 'a request without PKCE needs a nonce (the default)'],
  ['--no-nonce', 'with --no-pkce: it needs no nonce either'],
  [
    '--certification',
    "as the OpenID Foundation's suite needs it: --no-pkce, --no-nonce, --claims-without-scope, RS256, all scopes of OpenID Connect",
  ],
  ['--only-plan <ID...>', 'members need one of these plans'],
  ['--only-entitlement <NAME...>', 'members need one of these entitlements'],
  ['--hidden', 'it is not among the apps on members’ dashboards'],
  [
    '--calls-per-minute <N or CALL=N...>',
    'how often a --service may make each call of the JSON API for itself, or this one (listUserWithPoolId=1200)',
  ],
  ['--legacy', "may use the specification's older short forms"],
  ['--legacy-id-token-redirect', 'its id tokens come in the query of its address; implies --legacy'],
];

/** Of `update` alone. */
export const withoutOptions: [flags: string, description: string][] = [
  ['--no-logout-uri', 'forget its logout addresses'],
  ['--no-logback-uri', 'forget its logback address'],
  ['--no-logo', 'forget its logo'],
  ['--no-client-uri', 'forget its website'],
  ['--no-policy-uri', 'forget its privacy policy'],
  ['--no-tos-uri', 'forget its terms of service'],
  ['--no-resource', 'no resource servers'],
  ['--no-public', 'it can keep a secret, and gets one'],
  ['--no-native', 'a web app'],
  ['--no-service', 'it acts for members alone'],
  ['--no-third-party', "the marketplace's own: members are not asked"],
  ['--no-legacy', 'only what OpenID Connect has'],
  ['--no-legacy-id-token-redirect', 'no id tokens in the query'],
  ['--no-id-token-claims', 'only userinfo has the claims of its scopes'],
  ['--no-claims-without-scope', 'its claims parameter opens claims of the scopes of the request alone'],
  ['--no-device', 'no sign-in on another device'],
  ['--no-backchannel-logout-uri', 'it is not told any more'],
  ['--no-require-par', 'it may send its requests by the browser'],
  ['--no-require-signed-request', 'its requests need no signature'],
  ['--no-unsigned-request-objects', 'its request objects need a signature'],
  ['--no-profile', 'no profile; what the profile has set stays until it is changed'],
  ['--no-dpop', 'its access tokens are bearer tokens'],
  ['--no-only-plan', 'members need no plan for it'],
  ['--no-only-entitlement', 'members need no entitlement for it'],
  ['--no-hidden', 'it is among the apps on members’ dashboards'],
  ['--no-calls-per-minute', 'the limit of each call again'],
  ['--no-jwks', 'forget its keys: it gets a secret'],
  ['--no-jwks-uri', 'forget the address of its keys: it gets a secret'],
];

interface SecretOptions {
  newSecret: boolean;
  /** Hours for which the present secret stays valid beside the new one. */
  oldSecretHours: number;
  dropOldSecret: boolean;
}

/** @throws {CliError} if the file cannot be read, or is not a key set */
function readKeySet(file: string): NonNullable<ClientRequest['jwks']> {
  let value: unknown;
  try {
    value = parseUnknownJson(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new CliError(exitCodes.refused, `jwks: ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!isKeySet(value)) throw refused([`jwks: ${keySetFormat}`]);
  return value;
}

const maxOldSecretHours = 24 * 30;

function toSecretOptions(options: ClientOptions): SecretOptions {
  const hours = Number(options.oldSecretFor);
  if (!Number.isInteger(hours) || hours < 0 || hours > maxOldSecretHours) {
    throw usageError(`--old-secret-for: write a whole number from 0 to ${maxOldSecretHours}`);
  }
  const { newSecret = false, dropOldSecret = false } = options;
  return { newSecret, dropOldSecret, oldSecretHours: hours };
}

/** Not a number if it is not numeric: the registration reports it. */
const toCalls = (written: string): number => (written.trim() === '' ? Number.NaN : Number(written));

/** `600` for all calls, `listUserWithPoolId=1200` for one. The values replace all earlier ones; false removes them. */
function toCallLimits(written: string[] | false | undefined) {
  if (written === undefined) return {};
  const values = (written || []).map((one) => one.split('=', 2));
  const all = values.findLast(([, calls]) => calls === undefined)?.[0];
  const byCall = values.flatMap(([id = '', calls]) => (calls === undefined ? [] : [[id, toCalls(calls)] as const]));
  return {
    callsPerMinute: all === undefined ? (false as const) : toCalls(all),
    callsPerMinuteByCall: byCall.length === 0 ? (false as const) : Object.fromEntries(byCall),
  };
}
const toList = (values: string[] | false | undefined) => (values === false ? [] : values);

type Changes = { [K in keyof ClientRequest]?: ClientRequest[K] | undefined };

/**
 * A client of the OpenID Foundation's plans Basic OP, Form Post and RP-Initiated Logout: their requests have no PKCE,
 * one has no nonce, and one names a claim of a scope that it does not name.
 */
const certification: Changes = {
  pkceOptional: true,
  nonceOptional: true,
  claimsWithoutScope: true,
  idTokenAlg: 'RS256',
  scopes: ['openid', 'profile', 'email', 'phone', 'address', 'offline_access'],
};

const opposite = (value: boolean | undefined) => (value === undefined ? undefined : !value);

/** The given options, in the names of a registration. A `--no-…` option deletes a property: its value is undefined. */
function toChanges(options: ClientOptions): Changes {
  const { jwks } = options;
  const settings: Changes = {
    name: options.name,
    redirectUris: options.redirectUri,
    logoutUris: toList(options.logoutUri),
    public: options.public,
    native: options.native,
    service: options.service,
    thirdParty: options.thirdParty,
    legacy: options.legacy,
    legacyIdTokenRedirect: options.legacyIdTokenRedirect,
    device: options.device,
    requirePushedRequests: options.requirePar,
    requireSignedRequests: options.requireSignedRequest,
    unsignedRequestObjects: options.unsignedRequestObjects,
    dpopBound: options.dpop,
    pkceOptional: opposite(options.pkce),
    nonceOptional: opposite(options.nonce),
    requiredPlans: toList(options.onlyPlan),
    requiredEntitlements: toList(options.onlyEntitlement),
    hidden: options.hidden,
    scopes: options.scope,
    resources: toList(options.resource),
    responseTypes: options.responseType?.flatMap((types) => types.split(/[\s,]+/)).filter(Boolean),
    idTokenAlg: options.idTokenAlg,
    idTokenClaims: options.idTokenClaims,
    claimsWithoutScope: options.claimsWithoutScope,
  };
  const removable: { [K in keyof ClientRequest]?: ClientRequest[K] | false | '' | undefined } = {
    logbackUri: options.logbackUri,
    logo: options.logo,
    clientUri: options.clientUri,
    policyUri: options.policyUri,
    tosUri: options.tosUri,
    profile: options.profile,
    backchannelLogoutUri: options.backchannelLogoutUri,
    jwksUri: options.jwksUri,
    jwks: jwks && readKeySet(jwks),
    ...toCallLimits(options.callsPerMinute),
  };
  const isGiven = ([, value]: [string, unknown]) => value !== undefined && value !== '';
  const removed = Object.entries(removable).filter(isGiven);
  return Object.fromEntries([
    ...Object.entries(options.certification ? certification : {}),
    ...Object.entries(settings).filter(([, value]) => value !== undefined),
    ...removed.map(([name, value]) => [name, value === false ? undefined : value] as const),
  ]);
}

/** @throws {CliError} usage: a required option is missing */
export function toNewClient(options: ClientOptions): ClientRequest {
  const required = { id: '--id <ID>', name: '--name <NAME>' };
  if (options.service || options.device) requireOption(options, required);
  else requireOption(options, { ...required, redirectUri: '--redirect-uri <URI...>' });
  const { id, name, redirectUri = [] } = options;
  return { ...toChanges(options), id, name, redirectUris: redirectUri };
}

export interface ClientChange {
  changes: Partial<ClientRequest>;
  secrets: SecretOptions;
}

/** @throws {CliError} usage: no option changes anything */
export function toClientChange(options: ClientOptions): ClientChange {
  const changes = toChanges(options);
  const secrets = toSecretOptions(options);
  if (Object.keys(changes).length === 0 && !secrets.newSecret && !secrets.dropOldSecret) {
    throw usageError('nothing to change: name at least one option (see --help)');
  }
  return { changes, secrets };
}

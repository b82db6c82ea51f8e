import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { type ClientRequest, isKeySet, keySetFormat, knownScopes, signingAlgorithms } from '../oidc/index.ts';
import { parseUnknownJson } from '../shared/index.ts';
import { CliError, exitCodes, refused } from './errors.ts';
import { requireOption } from './require-option.ts';
import type { JsonOption } from './runner.ts';

/** The options from commander: false for `--no-…`. */
export interface ClientOptions extends JsonOption {
  id?: string;
  name?: string;
  redirectUri?: string[];
  logoutUri?: string[] | false;
  logbackUri?: string | false;
  logo?: string | false;
  public?: boolean;
  native?: boolean;
  service?: boolean;
  thirdParty?: boolean;
  legacy?: boolean;
  legacyIdTokenRedirect?: boolean;
  backchannelLogoutUri?: string | false;
  device?: boolean;
  requirePar?: boolean;
  dpop?: boolean;
  onlyPlan?: string[] | false;
  onlyEntitlement?: string[] | false;
  hidden?: boolean;
  callsPerMinute?: string | false;
  scope?: string[];
  resource?: string[] | false;
  responseType?: string[];
  idTokenAlg?: string;
  newSecret?: boolean;
  oldSecretFor?: string;
  dropOldSecret?: boolean;
  jwks?: string | false;
  jwksUri?: string | false;
}

export function withClientOptions(command: Command): Command {
  return command
    .option('--name <NAME>', 'what members see on the consent and sign-out pages')
    .option('--redirect-uri <URI...>', 'where the browser may be sent back to; compared exactly')
    .option('--logout-uri <URI...>', 'where the browser may be sent after signing out; compared exactly')
    .option('--logback-uri <URI>', 'where a sign-in to the client begins (initiate_login_uri)')
    .option('--logo <URL>', 'its picture')
    .option('--public', 'it cannot keep a secret (a browser or a device): no client secret, PKCE alone')
    .option('--jwks <FILE>', 'it authenticates with a key (private_key_jwt): a file with its public keys (JWKS)')
    .option('--jwks-uri <URI>', 'the same, with the address of its public keys')
    .option('--native', 'an app on a device: public, loopback and private schemes allowed, members are asked')
    .option('--service', 'it acts for itself too, by client credentials; then it needs no --redirect-uri')
    .option('--third-party', 'a third party runs it: members are asked what it may know')
    .option(
      '--scope <SCOPE...>',
      `what it may ask for: ${knownScopes.join(', ')} (default: openid profile email phone)`,
    )
    .option('--resource <URI...>', 'resource servers that it may ask for, with all their scopes (see `foyer resource`)')
    .option('--response-type <TYPE...>', 'code, id_token, or both (default: code)')
    .option('--id-token-alg <ALG>', `how its id tokens are signed: ${signingAlgorithms.join(' or ')} (default: ES256)`)
    .option('--device', 'it has no browser: members sign in on another device (RFC 8628); needs no --redirect-uri')
    .option('--backchannel-logout-uri <URI>', 'where it is told that a session is over')
    .option('--require-par', 'it pushes its requests first (RFC 9126); others are refused')
    .option('--dpop', 'its access tokens are bound to its key (RFC 9449)')
    .option('--only-plan <ID...>', 'members need one of these plans')
    .option('--only-entitlement <NAME...>', 'members need one of these entitlements')
    .option('--hidden', 'it is not among the apps on members’ dashboards')
    .option('--calls-per-minute <N>', 'how often a --service may make each call of the JSON API for itself')
    .option('--legacy', "may use the specification's older short forms")
    .option('--legacy-id-token-redirect', 'its id tokens come in the query of its address; implies --legacy');
}

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
    throw new CliError(exitCodes.usage, `error: --old-secret-for: write a whole number from 0 to ${maxOldSecretHours}`);
  }
  const { newSecret = false, dropOldSecret = false } = options;
  return { newSecret, dropOldSecret, oldSecretHours: hours };
}

/** Not a number if it is not numeric: the registration reports it. */
const toCalls = (written: string | false | undefined): number | undefined => {
  if (written === undefined || written === false) return undefined;
  return written.trim() === '' ? Number.NaN : Number(written);
};

/** The given options, in the names of a registration; others are omitted. */
function toRequest(options: ClientOptions): Partial<ClientRequest> {
  const args: { [K in keyof ClientRequest]?: ClientRequest[K] | undefined } = {
    name: options.name,
    redirectUris: options.redirectUri,
    logoutUris: options.logoutUri === false ? [] : options.logoutUri,
    public: options.public,
    native: options.native,
    service: options.service,
    thirdParty: options.thirdParty,
    legacy: options.legacy,
    legacyIdTokenRedirect: options.legacyIdTokenRedirect,
    backchannelLogoutUri: options.backchannelLogoutUri || undefined,
    device: options.device,
    requirePushedRequests: options.requirePar,
    dpopBound: options.dpop,
    requiredPlans: options.onlyPlan === false ? [] : options.onlyPlan,
    requiredEntitlements: options.onlyEntitlement === false ? [] : options.onlyEntitlement,
    hidden: options.hidden,
    callsPerMinute: toCalls(options.callsPerMinute),
    scopes: options.scope,
    resources: options.resource === false ? [] : options.resource,
    responseTypes: options.responseType?.flatMap((types) => types.split(/[\s,]+/)).filter(Boolean),
    idTokenAlg: options.idTokenAlg,
    logbackUri: options.logbackUri || undefined,
    logo: options.logo || undefined,
    jwks: options.jwks ? readKeySet(options.jwks) : undefined,
    jwksUri: options.jwksUri || undefined,
  };
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined));
}

/** A `--no-…` option deletes a property: its value is undefined. */
function toChanges(options: ClientOptions): { [K in keyof ClientRequest]?: ClientRequest[K] | undefined } {
  const { logbackUri, logo, backchannelLogoutUri, callsPerMinute } = options;
  return {
    ...toRequest(options),
    ...(logbackUri === false && { logbackUri: undefined }),
    ...(logo === false && { logo: undefined }),
    ...(backchannelLogoutUri === false && { backchannelLogoutUri: undefined }),
    ...(options.jwks === false && { jwks: undefined }),
    ...(options.jwksUri === false && { jwksUri: undefined }),
    ...(callsPerMinute === false && { callsPerMinute: undefined }),
  };
}

/** @throws {CliError} usage: a required option is missing */
export function toNewClient(options: ClientOptions): ClientRequest {
  const required = { id: '--id <ID>', name: '--name <NAME>' };
  if (options.service || options.device) requireOption(options, required);
  else requireOption(options, { ...required, redirectUri: '--redirect-uri <URI...>' });
  const { id, name, redirectUri = [] } = options;
  return { ...toRequest(options), id, name, redirectUris: redirectUri };
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
    throw new CliError(exitCodes.usage, 'error: nothing to change: name at least one option (see --help)');
  }
  return { changes, secrets };
}

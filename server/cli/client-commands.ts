import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { type ClientRequest, isKeySet, keySetFormat, knownScopes, signingAlgorithms } from '../oidc/index.ts';
import { parseUnknownJson, toClientId } from '../shared/index.ts';
import { addClient, changeClient, removeClient, type SecretOptions, showClient, showClients } from './clients.ts';
import { CliError, exitCodes, refused } from './errors.ts';
import { requireOption } from './require-option.ts';
import type { JsonOption, Runner } from './runner.ts';

/** The options from commander: false for `--no-…`. */
interface ClientOptions extends JsonOption {
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
function toClientRequest(options: ClientOptions): Partial<ClientRequest> {
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

const jsonHelp = 'print JSON, in the names of RFC 7591';

function withClientOptions(command: Command): Command {
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

/** A `--no-…` option deletes a property: its value is undefined. */
function toChanges(options: ClientOptions): { [K in keyof ClientRequest]?: ClientRequest[K] | undefined } {
  const { logbackUri, logo, backchannelLogoutUri, callsPerMinute } = options;
  return {
    ...toClientRequest(options),
    ...(logbackUri === false && { logbackUri: undefined }),
    ...(logo === false && { logo: undefined }),
    ...(backchannelLogoutUri === false && { backchannelLogoutUri: undefined }),
    ...(options.jwks === false && { jwks: undefined }),
    ...(options.jwksUri === false && { jwksUri: undefined }),
    ...(callsPerMinute === false && { callsPerMinute: undefined }),
  };
}

function addCommand(clients: Command, runner: Runner): void {
  withClientOptions(clients.command('add').description('register a client app').option('--id <ID>', 'its client_id'))
    .option('--json', jsonHelp)
    .addHelpText(
      'after',
      `
Needed are --id, --name and --redirect-uri (a --service or a --device may do without the last). A client that can keep a secret gets one; it is shown this once.

Examples:
  foyer client add --id shop --name Shop --redirect-uri https://shop.example.com/callback \\
      --logout-uri https://shop.example.com/
  foyer client add --id spa --name 'Web app' --public --redirect-uri https://app.example.com/callback
  foyer client add --id phone --name 'Phone app' --native --redirect-uri com.example.app:/callback
  foyer client add --id billing --name Billing --service --scope users:read plans:read
  foyer client add --id partner --name Partner --third-party --scope openid email \\
      --redirect-uri https://partner.example.net/callback --json`,
    )
    .action((options: ClientOptions) => {
      const needed = { id: '--id <ID>', name: '--name <NAME>' };
      if (options.service || options.device) requireOption(options, needed);
      else requireOption(options, { ...needed, redirectUri: '--redirect-uri <URI...>' });
      const { id, name, redirectUri = [] } = options;
      const request = { ...toClientRequest(options), id, name, redirectUris: redirectUri };
      return runner.runOnStores(options, (context) => addClient(context, request));
    });
}

function showCommands(clients: Command, runner: Runner): void {
  clients
    .command('list')
    .description('all client apps')
    .option('--json', jsonHelp)
    .addHelpText('after', '\nExample:\n  foyer client list')
    .action((options: ClientOptions) => runner.runOnStores(options, showClients));

  clients
    .command('show')
    .description('one client app, without its secret: that is stored hashed')
    .argument('<id>', 'its client_id')
    .option('--json', jsonHelp)
    .addHelpText('after', '\nExample:\n  foyer client show shop --json')
    .action((id: string, options: ClientOptions) =>
      runner.runOnStores(options, (context) => showClient(context, toClientId(id))),
    );
}

function updateCommand(clients: Command, runner: Runner): void {
  withClientOptions(clients.command('update').description('change a client app').argument('<id>', 'its client_id'))
    .option('--no-logout-uri', 'forget its logout addresses')
    .option('--no-logback-uri', 'forget its logback address')
    .option('--no-logo', 'forget its logo')
    .option('--no-resource', 'no resource servers')
    .option('--no-public', 'it can keep a secret, and gets one')
    .option('--no-native', 'a web app')
    .option('--no-service', 'it acts for members alone')
    .option('--no-third-party', "the marketplace's own: members are not asked")
    .option('--no-legacy', 'only what OpenID Connect has')
    .option('--no-legacy-id-token-redirect', 'no id tokens in the query')
    .option('--no-device', 'no sign-in on another device')
    .option('--no-backchannel-logout-uri', 'it is not told any more')
    .option('--no-require-par', 'it may send its requests by the browser')
    .option('--no-dpop', 'its access tokens are bearer tokens')
    .option('--no-only-plan', 'members need no plan for it')
    .option('--no-only-entitlement', 'members need no entitlement for it')
    .option('--no-hidden', 'it is among the apps on members’ dashboards')
    .option('--no-calls-per-minute', 'the limit of each call again')
    .option('--no-jwks', 'forget its keys: it gets a secret')
    .option('--no-jwks-uri', 'forget the address of its keys: it gets a secret')
    .option('--new-secret', 'give it a new secret, shown this once')
    .option(
      '--old-secret-for <HOURS>',
      'how long the old secret stays valid beside a new one; 0 for a secret that leaked',
      '24',
    )
    .option('--drop-old-secret', 'the secret before the newest one ends now')
    .option('--json', jsonHelp)
    .addHelpText(
      'after',
      `
What is not named stays as it is; a list replaces the whole list. When a change takes something away (a scope, or that
members were not asked) what the client had been given ends: its members come back through Foyer.

Examples:
  foyer client update shop --redirect-uri https://shop.example.com/callback https://shop.example.com/callback2
  foyer client update shop --new-secret
  foyer client update shop --new-secret --old-secret-for 0`,
    )
    .action((id: string, options: ClientOptions) => {
      const changes = toChanges(options);
      const secrets = toSecretOptions(options);
      if (Object.keys(changes).length === 0 && !secrets.newSecret && !secrets.dropOldSecret) {
        throw new CliError(exitCodes.usage, 'error: nothing to change: name at least one option (see --help)');
      }
      return runner.runOnStores(options, (context) => changeClient(context, toClientId(id), { changes, secrets }));
    });
}

function removeCommand(clients: Command, runner: Runner): void {
  clients
    .command('remove')
    .description('remove a client app and end everything that it was given')
    .argument('<id>', 'its client_id')
    .option('--json', 'print JSON: {"client_id", "removed", "ended": {"grants"}}')
    .addHelpText(
      'after',
      '\nIts codes, access tokens and refresh tokens stop working at once.\n\nExample:\n  foyer client remove shop',
    )
    .action((id: string, options: ClientOptions) =>
      runner.runOnStores(options, (context) => removeClient(context, toClientId(id))),
    );
}

export function clientCommands(program: Command, runner: Runner): void {
  const clients = program.command('client').description('client apps that sign their members in through Foyer');
  addCommand(clients, runner);
  showCommands(clients, runner);
  updateCommand(clients, runner);
  removeCommand(clients, runner);
}

import {
  type ClientMetadata,
  type ClientRequest,
  clientMetadata,
  createClientSecret,
  deleteClient,
  findClient,
  findResourceServer,
  findSecretTimes,
  grantsToNobody,
  insertClient,
  isRestricted,
  listClients,
  toClientRequest,
  updateClient,
} from '../oidc/index.ts';
import { type ClientId, hourMs, toClientId } from '../shared/index.ts';
import {
  type ClientChange,
  type ClientOptions,
  clientOptions,
  toClientChange,
  toNewClient,
  withoutOptions,
} from './client-options.ts';
import {
  clientKind,
  describeClient,
  hasSecret,
  isPublic,
  secretTimesJson,
  withSecret,
  withWarnings,
} from './client-report.ts';
import type { CommandSpec, Program } from './command.ts';
import type { Context } from './context.ts';
import { CliError, exitCodes, refused } from './errors.ts';
import { onOffer } from './grantable-access.ts';
import type { Result } from './io.ts';
import { counted, present, table } from './text.ts';

const noClient = (id: string) => new CliError(exitCodes.notFound, `There is no client ${id}.`);
const development = ({ config }: Context) => ({ development: !config.production });

type Db = Parameters<typeof findResourceServer>[0];

/** A client with an unknown resource server would get no access, without an explanation. */
async function unknownResources(db: Db, client: ClientMetadata): Promise<string[]> {
  const faults: string[] = [];
  for (const resource of client.resources ?? []) {
    if (!(await findResourceServer(db, resource))) {
      faults.push(`resource ${resource}: is not registered; add it with \`foyer resource add\``);
    }
  }
  return faults;
}

/** A misspelt plan would lock all users out, without an explanation. @throws {PlansFileError} */
function unknownPlans({ catalogue }: Context, client: ClientMetadata): string[] {
  if (!isRestricted(client)) return [];
  const offer = onOffer(catalogue());
  const { plans, entitlements } = grantsToNobody(client, offer);
  const fault = (option: string, known: readonly string[]) => (one: string) =>
    `${option} ${one}: PLANS_FILE has none; known are ${known.join(', ')}`;
  return [
    ...plans.map(fault('only-plan', offer.plans)),
    ...entitlements.map(fault('only-entitlement', offer.entitlements)),
  ];
}

function refuseAny(faults: readonly string[]): void {
  if (faults.length > 0) throw refused([...faults]);
}

/** @throws {InvalidClientRequest} with every fault; {CliError} for unknown references, or if its id exists */
async function addClient(context: Context, request: ClientRequest): Promise<Result> {
  const client = clientMetadata(request, development(context));
  refuseAny([...(await unknownResources(context.database.db, client)), ...unknownPlans(context, client)]);
  const secret = hasSecret(client) ? createClientSecret() : null;
  if (!(await insertClient(context.database.db, client, { secret, nowMs: context.now() }))) {
    throw refused([`id ${client.client_id}: is taken; change that client with \`foyer client update\``]);
  }
  const text = `Client ${client.client_id} is added and can ${client.redirect_uris.length > 0 ? 'sign members in' : 'ask for tokens'} now.\n\n${describeClient(client, { secret })}`;
  return { json: withSecret(client, secret), text: withWarnings(client, text) };
}

async function showClients({ database }: Context): Promise<Result> {
  const clients = await listClients(database.db);
  const rows = clients.map((client) => {
    const [first = '', ...more] = client.redirect_uris;
    const addresses = more.length === 0 ? first : `${first} and ${more.length} more`;
    return [client.client_id, client.client_name, clientKind(client), addresses];
  });
  return { json: clients, text: table(['id', 'name', 'kind', 'redirect uri'], rows, 'No clients yet.') };
}

async function showClient({ database, grants, now }: Context, id: ClientId): Promise<Result> {
  const client = await findClient(database.db, id);
  if (!client) throw noClient(id);
  const times = await findSecretTimes(database.db, id, now());
  const text = describeClient(client, { grants: await grants.count({ clientId: id }), times });
  return { json: { ...client, ...secretTimesJson(times) }, text };
}

/** Tests whether earlier grants exceed the new registration. */
function isNarrowed(before: ClientMetadata, after: ClientMetadata): boolean {
  const allowed = new Set(after.scope.split(' '));
  const requestedAddresses = (client: ClientMetadata) => !client.first_party || client.application_type === 'native';
  const lost = (before.resources ?? []).some((resource) => !after.resources?.includes(resource));
  return (
    lost ||
    before.scope.split(' ').some((scope) => !allowed.has(scope)) ||
    (requestedAddresses(after) && !requestedAddresses(before))
  );
}

/** A new secret, null for none, undefined to keep the present one. */
function secretAfter(before: ClientMetadata, after: ClientMetadata, expected: boolean): string | null | undefined {
  if (!hasSecret(after)) {
    if (expected)
      throw refused([`new-secret: a client ${isPublic(after) ? 'that is public' : 'with keys'} has no secret`]);
    return null;
  }
  return expected || !hasSecret(before) ? createClientSecret() : undefined;
}

/** Changes the given properties and checks the whole registration again. */
async function changeClient(context: Context, id: ClientId, { changes, secrets }: ClientChange): Promise<Result> {
  const { database, grants, now } = context;
  const { client, secret, times, isOverlap, narrowed } = await database.transaction(async (trx) => {
    const before = await findClient(trx, id);
    if (!before) throw noClient(id);
    const after = clientMetadata({ ...toClientRequest(before), ...changes }, development(context));
    refuseAny([
      ...(changes.resources ? await unknownResources(trx, after) : []),
      ...(changes.requiredPlans || changes.requiredEntitlements ? unknownPlans(context, after) : []),
    ]);
    const newSecret = secretAfter(before, after, secrets.newSecret);
    const stays = secrets.newSecret && hasSecret(before) && secrets.oldSecretHours > 0;
    const previousUntilMs = stays ? now() + secrets.oldSecretHours * hourMs : undefined;
    const change = { secret: newSecret, previousUntilMs, dropPrevious: secrets.dropOldSecret };
    await updateClient(trx, after, { ...change, nowMs: now() });
    const times = await findSecretTimes(trx, id, now());
    return { client: after, secret: newSecret, times, isOverlap: stays, narrowed: isNarrowed(before, after) };
  });
  const ended = narrowed ? await grants.count({ clientId: id }) : 0;
  if (narrowed) await grants.revokeOfClient(id);
  const lines = present(
    `Client ${id} is changed.`,
    !!secret && !isOverlap && 'Its old secret, if it had one, is void from now on.',
    isOverlap &&
      times?.previousUntilMs !== undefined &&
      `Its old secret stays valid until ${new Date(times.previousUntilMs).toISOString()}; --drop-old-secret ends it.`,
    secrets.dropOldSecret && 'Only its newest secret is valid now.',
    narrowed && `It may do less than before, so what it had been given has ended: ${counted(ended, 'grant')}.`,
  );
  const text = `${lines.join('\n')}\n\n${describeClient(client, { secret: secret ?? null, times })}`;
  return { json: { ...withSecret(client, secret), ...secretTimesJson(times) }, text: withWarnings(client, text) };
}

/** Removes a client with all its access to users' data; it is notified that all its sessions have ended. */
async function removeClient({ database, grants }: Context, id: ClientId): Promise<Result> {
  const ended = await grants.count({ clientId: id });
  const removed = await database.transaction(async (trx) => {
    // While the registration still has the address for notifications.
    await grants.endOfClient(trx, id);
    return deleteClient(trx, id);
  });
  // Grants that were made meanwhile, or left by an interrupted attempt of an older Foyer.
  await grants.revokeOfClient(id);
  if (!removed && ended === 0) throw noClient(id);
  return {
    json: { client_id: id, removed: true, ended: { grants: ended } },
    text: `Client ${id} is removed. ${counted(ended, 'grant')} ended, with all codes and tokens that hung on ${ended === 1 ? 'it' : 'them'}.`,
  };
}

const json = 'print JSON, in the names of RFC 7591';
const args: [string, string][] = [['<id>', 'its client_id']];

const addCommand: CommandSpec = {
  description: 'register a client app',
  options: [['--id <ID>', 'its client_id'], ...clientOptions],
  json,
  help: `
Needed are --id, --name and --redirect-uri (a --service or a --device may do without the last). A client that can keep a secret gets one; it is shown this once.

Examples:
  foyer client add --id shop --name Shop --redirect-uri https://shop.example.com/callback \\
      --logout-uri https://shop.example.com/
  foyer client add --id spa --name 'Web app' --public --redirect-uri https://app.example.com/callback
  foyer client add --id phone --name 'Phone app' --native --redirect-uri com.example.app:/callback
  foyer client add --id billing --name Billing --service --scope users:read plans:read
  foyer client add --id partner --name Partner --third-party --scope openid email \\
      --redirect-uri https://partner.example.net/callback --json`,
  run: (options: ClientOptions) => {
    const request = toNewClient(options);
    return (context) => addClient(context, request);
  },
};

const updateCommand: CommandSpec = {
  description: 'change a client app',
  args,
  options: [
    ...clientOptions,
    ...withoutOptions,
    ['--new-secret', 'give it a new secret, shown this once'],
    [
      '--old-secret-for <HOURS>',
      'how long the old secret stays valid beside a new one; 0 for a secret that leaked',
      '24',
    ],
    ['--drop-old-secret', 'the secret before the newest one ends now'],
  ],
  json,
  help: `
What is not named stays as it is; a list replaces the whole list. When a change takes something away (a scope, or that
members were not asked) what the client had been given ends: its members come back through Foyer.

Examples:
  foyer client update shop --redirect-uri https://shop.example.com/callback https://shop.example.com/callback2
  foyer client update shop --new-secret
  foyer client update shop --new-secret --old-secret-for 0`,
  run: (id: string, options: ClientOptions) => {
    const change = toClientChange(options);
    return (context) => changeClient(context, toClientId(id), change);
  },
};

export function clientCommands({ group }: Program): void {
  const add = group('client', 'client apps that sign their members in through Foyer');
  add('add', addCommand);
  add('list', {
    description: 'all client apps',
    json,
    help: '\nExample:\n  foyer client list',
    run: () => showClients,
  });
  add('show', {
    description: 'one client app, without its secret: that is stored hashed',
    args,
    json,
    help: '\nExample:\n  foyer client show shop --json',
    run: (id: string) => (context) => showClient(context, toClientId(id)),
  });
  add('update', updateCommand);
  add('remove', {
    description: 'remove a client app and end everything that it was given',
    args,
    json: 'print JSON: {"client_id", "removed", "ended": {"grants"}}',
    help: '\nIts codes, access tokens and refresh tokens stop working at once.\n\nExample:\n  foyer client remove shop',
    run: (id: string) => (context) => removeClient(context, toClientId(id)),
  });
}

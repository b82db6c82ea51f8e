import { Option } from 'commander';
import {
  deleteResourceServer,
  insertResourceServer,
  listClients,
  listResourceServers,
  type ResourceServer,
  resourceServerFaults,
  signingAlgorithms,
} from '../oidc/index.ts';
import type { Program } from './command.ts';
import type { Context } from './context.ts';
import { CliError, exitCodes, refused } from './errors.ts';
import type { Result } from './io.ts';
import { table } from './text.ts';

interface Options {
  scope: string[];
  alg: ResourceServer['alg'];
}

/**
 * Registers a resource server; client apps may request it once their registration names it. @throws {CliError} with
 * every fault
 */
async function addResource(context: Context, identifier: string, { scope, alg }: Options): Promise<Result> {
  const scopes = [...new Set(scope.flatMap((text) => text.split(/[\s,]+/)).filter(Boolean))];
  const server = { identifier, scopes, alg };
  const faults = resourceServerFaults(server);
  if (faults.length > 0) throw refused(faults);
  if (!(await insertResourceServer(context.database.db, server, context.now()))) {
    throw refused([`${identifier}: is there already; remove it first`]);
  }
  const text = `Resource server ${identifier} is added.\nA client asks for it once \`foyer client update ID --resource ${identifier}\` says that it may.`;
  return { json: server, text };
}

async function showResources({ database }: Context): Promise<Result> {
  const servers = await listResourceServers(database.db);
  const rows = servers.map(({ identifier, scopes, alg }) => [identifier, scopes.join(' '), alg]);
  return { json: servers, text: table(['identifier', 'scopes', 'signed with'], rows, 'No resource servers yet.') };
}

async function removeResource({ database }: Context, identifier: string): Promise<Result> {
  if (!(await deleteResourceServer(database.db, identifier))) {
    throw new CliError(exitCodes.notFound, `There is no resource server ${identifier}.`);
  }
  const clients = (await listClients(database.db)).filter(({ resources = [] }) => resources.includes(identifier));
  const named = clients.map(({ client_id }) => client_id);
  const lines = [
    `Resource server ${identifier} is removed: no more tokens are given for it. Those that were given end by themselves within 5 minutes.`,
    ...(named.length > 0 ? [`These clients still name it: ${named.join(', ')}.`] : []),
  ];
  return { json: { identifier, removed: true, clients: named }, text: lines.join('\n') };
}

export function resourceCommands({ group }: Program): void {
  const add = group('resource', 'APIs of the marketplace that take JWT access tokens');
  add('add', {
    description: 'register a resource server',
    args: [['<identifier>', 'its absolute URI, which its tokens name as their audience']],
    options: [
      new Option('--scope <SCOPE...>', 'what client apps may ask for at it').makeOptionMandatory(),
      new Option('--alg <ALG>', 'how its tokens are signed').choices(signingAlgorithms).default('ES256'),
    ],
    json: 'print JSON: {"identifier", "scopes", "alg"}',
    help: '\nIts tokens live for 5 minutes and cannot be revoked.\n\nExample:\n  foyer resource add https://api.example.com/ --scope orders:read orders:write',
    run: (identifier: string, options: Options) => (context) => addResource(context, identifier, options),
  });
  add('list', {
    description: 'all resource servers',
    json: 'print JSON',
    help: '\nExample:\n  foyer resource list',
    run: () => showResources,
  });
  add('remove', {
    description: 'give no more tokens for a resource server',
    args: [['<identifier>', 'its URI']],
    json: 'print JSON: {"identifier", "removed", "clients": [...]}',
    help: '\nExample:\n  foyer resource remove https://api.example.com/',
    run: (identifier: string) => (context) => removeResource(context, identifier),
  });
}

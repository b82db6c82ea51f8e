import {
  deleteResourceServer,
  insertResourceServer,
  listClients,
  listResourceServers,
  type ResourceServer,
  resourceServerFaults,
} from '../oidc/index.ts';
import type { Context } from './context.ts';
import { CliError, exitCodes, refused } from './errors.ts';
import type { Result } from './io.ts';
import { table } from './text.ts';

/**
 * Registers a resource server; client apps may request it once their registration names it. @throws {CliError} with
 * every fault
 */
export async function addResource(
  context: Context,
  identifier: string,
  options: { scope: readonly string[]; alg: ResourceServer['alg'] },
): Promise<Result> {
  const { alg } = options;
  const scopes = [...new Set(options.scope.flatMap((text) => text.split(/[\s,]+/)).filter(Boolean))];
  const server = { identifier, scopes, alg };
  const faults = resourceServerFaults(server);
  if (faults.length > 0) throw refused(faults);
  if (!(await insertResourceServer(context.database.db, server, context.now()))) {
    throw refused([`${identifier}: is there already; remove it first`]);
  }
  const text = `Resource server ${identifier} is added.\nA client asks for it once \`foyer client update ID --resource ${identifier}\` says that it may.`;
  return { json: server, text };
}

export async function showResources({ database }: Context): Promise<Result> {
  const servers = await listResourceServers(database.db);
  const rows = servers.map(({ identifier, scopes, alg }) => [identifier, scopes.join(' '), alg]);
  return {
    json: servers,
    text: rows.length === 0 ? 'No resource servers yet.' : table(['identifier', 'scopes', 'signed with'], rows),
  };
}

export async function removeResource({ database }: Context, identifier: string): Promise<Result> {
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

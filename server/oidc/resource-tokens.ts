import { errors, type ResourceServer as LibraryResourceServer } from 'oidc-provider';
import type { Database } from '../store/index.ts';
import { findIdentifierFault, type ResourceServer } from './resource-server.ts';
import { findResourceServer } from './resource-server-store.ts';

/** They cannot be revoked, so their lifetime is short (`security.md`, rule 7). */
const jwtSeconds = 5 * 60;

/** The registered resource server, if the client may request it: each client names its own (`security.md`, rule 5). */
export async function resourceServerFor(
  database: Database,
  client: { clientId: string; resources?: unknown },
  identifier: string,
): Promise<ResourceServer | undefined> {
  if (!Array.isArray(client.resources) || !client.resources.includes(identifier)) return undefined;
  return findIdentifierFault(identifier) === undefined ? findResourceServer(database.db, identifier) : undefined;
}

/**
 * The library calls this for every request with a resource, again at the token endpoint, so that an operator's change
 * applies to the next token.
 */
export function createResourceServerInfo(database: Database) {
  return async (
    _ctx: unknown,
    identifier: string,
    client: { clientId: string; resources?: unknown },
  ): Promise<LibraryResourceServer> => {
    const server = await resourceServerFor(database, client, identifier);
    if (!server) throw new errors.InvalidTarget('this client may not ask for this resource');
    return {
      scope: server.scopes.join(' '),
      audience: identifier,
      accessTokenFormat: 'jwt',
      accessTokenTTL: jwtSeconds,
      jwt: { sign: { alg: server.alg } },
    };
  };
}

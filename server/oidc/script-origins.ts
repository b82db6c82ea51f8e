import type { Client } from 'oidc-provider';
import type { IsScriptOrigin } from '../http/index.ts';
import { cacheUntilChanged, type Database } from '../store/index.ts';
import { listClients } from './client-store.ts';

/** The origins of redirect addresses. `null`, that of sandboxed frames and private-use schemes, belongs to no client. */
const toOrigins = (redirectUris: readonly string[]): string[] =>
  redirectUris.flatMap((uri) => URL.parse(uri)?.origin ?? []).filter((origin) => origin !== 'null');

/**
 * Tests whether scripts of this origin may call for the client: only a public client's own pages. A confidential client
 * calls from its server.
 */
export const isOwnScriptOrigin = (client: Client, origin: string): boolean =>
  client.clientAuthMethod === 'none' && toOrigins(client.redirectUris ?? []).includes(origin);

/** The same for any public client, for preflight requests, which name none. The origins are read once per change. */
export function createScriptOriginTest(database: Database): IsScriptOrigin {
  const cached = cacheUntilChanged<ReadonlySet<string>>(() => database.changes.ofRows('clients'));
  return async (origin) => {
    const origins = await cached('all', async () => {
      const clients = await listClients(database.db);
      const open = clients.filter((client) => client.token_endpoint_auth_method === 'none');
      return new Set(open.flatMap((client) => toOrigins(client.redirect_uris)));
    });
    return origins?.has(origin) ?? false;
  };
}

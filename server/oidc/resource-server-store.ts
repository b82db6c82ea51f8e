import type { Db } from '../store/index.ts';
import type { NewResourceServer, ResourceServer } from './resource-server.ts';

const columns = ['identifier', 'scopes', 'signing_alg'] as const;
const fromRow = (row: { identifier: string; scopes: string; signing_alg: string }): ResourceServer => ({
  identifier: row.identifier,
  scopes: row.scopes.split(' '),
  alg: row.signing_alg === 'RS256' ? 'RS256' : 'ES256',
});

export async function findResourceServer(db: Db, identifier: string): Promise<ResourceServer | undefined> {
  const row = await db
    .selectFrom('resource_servers')
    .select(columns)
    .where('identifier', '=', identifier)
    .executeTakeFirst();
  return row && fromRow(row);
}

export async function listResourceServers(db: Db): Promise<ResourceServer[]> {
  const rows = await db.selectFrom('resource_servers').select(columns).orderBy('identifier').execute();
  return rows.map(fromRow);
}

/** Adds one; false if it exists. */
export async function insertResourceServer(db: Db, server: NewResourceServer, nowMs: number): Promise<boolean> {
  const result = await db
    .insertInto('resource_servers')
    .values({
      identifier: server.identifier,
      scopes: server.scopes.join(' '),
      signing_alg: server.alg ?? 'ES256',
      created_at: nowMs,
    })
    .onConflict((conflict) => conflict.column('identifier').doNothing())
    .executeTakeFirst();
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n;
}

export async function deleteResourceServer(db: Db, identifier: string): Promise<boolean> {
  const result = await db.deleteFrom('resource_servers').where('identifier', '=', identifier).executeTakeFirst();
  return result.numDeletedRows > 0n;
}

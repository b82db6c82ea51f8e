import type { Db, Row } from '../store/index.ts';
import type { NewResourceServer, ResourceServer } from './resource-server.ts';

const columns = ['identifier', 'scopes', 'signingAlg'] as const;
const toResourceServer = (row: Pick<Row<'resourceServers'>, (typeof columns)[number]>): ResourceServer => ({
  identifier: row.identifier,
  scopes: row.scopes.split(' '),
  alg: row.signingAlg,
});

export async function findResourceServer(db: Db, identifier: string): Promise<ResourceServer | undefined> {
  const row = await db
    .selectFrom('resourceServers')
    .select(columns)
    .where('identifier', '=', identifier)
    .executeTakeFirst();
  return row && toResourceServer(row);
}

export async function listResourceServers(db: Db): Promise<ResourceServer[]> {
  const rows = await db.selectFrom('resourceServers').select(columns).orderBy('identifier').execute();
  return rows.map(toResourceServer);
}

/** Adds one; false if it exists. */
export async function insertResourceServer(db: Db, server: NewResourceServer, nowMs: number): Promise<boolean> {
  const result = await db
    .insertInto('resourceServers')
    .values({
      identifier: server.identifier,
      scopes: server.scopes.join(' '),
      signingAlg: server.alg ?? 'ES256',
      createdAt: nowMs,
    })
    .onConflict((conflict) => conflict.column('identifier').doNothing())
    .executeTakeFirst();
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n;
}

export async function deleteResourceServer(db: Db, identifier: string): Promise<boolean> {
  const result = await db.deleteFrom('resourceServers').where('identifier', '=', identifier).executeTakeFirst();
  return result.numDeletedRows > 0n;
}

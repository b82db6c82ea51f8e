import { randomBytes } from 'node:crypto';
import type { Kysely, Transaction } from 'kysely';
import type { AdapterPayload } from 'oidc-provider';
import { prepare, type Schema, sha256 } from '../store/index.ts';
import { type ClientMetadata, isClientId } from './client-metadata.ts';
import { withAliases } from './scopes.ts';

type Db = Kysely<Schema> | Transaction<Schema>;

/** A recognisable prefix lets secret scanners find a leaked one. */
const secretPrefix = 'foyer_cs_';

export function newClientSecret(): string {
  return `${secretPrefix}${randomBytes(32).toString('base64url')}`;
}

/** A fast hash is enough: the secret has 256 random bits. */
export function clientSecretHash(secret: string): string {
  return sha256(secret);
}

export async function findClient(db: Db, id: string): Promise<ClientMetadata | undefined> {
  if (!isClientId(id)) return undefined;
  const row = await db.selectFrom('clients').select('metadata').where('id', '=', id).executeTakeFirst();
  return row && (JSON.parse(row.metadata) as ClientMetadata);
}

/** For the OpenID library: the hash stands where the library keeps the secret (see `compareClientSecret` in provider.ts). */
export function readsClientMetadata(db: Kysely<Schema>): (id: string) => Promise<AdapterPayload | undefined> {
  const select = prepare<{ id: string }, { metadata: string; secret_hash: string | null }>((v) =>
    db.selectFrom('clients').select(['metadata', 'secret_hash']).where('id', '=', v.id),
  );
  return async (id) => {
    const row = isClientId(id) ? (await select(db, { id })).rows[0] : undefined;
    return row && forLibrary(row);
  };
}

function forLibrary(row: { metadata: string; secret_hash: string | null }): AdapterPayload {
  // The library takes only https here and has no use for it: the dashboard has.
  const { initiate_login_uri: _, scope, ...rest } = JSON.parse(row.metadata) as ClientMetadata;
  // Nor does it take an empty scope; without one it compares nothing, which is why `service-tokens.ts` does.
  const metadata = { ...rest, ...(scope !== '' && { scope: withAliases(scope.split(' ')).join(' ') }) };
  return row.secret_hash === null ? metadata : { ...metadata, client_secret: row.secret_hash };
}

export async function listClients(db: Db): Promise<ClientMetadata[]> {
  const rows = await db.selectFrom('clients').select('metadata').orderBy('id').execute();
  return rows.map((row) => JSON.parse(row.metadata) as ClientMetadata);
}

/** Adds a client; false when the id is taken. */
export async function insertClient(
  db: Db,
  client: ClientMetadata,
  secret: string | null,
  nowMs: number,
): Promise<boolean> {
  const result = await db
    .insertInto('clients')
    .values({
      id: client.client_id,
      name: client.client_name,
      metadata: JSON.stringify(client),
      secret_hash: secret === null ? null : clientSecretHash(secret),
      created_at: nowMs,
      updated_at: nowMs,
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst();
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n;
}

/** Replaces a client's registration; `secret` undefined keeps the one there is. False when there is no such client. */
export async function updateClient(
  db: Db,
  client: ClientMetadata,
  secret: string | null | undefined,
  nowMs: number,
): Promise<boolean> {
  const result = await db
    .updateTable('clients')
    .set({
      name: client.client_name,
      metadata: JSON.stringify(client),
      updated_at: nowMs,
      ...(secret !== undefined && { secret_hash: secret === null ? null : clientSecretHash(secret) }),
    })
    .where('id', '=', client.client_id)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

export async function deleteClient(db: Db, id: string): Promise<boolean> {
  const result = await db.deleteFrom('clients').where('id', '=', id).executeTakeFirst();
  return result.numDeletedRows > 0n;
}

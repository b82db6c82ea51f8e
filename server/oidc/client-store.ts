import { timingSafeEqual } from 'node:crypto';
import { sql } from 'kysely';
import type { AdapterPayload } from 'oidc-provider';
import { z } from 'zod';
import { type ClientId, clientIdSchema, randomToken, type Sha256, sha256 } from '../shared/index.ts';
import {
  type BoundQuery,
  cacheUntilChanged,
  checkedAs,
  type Database,
  type Db,
  parseStored,
  prepare,
  type Row,
} from '../store/index.ts';
import { type ClientMetadata, isClientId } from './client-metadata.ts';
import { expandScopes } from './scopes.ts';

/** Secret scanners recognize a leaked secret by this prefix. */
const secretPrefix = 'foyer_cs_';

const metadataSchema = checkedAs<ClientMetadata>(
  z.looseObject({
    client_id: clientIdSchema,
    redirect_uris: z.array(z.string()),
    grant_types: z.array(z.string()),
    scope: z.string(),
  }),
);
const parseMetadata = (json: string) => parseStored(metadataSchema, json);

export function createClientSecret(): string {
  return `${secretPrefix}${randomToken()}`;
}

/** A fast hash suffices: the secret has 256 random bits. */
export function clientSecretHash(secret: string): Sha256 {
  return sha256(secret);
}

export async function findClient(db: Db, id: ClientId): Promise<ClientMetadata | undefined> {
  if (!isClientId(id)) return undefined;
  const row = await db.selectFrom('clients').select('metadata').where('id', '=', id).executeTakeFirst();
  return row && parseMetadata(row.metadata);
}

/**
 * Reads clients for the OpenID library, per request, so that changes by the command line take effect at once. The hash
 * replaces the secret (see `compareClientSecret` in provider.ts).
 */
interface ClientMetadataReader {
  find(id: string): Promise<AdapterPayload | undefined>;
  /** The same in two steps, for a statement that reads more than the client. */
  bind(id: ClientId): BoundQuery<ClientRow>;
  read(row: ClientRow): AdapterPayload;
}

export function createClientMetadataReader({ db, changes }: Database): ClientMetadataReader {
  const cached = cacheUntilChanged<AdapterPayload>(() => changes.ofRows('clients'));
  const select = prepare<{ id: ClientId }, ClientRow>((v) =>
    db
      .selectFrom('clients')
      .select(['metadata', 'secretHash', 'previousSecretHash', 'previousSecretExpiresAt'])
      .where('id', '=', v.id),
  );
  return {
    find: (id) =>
      cached(id, async () => {
        const row = isClientId(id) ? (await select(db, { id })).rows[0] : undefined;
        return row && forLibrary(row);
      }),
    bind: (id) => select.bind({ id }),
    read: forLibrary,
  };
}

type ClientRow = Pick<Row<'clients'>, 'metadata' | 'secretHash' | 'previousSecretHash' | 'previousSecretExpiresAt'>;

function forLibrary(row: ClientRow): AdapterPayload {
  // The library accepts only https here and does not use it; the dashboard does.
  const { initiate_login_uri: _, scope, ...rest } = parseMetadata(row.metadata);
  // The library rejects an empty scope. Without one it compares nothing, which is why `token-claims.ts` does.
  const metadata = { ...rest, ...(scope !== '' && { scope: expandScopes(scope.split(' ')).join(' ') }) };
  const { secretHash, previousSecretHash: hash, previousSecretExpiresAt: expiresAt } = row;
  if (secretHash === null) return metadata;
  return {
    ...metadata,
    client_secret: secretHash,
    ...(hash !== null && { previous_secret_hash: hash, previous_secret_expires_at: expiresAt ?? 0 }),
  };
}

/** The hashes of a client app's secrets: the newest, and the previous one until it expires. */
interface SecretHashes {
  newest: unknown;
  previous: unknown;
  previousExpiresAt: unknown;
}

/** Tests whether a client app presented one of its secrets. Compares hashes, in constant time. */
export function isClientSecret(
  { newest, previous, previousExpiresAt }: SecretHashes,
  presented: string,
  nowMs: number,
): boolean {
  const hash = Buffer.from(clientSecretHash(presented));
  const equals = (stored: unknown) => {
    const bytes = Buffer.from(typeof stored === 'string' ? stored : '');
    return bytes.length === hash.length && timingSafeEqual(bytes, hash);
  };
  const isNewest = equals(newest);
  const isPrevious = equals(previous) && typeof previousExpiresAt === 'number' && nowMs < previousExpiresAt;
  return isNewest || isPrevious;
}

/** Times of a client's secrets, in milliseconds since the epoch. */
export interface SecretTimes {
  /** Creation of the newest one, which is when the previous one was replaced. */
  createdAtMs: number;
  /** Expiry of the previous one; undefined: there is none, or it has expired. */
  previousUntilMs: number | undefined;
}

/** Undefined: the client has no secret. */
export async function findSecretTimes(db: Db, id: ClientId, nowMs: number): Promise<SecretTimes | undefined> {
  const row = await db
    .selectFrom('clients')
    .select(['secretHash', 'secretCreatedAt', 'previousSecretHash', 'previousSecretExpiresAt'])
    .where('id', '=', id)
    .executeTakeFirst();
  if (!row || row.secretHash === null || row.secretCreatedAt === null) return undefined;
  const { secretCreatedAt: createdAtMs, previousSecretHash: hash, previousSecretExpiresAt: expiresAt } = row;
  const isValid = hash !== null && expiresAt !== null && nowMs < expiresAt;
  return { createdAtMs, previousUntilMs: isValid ? expiresAt : undefined };
}

/** The clients whose newest secret was created before this time. */
export async function listClientsWithOldSecrets(db: Db, beforeMs: number): Promise<ClientId[]> {
  const rows = await db
    .selectFrom('clients')
    .select('id')
    .where('secretHash', 'is not', null)
    .where('secretCreatedAt', '<', beforeMs)
    .orderBy('id')
    .execute();
  return rows.map((row) => row.id);
}

export async function listClients(db: Db): Promise<ClientMetadata[]> {
  const rows = await db.selectFrom('clients').select('metadata').orderBy('id').execute();
  return rows.map((row) => parseMetadata(row.metadata));
}

/** Adds a client; false if the id exists. */
export async function insertClient(
  db: Db,
  client: ClientMetadata,
  { secret, nowMs }: { secret: string | null; nowMs: number },
): Promise<boolean> {
  const result = await db
    .insertInto('clients')
    .values({
      id: client.client_id,
      name: client.client_name,
      metadata: JSON.stringify(client),
      secretHash: secret === null ? null : clientSecretHash(secret),
      secretCreatedAt: secret === null ? null : nowMs,
      createdAt: nowMs,
      updatedAt: nowMs,
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst();
  return (result.numInsertedOrUpdatedRows ?? 0n) > 0n;
}

/** Changes of a client's secrets with its registration. */
interface SecretChange {
  /** The new secret; null removes it; undefined keeps it. */
  secret?: string | null | undefined;
  /** Expiry of the present secret beside a new one, in milliseconds since the epoch; undefined: it expires now. */
  previousUntilMs?: number | undefined;
  /** Expires the previous secret now. */
  dropPrevious?: boolean;
}

function secretColumns({ secret, previousUntilMs, dropPrevious = false }: SecretChange, nowMs: number) {
  const none = { previousSecretHash: null, previousSecretExpiresAt: null };
  if (secret === undefined) return dropPrevious ? none : {};
  if (secret === null) return { secretHash: null, secretCreatedAt: null, ...none };
  const hash = { secretHash: clientSecretHash(secret), secretCreatedAt: nowMs };
  if (previousUntilMs === undefined) return { ...hash, ...none };
  // SQL reads the row as it was before the update.
  return { ...hash, previousSecretHash: sql.ref<Sha256>('secretHash'), previousSecretExpiresAt: previousUntilMs };
}

/** Updates a client's registration, and its secrets if `change` has any. False if there is no such client. */
export async function updateClient(
  db: Db,
  client: ClientMetadata,
  { nowMs, ...change }: SecretChange & { nowMs: number },
): Promise<boolean> {
  const result = await db
    .updateTable('clients')
    .set({
      name: client.client_name,
      metadata: JSON.stringify(client),
      updatedAt: nowMs,
      ...secretColumns(change, nowMs),
    })
    .where('id', '=', client.client_id)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

export async function deleteClient(db: Db, id: ClientId): Promise<boolean> {
  const result = await db.deleteFrom('clients').where('id', '=', id).executeTakeFirst();
  return result.numDeletedRows > 0n;
}

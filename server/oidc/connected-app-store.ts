import type { Transaction } from 'kysely';
import { z } from 'zod';
import type { ConnectedApp } from '../account/index.ts';
import { type ClientId, sha256, type UserId } from '../shared/index.ts';
import { type Db, parseStored, type Schema } from '../store/index.ts';

/** The access that a user gives to a client app: scopes of Foyer, and scopes by the identifiers of resource servers. */
export interface Consent {
  scopes: readonly string[];
  resources: ReadonlyMap<string, readonly string[]>;
}

/** A use is recorded this often at most. */
const useEveryMs = 60 * 60_000;

const words = (text: string) => text.split(' ').filter(Boolean);

const resourcesSchema = z.record(z.string(), z.string());

function toConsent(row: { scopes: string; resources: string }): Consent {
  const resources = Object.entries(parseStored(resourcesSchema, row.resources));
  return { scopes: words(row.scopes), resources: new Map(resources.map(([id, scopes]) => [id, words(scopes)])) };
}

/** Tests whether the consent covers everything that is requested. */
export function covers(consent: Consent, requested: Consent): boolean {
  const all = (expected: readonly string[], held: readonly string[]) => expected.every((scope) => held.includes(scope));
  return (
    all(requested.scopes, consent.scopes) &&
    [...requested.resources].every(([id, scopes]) => all(scopes, consent.resources.get(id) ?? []))
  );
}

function joined(before: Consent | undefined, added: Consent): { scopes: string; resources: string } {
  const resources = new Map(before?.resources);
  for (const [id, scopes] of added.resources)
    resources.set(id, [...new Set([...(resources.get(id) ?? []), ...scopes])]);
  const texts = [...resources].map(([id, scopes]) => [id, scopes.join(' ')]);
  return {
    scopes: [...new Set([...(before?.scopes ?? []), ...added.scopes])].join(' '),
    resources: JSON.stringify(Object.fromEntries(texts)),
  };
}

export async function findConsent(db: Db, userId: UserId, clientId: ClientId): Promise<Consent | undefined> {
  const row = await db
    .selectFrom('connected_apps')
    .select(['scopes', 'resources'])
    .where('user_id', '=', userId)
    .where('client_id', '=', clientId)
    .executeTakeFirst();
  return row && toConsent(row);
}

/** User, client app, and the current time in milliseconds since the epoch. */
export interface Connection {
  userId: UserId;
  clientId: ClientId;
  nowMs: number;
}

/**
 * Extends the user's consent to the client app, but only while the grant that results from it exists: a parallel end of
 * all grants of the user ends the consent too. An empty consent records only the connection.
 */
export async function recordConsent(
  trx: Transaction<Schema>,
  { userId, clientId, nowMs, grantId }: Connection & { grantId: string },
  consent: Consent,
): Promise<void> {
  // This update locks the row until the end of the transaction, on both databases; it changes nothing.
  const { numUpdatedRows } = await trx
    .updateTable('oidc')
    .set({ client_id: clientId })
    .where('model', '=', 'Grant')
    .where('id_hash', '=', sha256(grantId))
    .executeTakeFirstOrThrow();
  if (numUpdatedRows === 0n) return;
  const times = { created_at: nowMs, last_used_at: nowMs };
  // The insert locks the row against a parallel consent, on both databases.
  const row = await trx
    .insertInto('connected_apps')
    .values({ user_id: userId, client_id: clientId, scopes: '', resources: '{}', ...times })
    .onConflict((conflict) => conflict.columns(['user_id', 'client_id']).doUpdateSet({ last_used_at: nowMs }))
    .returning(['scopes', 'resources'])
    .executeTakeFirstOrThrow();
  await trx
    .updateTable('connected_apps')
    .set(joined(toConsent(row), consent))
    .where('user_id', '=', userId)
    .where('client_id', '=', clientId)
    .execute();
}

/** Records a use of the client app, once an hour at most. */
export async function recordUse(db: Db, { userId, clientId, nowMs }: Connection): Promise<void> {
  await db
    .updateTable('connected_apps')
    .set({ last_used_at: nowMs })
    .where('user_id', '=', userId)
    .where('client_id', '=', clientId)
    .where('last_used_at', '<', nowMs - useEveryMs)
    .execute();
}

/**
 * The client apps with which a user is connected, the most recently used first: by a consent, or by access that
 * outlives the session.
 */
export async function listConnectedApps(db: Db, userId: UserId, nowMs: number): Promise<ConnectedApp[]> {
  const rows = await db
    .selectFrom('connected_apps')
    .innerJoin('clients', 'clients.id', 'connected_apps.client_id')
    .select(['connected_apps.client_id', 'scopes', 'resources', 'connected_apps.created_at', 'last_used_at', 'name'])
    .where('user_id', '=', userId)
    .where((eb) =>
      eb.or([
        eb('scopes', '!=', ''),
        eb('resources', '!=', '{}'),
        eb.exists(
          eb
            .selectFrom('oidc')
            .select('oidc.id_hash')
            .whereRef('oidc.client_id', '=', 'connected_apps.client_id')
            .where('oidc.account_id', '=', userId)
            .where('oidc.model', '=', 'Grant')
            .where('oidc.offline', '=', 1)
            .where('oidc.expires_at', '>', nowMs),
        ),
      ]),
    )
    .orderBy('last_used_at', 'desc')
    .execute();
  return rows.map((row) => ({
    ...toConsent(row),
    clientId: row.client_id,
    name: row.name,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
  }));
}

/** @returns false if there was none */
export async function deleteConnectedApp(db: Db, userId: UserId, clientId: ClientId): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('connected_apps')
    .where('user_id', '=', userId)
    .where('client_id', '=', clientId)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}

/** Each client app asks the user again; those with offline access stay connected. */
export async function forgetConsents(db: Db, userId: UserId): Promise<void> {
  await db.updateTable('connected_apps').set({ scopes: '', resources: '{}' }).where('user_id', '=', userId).execute();
}

/** All connections of a user, or of a client app. */
export async function deleteConnectedApps(db: Db, of: { userId: UserId } | { clientId: ClientId }): Promise<void> {
  const deletion = db.deleteFrom('connected_apps');
  await ('userId' in of
    ? deletion.where('user_id', '=', of.userId)
    : deletion.where('client_id', '=', of.clientId)
  ).execute();
}

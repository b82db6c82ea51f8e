import type { Transaction } from 'kysely';
import { z } from 'zod';
import type { ConnectedApp } from '../account/index.ts';
import type { Logger } from '../http/index.ts';
import { type ClientId, sha256, toClientId, toUserId, type UserId } from '../shared/index.ts';
import { type Database, type Db, parseStored, type Schema } from '../store/index.ts';
import { toLogoOrigins } from './client-metadata.ts';

/** The access that a user gives to a client app: scopes of Foyer, and scopes by the identifiers of resource servers. */
export interface Consent {
  scopes: readonly string[];
  resources: ReadonlyMap<string, readonly string[]>;
}

/** A use is recorded this often at most. */
const useEveryMs = 60 * 60_000;

const words = (text: string) => text.split(' ').filter(Boolean);

const resourcesSchema = z.record(z.string(), z.string());
const logoSchema = z.looseObject({ logo_uri: z.string().optional() });

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
    .selectFrom('connectedApps')
    .select(['scopes', 'resources'])
    .where('userId', '=', userId)
    .where('clientId', '=', clientId)
    .executeTakeFirst();
  return row && toConsent(row);
}

/** User, client app, and the current time in milliseconds since the epoch. */
interface Connection {
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
    .set({ clientId })
    .where('model', '=', 'Grant')
    .where('idHash', '=', sha256(grantId))
    .executeTakeFirstOrThrow();
  if (numUpdatedRows === 0n) return;
  const times = { createdAt: nowMs, lastUsedAt: nowMs };
  // The insert locks the row against a parallel consent, on both databases.
  const row = await trx
    .insertInto('connectedApps')
    .values({ userId, clientId, scopes: '', resources: '{}', ...times })
    .onConflict((conflict) => conflict.columns(['userId', 'clientId']).doUpdateSet({ lastUsedAt: nowMs }))
    .returning(['scopes', 'resources'])
    .executeTakeFirstOrThrow();
  await trx
    .updateTable('connectedApps')
    .set(joined(toConsent(row), consent))
    .where('userId', '=', userId)
    .where('clientId', '=', clientId)
    .execute();
}

/** Records a use of the client app, once an hour at most. */
async function recordUse(db: Db, { userId, clientId, nowMs }: Connection): Promise<void> {
  await db
    .updateTable('connectedApps')
    .set({ lastUsedAt: nowMs })
    .where('userId', '=', userId)
    .where('clientId', '=', clientId)
    .where('lastUsedAt', '<', nowMs - useEveryMs)
    .execute();
}

/** The bound of the connections in memory whose use was recorded. */
const maxRecorded = 10_000;
const recordAgainMs = 10 * 60_000;

export type RecordUse = (connection: { accountId: string; clientId: string }) => void;

/**
 * Records when a user's connected app last got tokens. A failure is only logged, so that the tokens are still issued.
 * The record has steps of an hour: within ten minutes this process does not ask the database again.
 */
export function createUseRecorder(
  { db }: Database,
  { now, log }: { now: () => number; log: Pick<Logger, 'warn'> },
): RecordUse {
  const recorded = new Map<string, number>();
  return ({ accountId, clientId }) => {
    const key = `${accountId} ${clientId}`;
    const nowMs = now();
    if (Math.abs(nowMs - (recorded.get(key) ?? Number.NEGATIVE_INFINITY)) < recordAgainMs) return;
    if (recorded.size >= maxRecorded) recorded.clear();
    recorded.set(key, nowMs);
    recordUse(db, { userId: toUserId(accountId), clientId: toClientId(clientId), nowMs }).catch((error: unknown) => {
      recorded.delete(key);
      log.warn({ err: error }, 'could not record the use of a connected app');
    });
  };
}

/**
 * The client apps with which a user is connected, the most recently used first: by a consent, or by access that
 * outlives the session.
 */
export async function listConnectedApps(db: Db, userId: UserId, nowMs: number): Promise<ConnectedApp[]> {
  const rows = await db
    .selectFrom('connectedApps')
    .innerJoin('clients', 'clients.id', 'connectedApps.clientId')
    .select([
      'connectedApps.clientId',
      'scopes',
      'resources',
      'connectedApps.createdAt',
      'lastUsedAt',
      'name',
      'metadata',
    ])
    .where('userId', '=', userId)
    .where((eb) =>
      eb.or([
        eb('scopes', '!=', ''),
        eb('resources', '!=', '{}'),
        eb.exists(
          eb
            .selectFrom('oidc')
            .select('oidc.idHash')
            .whereRef('oidc.clientId', '=', 'connectedApps.clientId')
            .where('oidc.accountId', '=', userId)
            .where('oidc.model', '=', 'Grant')
            .where('oidc.offline', '=', 1)
            .where('oidc.expiresAt', '>', nowMs),
        ),
      ]),
    )
    .orderBy('lastUsedAt', 'desc')
    .execute();
  return rows.map(({ metadata, ...row }) => {
    const logoUrl = parseStored(logoSchema, metadata).logo_uri;
    return { ...row, ...toConsent(row), logoUrl, logoOrigins: toLogoOrigins(logoUrl) };
  });
}

/** When a user last used each client app (milliseconds since the epoch). */
export async function listLastUses(db: Db, userId: UserId): Promise<Map<ClientId, number>> {
  const rows = await db
    .selectFrom('connectedApps')
    .select(['clientId', 'lastUsedAt'])
    .where('userId', '=', userId)
    .execute();
  return new Map(rows.map(({ clientId, lastUsedAt }) => [clientId, lastUsedAt]));
}

/** @returns false if there was none */
export async function deleteConnectedApp(db: Db, userId: UserId, clientId: ClientId): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('connectedApps')
    .where('userId', '=', userId)
    .where('clientId', '=', clientId)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}

/** Each client app asks the user again; those with offline access stay connected. */
export async function forgetConsents(db: Db, userId?: UserId): Promise<void> {
  const forgetting = db.updateTable('connectedApps').set({ scopes: '', resources: '{}' });
  await (userId === undefined ? forgetting : forgetting.where('userId', '=', userId)).execute();
}

/** All connections of a user, or of a client app. */
export async function deleteConnectedApps(db: Db, of: { userId: UserId } | { clientId: ClientId }): Promise<void> {
  const deletion = db.deleteFrom('connectedApps');
  await ('userId' in of
    ? deletion.where('userId', '=', of.userId)
    : deletion.where('clientId', '=', of.clientId)
  ).execute();
}

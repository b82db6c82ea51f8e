import type { Kysely, Transaction } from 'kysely';
import type { ClientId, SessionIdHash, Sha256, UserId } from '../shared/index.ts';
import type { Schema } from '../store/index.ts';
import { type LogoutScope, sessionsLedToClients } from './client-session-store.ts';

const model = 'Grant';

/** Grants that are deleted together. */
const grantsAtOnce = 500;
/** A client app that needs more offline grants for one user has lost track of them: the oldest end. */
const maxOfflineGrants = 50;

export function* chunks<Item>(items: readonly Item[], size: number): Generator<Item[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}

const grantHashes = (trx: Transaction<Schema>) => trx.selectFrom('oidc').select('idHash').where('model', '=', model);

/** Deletes these grants with their refresh tokens. */
export async function revoke(trx: Transaction<Schema>, hashes: readonly Sha256[]): Promise<void> {
  for (const some of chunks(hashes, grantsAtOnce)) {
    await trx.deleteFrom('oidc').where('model', '=', model).where('idHash', 'in', some).execute();
    await trx.deleteFrom('oidc').where('grantId', 'in', some).execute();
  }
}

async function revokeFound(trx: Transaction<Schema>, found: ReturnType<typeof grantHashes>): Promise<number> {
  const rows = await found.execute();
  await revoke(
    trx,
    rows.map((row) => row.idHash),
  );
  return rows.length;
}

/**
 * Ends the grants of these sessions. Offline access does not end with its session (OpenID Connect Core 1.0, section
 * 11).
 * @param ofClient only the grants of this client
 */
export async function revokeWhere(
  trx: Transaction<Schema>,
  which: LogoutScope | { hashes: Sha256[] },
  ofClient?: ClientId,
): Promise<void> {
  const all = grantHashes(trx);
  const grants = ofClient === undefined ? all : all.where('clientId', '=', ofClient);
  if ('everyone' in which) await revokeFound(trx, grants);
  else if ('hashes' in which) await revokeFound(trx, grants.where('idHash', 'in', which.hashes));
  else if ('accountId' in which) await revokeFound(trx, grants.where('accountId', 'in', [which.accountId]));
  else if ('clientId' in which) await revokeFound(trx, grants.where('clientId', 'in', [which.clientId]));
  else await revokeFound(trx, grants.where('foyerSession', 'in', which.sessions).where('offline', '=', 0));
}

export async function revokeOfMemberAndClient(
  trx: Transaction<Schema>,
  accountId: UserId,
  clientId: ClientId,
): Promise<void> {
  await revokeFound(trx, grantHashes(trx).where('accountId', '=', accountId).where('clientId', '=', clientId));
}

/** Ends offline access that a user gave in other sessions than these. */
export async function revokeOffline(
  trx: Transaction<Schema>,
  accountId: UserId,
  keptSessions: readonly SessionIdHash[],
): Promise<void> {
  const offline = grantHashes(trx).where('accountId', '=', accountId).where('offline', '=', 1);
  const others =
    keptSessions.length === 0
      ? offline
      : offline.where((eb) => eb.or([eb('foyerSession', 'is', null), eb('foyerSession', 'not in', keptSessions)]));
  await revokeFound(trx, others);
}

/** Limits the grants that one user and client app can create by repeated sign-ins. */
export async function revokeSurplus(trx: Transaction<Schema>, accountId: UserId, clientId: ClientId): Promise<void> {
  const surplus = grantHashes(trx)
    .where('accountId', '=', accountId)
    .where('clientId', '=', clientId)
    .where('offline', '=', 1)
    .orderBy('expiresAt', 'desc')
    .offset(maxOfflineGrants)
    .limit(maxOfflineGrants);
  await revokeFound(trx, surplus);
}

/** @returns the number of grants */
export async function revokeOfClientSessions(
  trx: Transaction<Schema>,
  clientId: ClientId,
  foyerSessions: readonly SessionIdHash[],
): Promise<number> {
  if (foyerSessions.length === 0) return 0;
  return revokeFound(trx, grantHashes(trx).where('foyerSession', 'in', foyerSessions).where('clientId', '=', clientId));
}

/** The client apps that a user's sessions have led to: by a live grant, or by a sign-in with back-channel logout. */
export async function listClientsBySession(
  db: Kysely<Schema>,
  accountId: UserId,
  nowMs: number,
): Promise<Map<SessionIdHash, ClientId[]>> {
  const [granted, signedIn] = await Promise.all([
    db
      .selectFrom('oidc')
      .select(['foyerSession', 'clientId'])
      .where('model', '=', model)
      .where('accountId', '=', accountId)
      .where('expiresAt', '>', nowMs)
      .execute(),
    db.selectFrom('clientSessions').select(['foyerSession', 'clientId']).where('accountId', '=', accountId).execute(),
  ]);
  const found = new Map<SessionIdHash, ClientId[]>();
  for (const { foyerSession, clientId } of [...granted, ...signedIn]) {
    if (foyerSession === null || clientId === null) continue;
    const known = found.get(foyerSession) ?? [];
    if (!known.includes(clientId)) found.set(foyerSession, [...known, clientId].toSorted());
  }
  return found;
}

/** The sessions of the user that have grants, and the grants without a session. */
export async function heldSessions(
  db: Kysely<Schema>,
  accountId: UserId,
): Promise<{ sessions: SessionIdHash[]; withoutSession: Sha256[] }> {
  const [rows, ledTo] = await Promise.all([
    db
      .selectFrom('oidc')
      .select(['idHash', 'foyerSession'])
      .where('model', '=', model)
      .where('accountId', '=', accountId)
      .execute(),
    sessionsLedToClients(db, accountId),
  ]);
  const sessions = rows.map(({ foyerSession }) => foyerSession).filter((session) => session !== null);
  return {
    sessions: [...new Set([...sessions, ...ledTo])],
    withoutSession: rows.filter(({ foyerSession }) => foyerSession === null).map(({ idHash }) => idHash),
  };
}

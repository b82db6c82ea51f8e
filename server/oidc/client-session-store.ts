import { randomBytes } from 'node:crypto';
import type { Kysely, Transaction } from 'kysely';
import type { ClientId, SessionIdHash, UserId } from '../shared/index.ts';
import { type Database, prepare, type Row, type Schema } from '../store/index.ts';

/** Foyer sessions (by the hashes of their ids), all sessions of a user, all that were used for a client app, or all. */
export type LogoutScope =
  | { sessions: readonly SessionIdHash[] }
  | { accountId: UserId }
  | { clientId: ClientId }
  | { everyone: true };

/** A record that a Foyer session was used for a client app with back-channel logout. */
type ClientSession = Pick<Row<'clientSessions'>, 'sid' | 'clientId' | 'accountId'>;

export interface ClientSessionStore {
  /**
   * The `sid` of the Foyer session for the client app. It stays the same as long as the session, whatever happens to
   * the grant.
   */
  findSid(
    session: { idHash: SessionIdHash; userId: UserId },
    clientId: ClientId,
  ): Promise<{ sid: string; isNew: boolean }>;
  /** The session of a `sid` of this client app; undefined once it is over. */
  findSession(sid: string, clientId: ClientId): Promise<SessionIdHash | undefined>;
  /** For a record that was written too late: the session had ended. */
  remove(sid: string): Promise<void>;
  /** Deletes expired rows, at most `batch`. Returns the number. */
  sweep(nowMs: number, batch: number): Promise<number>;
}

/** Longer than any session that is still used for the client app. */
const keptMs = 400 * 24 * 60 * 60_000;

export function createClientSessionStore({ db }: Database, now: () => number): ClientSessionStore {
  const select = prepare<
    { idHash: SessionIdHash; clientId: ClientId },
    Pick<Row<'clientSessions'>, 'sid' | 'expiresAt'>
  >((v) =>
    db
      .selectFrom('clientSessions')
      .select(['sid', 'expiresAt'])
      .where('foyerSession', '=', v.idHash)
      .where('clientId', '=', v.clientId),
  );
  const find = async (idHash: SessionIdHash, clientId: ClientId) => (await select(db, { idHash, clientId })).rows[0];

  return {
    async findSid({ idHash, userId }, clientId) {
      const nowMs = now();
      const expiresAt = nowMs + keptMs;
      const known = await find(idHash, clientId);
      if (known) {
        if (known.expiresAt < nowMs + keptMs / 2)
          await db.updateTable('clientSessions').set({ expiresAt }).where('sid', '=', known.sid).execute();
        return { sid: known.sid, isNew: false };
      }
      const sid = randomBytes(24).toString('base64url');
      await db
        .insertInto('clientSessions')
        .values({ sid, foyerSession: idHash, clientId, accountId: userId, createdAt: nowMs, expiresAt })
        // Only one of two parallel requests sets the `sid`.
        .onConflict((conflict) => conflict.columns(['foyerSession', 'clientId']).doNothing())
        .execute();
      const { sid: stored } = (await find(idHash, clientId)) ?? { sid };
      return { sid: stored, isNew: true };
    },
    async findSession(sid, clientId) {
      const row = await db
        .selectFrom('clientSessions')
        .select('foyerSession')
        .where('sid', '=', sid)
        .where('clientId', '=', clientId)
        .executeTakeFirst();
      return row?.foyerSession;
    },
    async remove(sid) {
      await db.deleteFrom('clientSessions').where('sid', '=', sid).execute();
    },
    async sweep(nowMs, batch) {
      const expired = db.selectFrom('clientSessions').select('sid').where('expiresAt', '<=', nowMs).limit(batch);
      const result = await db.deleteFrom('clientSessions').where('sid', 'in', expired).executeTakeFirst();
      return Number(result.numDeletedRows);
    },
  };
}

/** Deletes and returns the sessions that end: of several parallel calls only one gets each of them. */
export async function removeClientSessions(trx: Transaction<Schema>, which: LogoutScope): Promise<ClientSession[]> {
  if ('sessions' in which && which.sessions.length === 0) return [];
  const deletion = trx.deleteFrom('clientSessions');
  const ending =
    'everyone' in which
      ? deletion
      : 'sessions' in which
        ? deletion.where('foyerSession', 'in', which.sessions)
        : 'accountId' in which
          ? deletion.where('accountId', 'in', [which.accountId])
          : deletion.where('clientId', 'in', [which.clientId]);
  return ending.returning(['sid', 'clientId', 'accountId']).execute();
}

/** The sessions of a user that were used for a client app. */
export async function sessionsLedToClients(db: Kysely<Schema>, userId: UserId): Promise<SessionIdHash[]> {
  const rows = await db
    .selectFrom('clientSessions')
    .select('foyerSession')
    .distinct()
    .where('accountId', '=', userId)
    .execute();
  return rows.map(({ foyerSession }) => foyerSession);
}

/** The session continues under another id. */
export async function transferClientSessions(
  trx: Transaction<Schema>,
  before: SessionIdHash,
  after: SessionIdHash,
): Promise<void> {
  await trx.updateTable('clientSessions').set({ foyerSession: after }).where('foyerSession', '=', before).execute();
}

/** The client apps to which a user is signed in, and since when (milliseconds since the epoch). */
export async function listClientSessions(
  db: Kysely<Schema>,
  userId: UserId,
): Promise<{ clientId: ClientId; since: number }[]> {
  return db
    .selectFrom('clientSessions')
    .select(['clientId', 'createdAt as since'])
    .where('accountId', '=', userId)
    .orderBy('createdAt')
    .execute();
}

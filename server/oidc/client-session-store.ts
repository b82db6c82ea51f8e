import { randomBytes } from 'node:crypto';
import type { Kysely, Transaction } from 'kysely';
import type { ClientId, SessionIdHash, UserId } from '../shared/index.ts';
import { type Database, prepare, type Schema } from '../store/index.ts';

/** Foyer sessions (by the hashes of their ids), all sessions of a user, or all sessions used for a client app. */
export type LogoutScope = { sessions: readonly SessionIdHash[] } | { accountId: UserId } | { clientId: ClientId };

/** A record that a Foyer session was used for a client app with back-channel logout. */
export interface ClientSession {
  /** Part of the client app's id tokens. */
  sid: string;
  clientId: ClientId;
  accountId: UserId;
}

export interface ClientSessionStore {
  /**
   * The `sid` of the Foyer session for the client app. It stays the same as long as the session, whatever happens to
   * the grant.
   */
  findSid(
    session: { idHash: SessionIdHash; userId: UserId },
    clientId: ClientId,
  ): Promise<{ sid: string; isNew: boolean }>;
  /** For a record that was written too late: the session had ended. */
  remove(sid: string): Promise<void>;
  /** Deletes expired rows, at most `batch`. Returns the number. */
  sweep(nowMs: number, batch: number): Promise<number>;
}

/** Longer than any session that is still used for the client app. */
const keptMs = 400 * 24 * 60 * 60_000;

interface Row {
  sid: string;
  expires_at: number;
}

export function createClientSessionStore({ db }: Database, now: () => number): ClientSessionStore {
  const select = prepare<{ idHash: SessionIdHash; clientId: ClientId }, Row>((v) =>
    db
      .selectFrom('client_sessions')
      .select(['sid', 'expires_at'])
      .where('foyer_session', '=', v.idHash)
      .where('client_id', '=', v.clientId),
  );
  const find = async (idHash: SessionIdHash, clientId: ClientId) => (await select(db, { idHash, clientId })).rows[0];

  return {
    async findSid({ idHash, userId }, clientId) {
      const nowMs = now();
      const expires_at = nowMs + keptMs;
      const known = await find(idHash, clientId);
      if (known) {
        if (known.expires_at < nowMs + keptMs / 2)
          await db.updateTable('client_sessions').set({ expires_at }).where('sid', '=', known.sid).execute();
        return { sid: known.sid, isNew: false };
      }
      const sid = randomBytes(24).toString('base64url');
      await db
        .insertInto('client_sessions')
        .values({ sid, foyer_session: idHash, client_id: clientId, account_id: userId, created_at: nowMs, expires_at })
        // Only one of two parallel requests sets the `sid`.
        .onConflict((conflict) => conflict.columns(['foyer_session', 'client_id']).doNothing())
        .execute();
      const { sid: stored } = (await find(idHash, clientId)) ?? { sid };
      return { sid: stored, isNew: true };
    },
    async remove(sid) {
      await db.deleteFrom('client_sessions').where('sid', '=', sid).execute();
    },
    async sweep(nowMs, batch) {
      const expired = db.selectFrom('client_sessions').select('sid').where('expires_at', '<=', nowMs).limit(batch);
      const result = await db.deleteFrom('client_sessions').where('sid', 'in', expired).executeTakeFirst();
      return Number(result.numDeletedRows);
    },
  };
}

/** Deletes and returns the sessions that end: of several parallel calls only one gets each of them. */
export async function removeClientSessions(trx: Transaction<Schema>, which: LogoutScope): Promise<ClientSession[]> {
  if ('sessions' in which && which.sessions.length === 0) return [];
  const deletion = trx.deleteFrom('client_sessions');
  const ending =
    'sessions' in which
      ? deletion.where('foyer_session', 'in', which.sessions)
      : 'accountId' in which
        ? deletion.where('account_id', 'in', [which.accountId])
        : deletion.where('client_id', 'in', [which.clientId]);
  const rows = await ending.returning(['sid', 'client_id', 'account_id']).execute();
  return rows.map(({ sid, client_id, account_id }) => ({ sid, clientId: client_id, accountId: account_id }));
}

/** The sessions of a user that were used for a client app. */
export async function sessionsLedToClients(db: Kysely<Schema>, userId: UserId): Promise<SessionIdHash[]> {
  const rows = await db
    .selectFrom('client_sessions')
    .select('foyer_session')
    .distinct()
    .where('account_id', '=', userId)
    .execute();
  return rows.map(({ foyer_session }) => foyer_session);
}

/** The session continues under another id. */
export async function transferClientSessions(
  trx: Transaction<Schema>,
  before: SessionIdHash,
  after: SessionIdHash,
): Promise<void> {
  await trx.updateTable('client_sessions').set({ foyer_session: after }).where('foyer_session', '=', before).execute();
}

/** The client apps to which a user is signed in, and since when (milliseconds since the epoch). */
export async function listClientSessions(
  db: Kysely<Schema>,
  userId: UserId,
): Promise<{ clientId: ClientId; since: number }[]> {
  const rows = await db
    .selectFrom('client_sessions')
    .select(['client_id', 'created_at'])
    .where('account_id', '=', userId)
    .orderBy('created_at')
    .execute();
  return rows.map(({ client_id, created_at }) => ({ clientId: client_id, since: created_at }));
}

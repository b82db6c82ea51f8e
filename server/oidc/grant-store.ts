import { type ClientId, type SessionIdHash, type Sha256, toSha256, type UserId } from '../shared/index.ts';
import { createGrantEndings, type GrantEndings, type GrantEndingsSettings } from './grant-endings.ts';
import { createGrantRecords, type GrantRecords, type GrantRecordsSettings } from './grant-records-store.ts';

export interface GrantStore extends GrantRecords, GrantEndings {
  /** The number of live grants of a user or of a client. */
  count(of: { accountId: UserId } | { clientId: ClientId }): Promise<number>;
  /** The same user signed in again: the grants move to the new session. */
  moveToSession(before: SessionIdHash, after: SessionIdHash): Promise<void>;
  /**
   * The sessions with grants of a client, in the order of the grants' ids: the next `batch` after a grant.
   * @param after the last grant of the previous batch; undefined for the first
   */
  sessionsOfClient(clientId: ClientId, after: Sha256 | undefined, batch: number): Promise<GrantOfSession[]>;
  /** Deletes expired rows, at most `batch`. Returns the number. */
  sweep(nowMs: number, batch: number): Promise<number>;
}

/** A grant, and its session. */
export interface GrantOfSession {
  idHash: Sha256;
  foyerSession: SessionIdHash | null;
}

/** The grants of users to client apps. */
export function createGrantStore(settings: GrantRecordsSettings & GrantEndingsSettings): GrantStore {
  const { database, notices, now } = settings;
  const { db } = database;
  return {
    ...createGrantRecords(settings),
    ...createGrantEndings(settings),
    async count(of) {
      const alive = db.selectFrom('oidc').where('model', '=', 'Grant').where('expires_at', '>', now());
      const found =
        'accountId' in of ? alive.where('account_id', '=', of.accountId) : alive.where('client_id', '=', of.clientId);
      const { count } = await found.select((eb) => eb.fn.countAll().as('count')).executeTakeFirstOrThrow();
      return Number(count);
    },
    async moveToSession(before, after) {
      await database.transaction(async (trx) => {
        await trx.updateTable('oidc').set({ foyer_session: after }).where('foyer_session', '=', before).execute();
        await notices.moved(trx, before, after);
      });
    },
    async sessionsOfClient(clientId, after, batch) {
      const rows = await db
        .selectFrom('oidc')
        .select(['id_hash', 'foyer_session'])
        .where('client_id', '=', clientId)
        .where('model', '=', 'Grant')
        .where('id_hash', '>', after ?? toSha256(''))
        .orderBy('id_hash')
        .limit(batch)
        .execute();
      return rows.map(({ id_hash, foyer_session }) => ({ idHash: id_hash, foyerSession: foyer_session }));
    },
    async sweep(nowMs, batch) {
      const expired = db.selectFrom('oidc').select('id_hash').where('expires_at', '<=', nowMs).limit(batch);
      const result = await db
        .deleteFrom('oidc')
        .where('expires_at', '<=', nowMs)
        .where('id_hash', 'in', expired)
        .executeTakeFirst();
      return Number(result.numDeletedRows);
    },
  };
}

import { type ClientId, type SessionIdHash, type Sha256, toSha256, type UserId } from '../shared/index.ts';
import type { Row } from '../store/index.ts';
import { createGrantEndings, type GrantEndings, type GrantEndingsSettings } from './grant-endings.ts';
import { createGrantRecords, type GrantRecords, type GrantRecordsSettings } from './grant-records-store.ts';

export interface GrantStore extends GrantRecords, GrantEndings {
  /** The number of live grants, of a user or of a client. */
  count(of?: { accountId: UserId } | { clientId: ClientId }): Promise<number>;
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
type GrantOfSession = Pick<Row<'oidc'>, 'idHash' | 'foyerSession'>;

/** The grants of users to client apps. */
export function createGrantStore(settings: GrantRecordsSettings & GrantEndingsSettings): GrantStore {
  const { database, notices, now } = settings;
  const { db } = database;
  return {
    ...createGrantRecords(settings),
    ...createGrantEndings(settings),
    async count(of) {
      const alive = db.selectFrom('oidc').where('model', '=', 'Grant').where('expiresAt', '>', now());
      const found =
        of === undefined
          ? alive
          : 'accountId' in of
            ? alive.where('accountId', '=', of.accountId)
            : alive.where('clientId', '=', of.clientId);
      const { count } = await found.select((eb) => eb.fn.countAll().as('count')).executeTakeFirstOrThrow();
      return Number(count);
    },
    async moveToSession(before, after) {
      await database.transaction(async (trx) => {
        await trx.updateTable('oidc').set({ foyerSession: after }).where('foyerSession', '=', before).execute();
        await notices.moved(trx, before, after);
      });
    },
    sessionsOfClient: (clientId, after, batch) =>
      db
        .selectFrom('oidc')
        .select(['idHash', 'foyerSession'])
        .where('clientId', '=', clientId)
        .where('model', '=', 'Grant')
        .where('idHash', '>', after ?? toSha256(''))
        .orderBy('idHash')
        .limit(batch)
        .execute(),
    async sweep(nowMs, batch) {
      const expired = db.selectFrom('oidc').select('idHash').where('expiresAt', '<=', nowMs).limit(batch);
      const result = await db
        .deleteFrom('oidc')
        .where('expiresAt', '<=', nowMs)
        .where('idHash', 'in', expired)
        .executeTakeFirst();
      return Number(result.numDeletedRows);
    },
  };
}

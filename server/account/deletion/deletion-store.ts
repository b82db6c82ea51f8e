import type { Transaction } from 'kysely';
import type { UserId } from '../../shared/index.ts';
import { type Db, prepareOnce, type Row, type Schema } from '../../store/index.ts';
import { isEnabledUser } from '../../users/index.ts';

/** A requested deletion. Times in milliseconds since the epoch. */
type AccountDeletion = Row<'accountDeletions'>;

/** @returns false if a deletion is already requested */
export async function insertDeletion(
  trx: Transaction<Schema>,
  deletion: Omit<AccountDeletion, 'doneAt' | 'membership'>,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('accountDeletions')
    .values(deletion)
    .onConflict((conflict) => conflict.column('userId').doNothing())
    .executeTakeFirst();
  return (numInsertedOrUpdatedRows ?? 0n) > 0n;
}

const select = prepareOnce<{ userId: UserId }, AccountDeletion>((db, v) =>
  db.selectFrom('accountDeletions').selectAll().where('userId', '=', v.userId),
);

export const findDeletion = async (db: Db, userId: UserId): Promise<AccountDeletion | undefined> =>
  (await select(db, { userId })).rows[0];

/**
 * Cancels the deletion. One statement decides between this and {@link claimForErasure}.
 * @param sinceMs only a request at or after this time
 * @returns the cancelled deletion; undefined if there was none, or it is too late
 */
export async function cancelDeletion(
  trx: Transaction<Schema>,
  userId: UserId,
  sinceMs = 0,
): Promise<AccountDeletion | undefined> {
  return trx
    .deleteFrom('accountDeletions')
    .where('userId', '=', userId)
    .where('requestedAt', '>=', sinceMs)
    .where('doneAt', 'is', null)
    .returningAll()
    .executeTakeFirst();
}

/** Records how the paid membership ends, as the user chose with the request. */
export async function recordMembershipEnd(trx: Transaction<Schema>, userId: UserId, membership: string): Promise<void> {
  await trx.updateTable('accountDeletions').set({ membership }).where('userId', '=', userId).execute();
}

/** The erased ones among these users. */
export async function listErasedUsers(db: Db, userIds: readonly UserId[]): Promise<UserId[]> {
  const rows = await db
    .selectFrom('accountDeletions')
    .select('userId')
    .where('userId', 'in', userIds)
    .where('doneAt', 'is not', null)
    .execute();
  return rows.map(({ userId }) => userId);
}

/** Users whose deletion is due, the longest due first; those whom an operator has disabled wait. */
export async function listDueDeletions(db: Db, nowMs: number, max: number): Promise<UserId[]> {
  const rows = await db
    .selectFrom('accountDeletions')
    .select('userId')
    .where('dueAt', '<=', nowMs)
    .where('doneAt', 'is', null)
    .where(({ ref }) => isEnabledUser(ref('accountDeletions.userId')))
    .orderBy('dueAt')
    .limit(max)
    .execute();
  return rows.map(({ userId }) => userId);
}

/** Moves pending deletions to this time that are due before. @returns the number */
export async function postponeDeletions(trx: Transaction<Schema>, dueAt: number): Promise<number> {
  const { numUpdatedRows } = await trx
    .updateTable('accountDeletions')
    .set({ dueAt })
    .where('dueAt', '<', dueAt)
    .where('doneAt', 'is', null)
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

/** Makes a requested deletion due now. */
export async function makeDue(db: Db, userId: UserId, nowMs: number): Promise<void> {
  await db
    .updateTable('accountDeletions')
    .set({ dueAt: nowMs })
    .where('userId', '=', userId)
    .where('doneAt', 'is', null)
    .execute();
}

/** From here on the deletion cannot be cancelled. @returns false if it was cancelled, or is already done */
export async function claimForErasure(trx: Transaction<Schema>, userId: UserId, nowMs: number): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('accountDeletions')
    .set({ doneAt: nowMs })
    .where('userId', '=', userId)
    .where('dueAt', '<=', nowMs)
    .where('doneAt', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

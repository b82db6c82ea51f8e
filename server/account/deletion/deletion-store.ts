import type { Selectable, Transaction } from 'kysely';
import type { UserId } from '../../shared/index.ts';
import type { AccountDeletionTable, Db, Schema } from '../../store/index.ts';
import { isEnabledUser } from '../../users/index.ts';

/** A requested deletion. Times in milliseconds since the epoch. */
export interface AccountDeletion {
  userId: UserId;
  requestedAt: number;
  dueAt: number;
  /** null: not yet done, and the user can still stay. */
  doneAt: number | null;
  /** How the paid membership ends, in the format of billing/; null: there was none that renews. */
  membership: string | null;
}

function fromRow(row: Selectable<AccountDeletionTable>): AccountDeletion {
  return {
    userId: row.user_id,
    requestedAt: row.requested_at,
    dueAt: row.due_at,
    doneAt: row.done_at,
    membership: row.membership,
  };
}

/** @returns false if a deletion is already requested */
export async function insertDeletion(
  trx: Transaction<Schema>,
  { userId, requestedAt, dueAt }: Omit<AccountDeletion, 'doneAt' | 'membership'>,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('account_deletions')
    .values({ user_id: userId, requested_at: requestedAt, due_at: dueAt, done_at: null })
    .onConflict((conflict) => conflict.column('user_id').doNothing())
    .executeTakeFirst();
  return (numInsertedOrUpdatedRows ?? 0n) > 0n;
}

export async function findDeletion(db: Db, userId: UserId): Promise<AccountDeletion | undefined> {
  const row = await db.selectFrom('account_deletions').selectAll().where('user_id', '=', userId).executeTakeFirst();
  return row && fromRow(row);
}

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
  const row = await trx
    .deleteFrom('account_deletions')
    .where('user_id', '=', userId)
    .where('requested_at', '>=', sinceMs)
    .where('done_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
  return row && fromRow(row);
}

/** Records how the paid membership ends, as the user chose with the request. */
export async function recordMembershipEnd(trx: Transaction<Schema>, userId: UserId, membership: string): Promise<void> {
  await trx.updateTable('account_deletions').set({ membership }).where('user_id', '=', userId).execute();
}

/** The erased ones among these users. */
export async function listErasedUsers(db: Db, userIds: readonly UserId[]): Promise<UserId[]> {
  const rows = await db
    .selectFrom('account_deletions')
    .select('user_id')
    .where('user_id', 'in', userIds)
    .where('done_at', 'is not', null)
    .execute();
  return rows.map(({ user_id }) => user_id);
}

/** Users whose deletion is due, the longest due first; those whom an operator has disabled wait. */
export async function listDueDeletions(db: Db, nowMs: number, max: number): Promise<UserId[]> {
  const rows = await db
    .selectFrom('account_deletions')
    .select('user_id')
    .where('due_at', '<=', nowMs)
    .where('done_at', 'is', null)
    .where(({ ref }) => isEnabledUser(ref('account_deletions.user_id')))
    .orderBy('due_at')
    .limit(max)
    .execute();
  return rows.map(({ user_id }) => user_id);
}

/** From here on the deletion cannot be cancelled. @returns false if it was cancelled, or is already done */
export async function claimForErasure(trx: Transaction<Schema>, userId: UserId, nowMs: number): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('account_deletions')
    .set({ done_at: nowMs })
    .where('user_id', '=', userId)
    .where('due_at', '<=', nowMs)
    .where('done_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

import type { Transaction } from 'kysely';
import type { Sha256, UserId } from '../../shared/index.ts';
import { type Db, type FactorResetTable, type Schema, uuidv7 } from '../../store/index.ts';

/** An operator's reset of a user's second factor. Times in milliseconds since the epoch. */
export interface FactorReset {
  id: string;
  userId: UserId;
  state: 'waiting' | 'cancelled' | 'done';
  requestedAt: number;
  dueAt: number;
  endedAt: number | null;
}

const fromRow = (row: FactorResetTable): FactorReset => ({
  id: row.id,
  userId: row.user_id,
  state: row.state as FactorReset['state'],
  requestedAt: row.requested_at,
  dueAt: row.due_at,
  endedAt: row.ended_at,
});

/** @param tokenHash SHA-256 of the token in the cancel links */
export async function insertFactorReset(
  trx: Transaction<Schema>,
  { userId, tokenHash, dueAt }: { userId: UserId; tokenHash: Sha256; dueAt: number },
  nowMs: number,
): Promise<FactorReset> {
  const row: FactorResetTable = {
    id: uuidv7(nowMs),
    user_id: userId,
    token_hash: tokenHash,
    state: 'waiting',
    requested_at: nowMs,
    due_at: dueAt,
    ended_at: null,
  };
  await trx.insertInto('factor_resets').values(row).execute();
  return fromRow(row);
}

/** A pending one. */
export async function findWaitingReset(
  db: Db,
  of: { userId: UserId } | { id: string; tokenHash: Sha256 },
): Promise<FactorReset | undefined> {
  const from = db.selectFrom('factor_resets').selectAll().where('state', '=', 'waiting');
  const row =
    'userId' in of
      ? await from.where('user_id', '=', of.userId).orderBy('due_at').executeTakeFirst()
      : await from.where('id', '=', of.id).where('token_hash', '=', of.tokenHash).executeTakeFirst();
  return row && fromRow(row);
}

/** Pending resets, the first due first. */
export async function listPendingResets(
  db: Db,
  { dueBy, max }: { dueBy?: number; max: number },
): Promise<FactorReset[]> {
  const rows = await db
    .selectFrom('factor_resets')
    .selectAll()
    .where('state', '=', 'waiting')
    .$if(dueBy !== undefined, (query) => query.where('due_at', '<=', dueBy as number))
    .orderBy('due_at')
    .limit(max)
    .execute();
  return rows.map(fromRow);
}

const endWaiting = (trx: Transaction<Schema>, state: 'cancelled' | 'done', nowMs: number) =>
  trx.updateTable('factor_resets').set({ state, ended_at: nowMs }).where('state', '=', 'waiting');

/**
 * Cancels them. One statement decides between this and {@link markResetDone}.
 * @param sinceMs only requests at or after this time
 * @returns whether one was pending
 */
export async function cancelWaitingResets(
  trx: Transaction<Schema>,
  { userId, nowMs, sinceMs = 0 }: { userId: UserId; nowMs: number; sinceMs?: number },
): Promise<boolean> {
  const { numUpdatedRows } = await endWaiting(trx, 'cancelled', nowMs)
    .where('user_id', '=', userId)
    .where('requested_at', '>=', sinceMs)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** @returns false if it was cancelled, is already done, or is not due */
export async function markResetDone(trx: Transaction<Schema>, id: string, nowMs: number): Promise<boolean> {
  const { numUpdatedRows } = await endWaiting(trx, 'done', nowMs)
    .where('id', '=', id)
    .where('due_at', '<=', nowMs)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** All of a user's, for the export. */
export async function listFactorResets(db: Db, userId: UserId): Promise<Omit<FactorReset, 'id' | 'userId'>[]> {
  const rows = await db
    .selectFrom('factor_resets')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('requested_at')
    .execute();
  return rows.map(fromRow).map(({ id: _, userId: __, ...reset }) => reset);
}

export async function eraseFactorResets(trx: Transaction<Schema>, userId: UserId): Promise<void> {
  await trx.deleteFrom('factor_resets').where('user_id', '=', userId).execute();
}

import type { Transaction } from 'kysely';
import type { Sha256, UserId } from '../../shared/index.ts';
import { type Db, type Row, type Schema, uuidv7 } from '../../store/index.ts';

const columns = ['id', 'userId', 'state', 'requestedAt', 'dueAt', 'endedAt'] as const;

/** An operator's reset of a user's second factor. Times in milliseconds since the epoch. */
export type FactorReset = Pick<Row<'factorResets'>, (typeof columns)[number]>;

/** @param tokenHash SHA-256 of the token in the cancel links */
export async function insertFactorReset(
  trx: Transaction<Schema>,
  { userId, tokenHash, dueAt }: { userId: UserId; tokenHash: Sha256; dueAt: number },
  nowMs: number,
): Promise<FactorReset> {
  const reset = { id: uuidv7(nowMs), userId, state: 'waiting', requestedAt: nowMs, dueAt, endedAt: null } as const;
  await trx
    .insertInto('factorResets')
    .values({ ...reset, tokenHash })
    .execute();
  return reset;
}

/** A pending one. */
export async function findWaitingReset(
  db: Db,
  of: { userId: UserId } | { id: string; tokenHash: Sha256 },
): Promise<FactorReset | undefined> {
  const from = db.selectFrom('factorResets').select(columns).where('state', '=', 'waiting');
  return 'userId' in of
    ? from.where('userId', '=', of.userId).orderBy('dueAt').executeTakeFirst()
    : from.where('id', '=', of.id).where('tokenHash', '=', of.tokenHash).executeTakeFirst();
}

/** Pending resets, the first due first. */
export async function listPendingResets(
  db: Db,
  { dueBy, max }: { dueBy?: number; max: number },
): Promise<FactorReset[]> {
  return db
    .selectFrom('factorResets')
    .select(columns)
    .where('state', '=', 'waiting')
    .$if(dueBy !== undefined, (query) => query.where('dueAt', '<=', dueBy as number))
    .orderBy('dueAt')
    .limit(max)
    .execute();
}

const endWaiting = (trx: Transaction<Schema>, state: 'cancelled' | 'done', nowMs: number) =>
  trx.updateTable('factorResets').set({ state, endedAt: nowMs }).where('state', '=', 'waiting');

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
    .where('userId', '=', userId)
    .where('requestedAt', '>=', sinceMs)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Cancels all pending ones. @returns the number */
export async function cancelEveryReset(trx: Transaction<Schema>, nowMs: number): Promise<number> {
  return Number((await endWaiting(trx, 'cancelled', nowMs).executeTakeFirst()).numUpdatedRows);
}

/** @returns false if it was cancelled, is already done, or is not due */
export async function markResetDone(trx: Transaction<Schema>, id: string, nowMs: number): Promise<boolean> {
  const { numUpdatedRows } = await endWaiting(trx, 'done', nowMs)
    .where('id', '=', id)
    .where('dueAt', '<=', nowMs)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** All of a user's, for the export. */
export async function listFactorResets(db: Db, userId: UserId): Promise<Omit<FactorReset, 'id' | 'userId'>[]> {
  return db
    .selectFrom('factorResets')
    .select(['state', 'requestedAt', 'dueAt', 'endedAt'])
    .where('userId', '=', userId)
    .orderBy('requestedAt')
    .execute();
}

export async function eraseFactorResets(trx: Transaction<Schema>, userId: UserId): Promise<void> {
  await trx.deleteFrom('factorResets').where('userId', '=', userId).execute();
}

import type { Selectable, Transaction } from 'kysely';
import { minuteMs, toUserId, type UserId } from '../shared/index.ts';
import { type BillingTaskTable, type Db, type Schema, uuidv7 } from '../store/index.ts';

/**
 * A task that must still be done at Stripe: end a subscription at once or at its period's end, let it go on as it was settled before
 * a member wanted to leave (keep), take back the end or the change that was to come (resume), forget a customer.
 */
export type BillingTaskKind = 'cancel-now' | 'cancel-later' | 'keep' | 'resume' | 'delete-customer';

/** Times in milliseconds since the epoch. */
export interface BillingTask {
  id: string;
  kind: BillingTaskKind;
  /** null: the member is erased, and `customerId` is all that is left. */
  userId: UserId | null;
  customerId: string | null;
  /** keep: the plan to which the member changes at the period's end, as was settled before; null: to none. */
  planId: string | null;
  attempts: number;
  lastError: string | null;
  nextAttemptAt: number;
  createdAt: number;
}

/** The column is never null. */
const nobody = toUserId('');

function fromRow(row: Selectable<BillingTaskTable>): BillingTask {
  return {
    id: row.id,
    kind: row.kind as BillingTaskKind,
    userId: row.user_id === nobody ? null : row.user_id,
    customerId: row.customer_id,
    planId: row.plan_id,
    attempts: row.attempts,
    lastError: row.last_error,
    nextAttemptAt: row.next_attempt_at,
    createdAt: row.created_at,
  };
}

/** What the new one makes pointless: the last word counts, but nothing takes back what ends at once. */
const overtaken: Record<Exclude<BillingTaskKind, 'delete-customer'>, readonly BillingTaskKind[]> = {
  'cancel-later': ['cancel-later', 'keep', 'resume'],
  keep: ['cancel-later', 'keep', 'resume'],
  resume: ['cancel-later', 'keep', 'resume'],
  'cancel-now': ['cancel-later', 'keep', 'resume', 'cancel-now'],
};

/**
 * Decided in this transaction, done at Stripe after it. A task to forget a customer is kept without the member, of whom
 * nothing may be left.
 */
export async function addBillingTask(
  trx: Transaction<Schema>,
  {
    kind,
    userId,
    customerId,
    planId = null,
  }: { kind: BillingTaskKind; userId: UserId; customerId: string | null; planId?: string | null },
  nowMs: number,
): Promise<BillingTask> {
  if (kind === 'delete-customer') await eraseTasks(trx, userId);
  else
    await trx.deleteFrom('billing_tasks').where('user_id', '=', userId).where('kind', 'in', overtaken[kind]).execute();
  const row: Selectable<BillingTaskTable> = {
    id: uuidv7(nowMs),
    kind,
    user_id: kind === 'delete-customer' ? nobody : userId,
    customer_id: customerId,
    plan_id: planId,
    attempts: 0,
    last_error: null,
    next_attempt_at: nowMs,
    created_at: nowMs,
  };
  await trx.insertInto('billing_tasks').values(row).execute();
  return fromRow(row);
}

/** Whether it is still to be done. */
export async function isWaiting(db: Db, id: string): Promise<boolean> {
  const row = await db.selectFrom('billing_tasks').select('id').where('id', '=', id).executeTakeFirst();
  return row !== undefined;
}

/** Those that were decided before this moment and are still to be done, the oldest first. */
export async function tasksSince(db: Db, beforeMs: number, max: number): Promise<BillingTask[]> {
  const rows = await db
    .selectFrom('billing_tasks')
    .selectAll()
    .where('created_at', '<=', beforeMs)
    .orderBy('created_at')
    .orderBy('id')
    .limit(max)
    .execute();
  return rows.map(fromRow);
}

/** The longest due first. */
export async function listDueTasks(db: Db, nowMs: number, max: number): Promise<BillingTask[]> {
  const rows = await db
    .selectFrom('billing_tasks')
    .selectAll()
    .where('next_attempt_at', '<=', nowMs)
    .orderBy('next_attempt_at')
    .orderBy('id')
    .limit(max)
    .execute();
  return rows.map(fromRow);
}

/** Whether Stripe is still to forget this customer. */
export async function hasPendingDeletion(db: Db, customerId: string): Promise<boolean> {
  const row = await db
    .selectFrom('billing_tasks')
    .select('id')
    .where('kind', '=', 'delete-customer')
    .where('customer_id', '=', customerId)
    .executeTakeFirst();
  return row !== undefined;
}

export async function completeTask(db: Db, id: string): Promise<void> {
  await db.deleteFrom('billing_tasks').where('id', '=', id).execute();
}

const longestMs = 60 * minuteMs;

/** It did not work: again after a minute, two, four … at most an hour. It is never given up. */
export async function rescheduleTask(
  db: Db,
  { id, attempts }: Pick<BillingTask, 'id' | 'attempts'>,
  error: string,
  nowMs: number,
): Promise<void> {
  await db
    .updateTable('billing_tasks')
    .set({
      attempts: attempts + 1,
      last_error: error.slice(0, 200),
      next_attempt_at: nowMs + Math.min(longestMs, minuteMs * 2 ** Math.min(attempts, 10)),
    })
    .where('id', '=', id)
    .execute();
}

export async function eraseTasks(trx: Transaction<Schema>, userId: UserId): Promise<void> {
  await trx.deleteFrom('billing_tasks').where('user_id', '=', userId).execute();
}

/** Of a member: for the copy of their data. */
export async function listTasks(db: Db, userId: UserId): Promise<BillingTask[]> {
  const rows = await db.selectFrom('billing_tasks').selectAll().where('user_id', '=', userId).orderBy('id').execute();
  return rows.map(fromRow);
}

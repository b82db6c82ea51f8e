import type { Selectable, Transaction } from 'kysely';
import { minuteMs, type PlanId, type StripeCustomerId, toUserId, type UserId } from '../../shared/index.ts';
import { type BillingTaskTable, type Db, type Schema, uuidv7 } from '../../store/index.ts';

/**
 * A task that must still be done at Stripe: end a subscription at once or at its period's end, restore its state from
 * before a request for deletion (keep), cancel the scheduled end or change (resume), delete a customer.
 */
export type BillingTaskKind = 'cancel-now' | 'cancel-later' | 'keep' | 'resume' | 'delete-customer';

/** Times in milliseconds since the epoch. */
export interface BillingTask {
  id: string;
  kind: BillingTaskKind;
  /** null: the user is deleted, and only `customerId` is left. */
  userId: UserId | null;
  customerId: StripeCustomerId | null;
  /** keep: the plan of a change that was scheduled before; null: none. */
  planId: PlanId | null;
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

/** The tasks that a new one replaces: the last one counts, but an immediate end cannot be replaced. */
const overtaken: Record<Exclude<BillingTaskKind, 'delete-customer'>, readonly BillingTaskKind[]> = {
  'cancel-later': ['cancel-later', 'keep', 'resume'],
  keep: ['cancel-later', 'keep', 'resume'],
  resume: ['cancel-later', 'keep', 'resume'],
  'cancel-now': ['cancel-later', 'keep', 'resume', 'cancel-now'],
};

/**
 * Decided in this transaction, done at Stripe after it. A task to delete a customer has no user, because nothing of a
 * deleted user may remain.
 */
export async function addBillingTask(
  trx: Transaction<Schema>,
  {
    kind,
    userId,
    customerId,
    planId = null,
  }: { kind: BillingTaskKind; userId: UserId; customerId: StripeCustomerId | null; planId?: PlanId | null },
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

/** Tests whether it is still open. */
export async function isWaiting(db: Db, id: string): Promise<boolean> {
  const row = await db.selectFrom('billing_tasks').select('id').where('id', '=', id).executeTakeFirst();
  return row !== undefined;
}

/** Open tasks from before this time, the oldest first. */
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

/** Tests whether this customer is still to be deleted at Stripe. */
export async function hasPendingDeletion(db: Db, customerId: StripeCustomerId): Promise<boolean> {
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

/** After a failure: again after a minute, two, four … at most an hour. It is never given up. */
export async function rescheduleTask(
  db: Db,
  { id, attempts }: Pick<BillingTask, 'id' | 'attempts'>,
  { error, nowMs }: { error: string; nowMs: number },
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

/** Tasks of a user: for the export. */
export async function listTasks(db: Db, userId: UserId): Promise<BillingTask[]> {
  const rows = await db.selectFrom('billing_tasks').selectAll().where('user_id', '=', userId).orderBy('id').execute();
  return rows.map(fromRow);
}

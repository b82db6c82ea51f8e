import type { Transaction } from 'kysely';
import { minuteMs, type PlanId, type StripeCustomerId, toUserId, type UserId } from '../../shared/index.ts';
import { type Db, type Row, type Schema, uuidv7 } from '../../store/index.ts';

/**
 * A task that must still be done at Stripe: end a subscription at once or at its period's end, change to another plan
 * then (change-later), pause it then (pause), restore its state from before a request for deletion (keep), cancel the scheduled end, change
 * or pause (resume), refund an invoice, create the customer and trial of a new member (ensure-customer), delete a customer.
 */
export type BillingTaskKind = Row<'billingTasks'>['kind'];

/** The price that a page has announced for a plan. */
export interface AnnouncedPrice {
  planId: PlanId;
  priceId: string;
  /** For so many seats; undefined: one, or the plan has none. */
  seats?: number | undefined;
}

/** The seats of a plan that were announced with its price. */
export const announcedSeats = (prices: readonly AnnouncedPrice[], planId: PlanId | null | undefined): number =>
  prices.find((one) => one.planId === planId)?.seats ?? 1;

/** The detail of `change-later` and of `resume`. */
export interface LaterChange {
  /** They count, also if an operator raises them before it is done. */
  prices: readonly AnnouncedPrice[];
  /** The user has asked for it; else it follows from a purchase. */
  byUser: boolean;
  /** The later amounts that the page of a resumption has named (`toLaterAmounts`). */
  laterAmounts?: string | undefined;
}

/** Times in milliseconds since the epoch. */
export type BillingTask = Omit<Row<'billingTasks'>, 'userId'> & {
  /** null: the user is deleted, and only `customerId` is left. */
  userId: UserId | null;
};

/** A task that is carried out in the act that has just read the user at Stripe. */
export type FreshTask = BillingTask & { read?: { version: number } };

/** The column is never null. */
const noUser = toUserId('');

const toBillingTask = (row: Row<'billingTasks'>): BillingTask => ({
  ...row,
  userId: row.userId === noUser ? null : row.userId,
});

const atPeriodEnd: readonly BillingTaskKind[] = ['cancel-later', 'change-later', 'keep', 'resume', 'pause'];

/** The tasks that a new one replaces: the last one counts, but an immediate end cannot be replaced. */
const overtaken: Record<Exclude<BillingTaskKind, 'delete-customer'>, readonly BillingTaskKind[]> = {
  'cancel-later': atPeriodEnd,
  'change-later': atPeriodEnd,
  keep: atPeriodEnd,
  resume: atPeriodEnd,
  pause: atPeriodEnd,
  'cancel-now': [...atPeriodEnd, 'cancel-now'],
  refund: [],
  'ensure-customer': ['ensure-customer'],
};

async function replaceTasks(trx: Transaction<Schema>, kind: BillingTaskKind, userId: UserId): Promise<void> {
  if (kind === 'delete-customer') return eraseTasks(trx, userId);
  const kinds = overtaken[kind];
  if (kinds.length > 0)
    await trx.deleteFrom('billingTasks').where('userId', '=', userId).where('kind', 'in', kinds).execute();
}

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
    detail = null,
    dueAt,
  }: {
    kind: BillingTaskKind;
    userId: UserId | null;
    customerId: StripeCustomerId | null;
    planId?: PlanId | null;
    detail?: string | null;
    /** By default at once. */
    dueAt?: number;
  },
  nowMs: number,
): Promise<BillingTask> {
  if (userId !== null) await replaceTasks(trx, kind, userId);
  const row = await trx
    .insertInto('billingTasks')
    .values({
      id: uuidv7(nowMs),
      kind,
      userId: kind === 'delete-customer' || userId === null ? noUser : userId,
      customerId,
      planId,
      detail,
      attempts: 0,
      nextAttemptAt: dueAt ?? nowMs,
      createdAt: nowMs,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return toBillingTask(row);
}

/** Tests whether it is still open. */
export async function isWaiting(db: Db, id: string): Promise<boolean> {
  const row = await db.selectFrom('billingTasks').select('id').where('id', '=', id).executeTakeFirst();
  return row !== undefined;
}

/** The number of open tasks. */
export async function countTasks(db: Db): Promise<number> {
  const row = await db
    .selectFrom('billingTasks')
    .select(({ fn }) => fn.countAll().as('tasks'))
    .executeTakeFirst();
  return Number(row?.tasks ?? 0);
}

/** Open tasks that were due before this time, the oldest first; without the customers of an import that are still to come. */
export async function tasksSince(db: Db, beforeMs: number, max: number): Promise<BillingTask[]> {
  const rows = await db
    .selectFrom('billingTasks')
    .selectAll()
    .where('createdAt', '<=', beforeMs)
    .where(({ or, eb }) => or([eb('attempts', '>', 0), eb('nextAttemptAt', '<=', beforeMs)]))
    .where((eb) => eb.or([eb('kind', '!=', 'ensure-customer'), eb('attempts', '>', 0)]))
    .orderBy('createdAt')
    .orderBy('id')
    .limit(max)
    .execute();
  return rows.map(toBillingTask);
}

const selectDue = (db: Db, nowMs: number, max: number) =>
  db
    .selectFrom('billingTasks')
    .selectAll()
    .where('nextAttemptAt', '<=', nowMs)
    .orderBy('nextAttemptAt')
    .orderBy('id')
    .limit(max);

/** Without those that create customers; the longest due first. */
export async function listDueTasks(db: Db, nowMs: number, max: number): Promise<BillingTask[]> {
  const rows = await selectDue(db, nowMs, max).where('kind', '!=', 'ensure-customer').execute();
  return rows.map(toBillingTask);
}

/** New members without a customer. A list of its own: an import may add a hundred thousand. */
export async function listDueCustomers(db: Db, nowMs: number, max: number): Promise<BillingTask[]> {
  const rows = await selectDue(db, nowMs, max).where('kind', '=', 'ensure-customer').execute();
  return rows.map(toBillingTask);
}

/** Tests whether this customer is still to be deleted at Stripe. */
export async function hasPendingDeletion(db: Db, customerId: StripeCustomerId): Promise<boolean> {
  const row = await db
    .selectFrom('billingTasks')
    .select('id')
    .where('kind', '=', 'delete-customer')
    .where('customerId', '=', customerId)
    .executeTakeFirst();
  return row !== undefined;
}

/** Writes what is known about a task. */
export async function saveDetail(db: Db, { id }: Pick<BillingTask, 'id'>, detail: string | null): Promise<void> {
  await db.updateTable('billingTasks').set({ detail }).where('id', '=', id).execute();
}

export async function completeTask(db: Db, id: string): Promise<void> {
  await db.deleteFrom('billingTasks').where('id', '=', id).execute();
}

const longestMs = 60 * minuteMs;

/** After a failure: again after a minute, two, four … at most an hour. It is never given up. */
export async function rescheduleTask(
  db: Db,
  { id, attempts }: Pick<BillingTask, 'id' | 'attempts'>,
  { error, nowMs }: { error: string; nowMs: number },
): Promise<void> {
  await db
    .updateTable('billingTasks')
    .set({
      attempts: attempts + 1,
      lastError: error.slice(0, 200),
      nextAttemptAt: nowMs + Math.min(longestMs, minuteMs * 2 ** Math.min(attempts, 10)),
    })
    .where('id', '=', id)
    .execute();
}

/** A refund that still waits belongs to no user any more. */
export async function eraseTasks(trx: Transaction<Schema>, userId: UserId): Promise<void> {
  await trx
    .updateTable('billingTasks')
    .set({ userId: noUser })
    .where('userId', '=', userId)
    .where('kind', '=', 'refund')
    .execute();
  await trx.deleteFrom('billingTasks').where('userId', '=', userId).execute();
}

/** The refunds of a customer that are not made yet. */
export async function listRefunds(db: Db, customerId: StripeCustomerId): Promise<BillingTask[]> {
  const rows = await db
    .selectFrom('billingTasks')
    .selectAll()
    .where('kind', '=', 'refund')
    .where('customerId', '=', customerId)
    .orderBy('id')
    .execute();
  return rows.map(toBillingTask);
}

/** Tasks of a user: for the export. */
export async function listTasks(db: Db, userId: UserId): Promise<BillingTask[]> {
  const rows = await db.selectFrom('billingTasks').selectAll().where('userId', '=', userId).orderBy('id').execute();
  return rows.map(toBillingTask);
}

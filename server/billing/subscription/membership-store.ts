import type { Selectable, Transaction } from 'kysely';
import type { PlanId, StripeCustomerId, StripeSubscriptionId, UserId } from '../../shared/index.ts';
import type { Db, MembershipTable, Schema } from '../../store/index.ts';
import { parseColumn, storedValues } from '../stripe/stored-values.ts';
import type { Membership, SubscriptionStatus } from './membership.ts';

const written = (value: unknown) => (value === null ? null : JSON.stringify(value));

export function toMembership(row: Selectable<MembershipTable>): Membership {
  return {
    userId: row.user_id,
    customerId: row.customer_id,
    customerAskedAt: row.customer_asked_at,
    trialDays: row.trial_days,
    subscriptionId: row.subscription_id,
    generation: row.generation,
    status: row.status as SubscriptionStatus,
    pricedPlanId: row.priced_plan_id,
    periodStart: row.period_start,
    periodEnd: row.period_end,
    trialEnd: row.trial_end,
    cancelAtPeriodEnd: row.cancel_at_period_end === 1,
    nextPlanId: row.next_plan_id,
    paidPlanId: row.paid_plan_id,
    paidUntil: row.paid_until,
    basePlanId: row.base_plan_id,
    card: parseColumn(storedValues.card, row.card),
    discount: parseColumn(storedValues.discount, row.discount),
    unpaid: parseColumn(storedValues.unpaid, row.unpaid),
    unpaidSince: row.unpaid_since,
    pending: parseColumn(storedValues.pending, row.pending),
    contact: parseColumn(storedValues.contact, row.contact),
    version: row.version,
    syncedAt: row.synced_at,
  };
}

export async function findMembership(db: Db, userId: UserId): Promise<Membership | undefined> {
  const row = await db.selectFrom('memberships').selectAll().where('user_id', '=', userId).executeTakeFirst();
  return row && toMembership(row);
}

export async function findMembershipByCustomer(db: Db, customerId: StripeCustomerId): Promise<Membership | undefined> {
  const row = await db.selectFrom('memberships').selectAll().where('customer_id', '=', customerId).executeTakeFirst();
  return row && toMembership(row);
}

export async function findMembershipBySubscription(
  db: Db,
  subscriptionId: StripeSubscriptionId,
): Promise<Membership | undefined> {
  const row = await db
    .selectFrom('memberships')
    .selectAll()
    .where('subscription_id', '=', subscriptionId)
    .executeTakeFirst();
  return row && toMembership(row);
}

/** Adds the user's row; an existing one stays unchanged. */
export async function insertMembership(db: Db, userId: UserId, nowMs: number): Promise<Membership> {
  const row: Selectable<MembershipTable> = {
    user_id: userId,
    customer_id: null,
    customer_asked_at: null,
    trial_days: 0,
    subscription_id: null,
    generation: 0,
    status: 'none',
    priced_plan_id: null,
    period_start: null,
    period_end: null,
    trial_end: null,
    cancel_at_period_end: 0,
    next_plan_id: null,
    paid_plan_id: null,
    paid_until: null,
    base_plan_id: null,
    card: null,
    discount: null,
    unpaid: null,
    unpaid_since: null,
    pending: null,
    contact: null,
    contact_at: null,
    version: 0,
    synced_at: null,
    created_at: nowMs,
    updated_at: nowMs,
  };
  await db
    .insertInto('memberships')
    .values(row)
    .onConflict((conflict) => conflict.column('user_id').doNothing())
    .execute();
  const found = await findMembership(db, userId);
  if (!found) throw new Error('a membership that was just written is not there');
  return found;
}

/** The part that is read from Stripe. */
export type Snapshot = Pick<
  Membership,
  | 'status'
  | 'pricedPlanId'
  | 'periodStart'
  | 'periodEnd'
  | 'trialEnd'
  | 'cancelAtPeriodEnd'
  | 'nextPlanId'
  | 'paidPlanId'
  | 'paidUntil'
  | 'card'
  | 'discount'
  | 'unpaid'
  | 'unpaidSince'
  | 'pending'
> & { customerId: StripeCustomerId | null; subscriptionId: StripeSubscriptionId | null; generation: number };

/**
 * Writes a snapshot if the row still has the version from before the read. @returns false: a parallel write was faster
 */
export async function writeSnapshot(
  trx: Transaction<Schema>,
  { before, snapshot }: { before: Pick<Membership, 'userId' | 'version'>; snapshot: Snapshot },
  nowMs: number,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('memberships')
    .set({
      customer_id: snapshot.customerId,
      subscription_id: snapshot.subscriptionId,
      generation: snapshot.generation,
      status: snapshot.status,
      priced_plan_id: snapshot.pricedPlanId,
      period_start: snapshot.periodStart,
      period_end: snapshot.periodEnd,
      trial_end: snapshot.trialEnd,
      cancel_at_period_end: snapshot.cancelAtPeriodEnd ? 1 : 0,
      next_plan_id: snapshot.nextPlanId,
      paid_plan_id: snapshot.paidPlanId,
      paid_until: snapshot.paidUntil,
      card: written(snapshot.card),
      discount: written(snapshot.discount),
      unpaid: written(snapshot.unpaid),
      unpaid_since: snapshot.unpaidSince,
      pending: written(snapshot.pending),
      version: before.version + 1,
      synced_at: nowMs,
      updated_at: nowMs,
    })
    .where('user_id', '=', before.userId)
    .where('version', '=', before.version)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** The user's plan without a subscription. */
export async function setBasePlan(
  trx: Transaction<Schema>,
  { userId, planId }: { userId: UserId; planId: PlanId | null },
  nowMs: number,
): Promise<void> {
  await trx
    .updateTable('memberships')
    .set(({ eb }) => ({ base_plan_id: planId, version: eb('version', '+', 1), updated_at: nowMs }))
    .where('user_id', '=', userId)
    .execute();
}

/**
 * Reads no other column: what a release stored differently must not keep an account from being erased.
 * @returns the customer at Stripe, who is still to be deleted
 */
export async function eraseMembership(trx: Transaction<Schema>, userId: UserId): Promise<StripeCustomerId | null> {
  const row = await trx
    .selectFrom('memberships')
    .select('customer_id')
    .where('user_id', '=', userId)
    .executeTakeFirst();
  await trx.deleteFrom('memberships').where('user_id', '=', userId).execute();
  await trx.deleteFrom('told_members').where('user_id', '=', userId).execute();
  return row?.customer_id ?? null;
}

import type { Transaction } from 'kysely';
import type { PlanId, StripeCustomerId, StripeSubscriptionId, UserId } from '../../shared/index.ts';
import type { Db, Row, Schema } from '../../store/index.ts';
import { announcedSeats, type BillingTask, listTasks } from '../jobs/task-store.ts';
import { parseColumn, storedValues } from '../stripe/stored-values.ts';
import { toStoredSeats } from '../stripe/stripe-objects.ts';
import { asDecided, continuingTasks, type Membership } from './membership.ts';
import { withRefundAtEnd } from './notice-rules.ts';

const written = (value: unknown) => (value === null ? null : JSON.stringify(value));

export const toMembership = ({
  contactAt: _,
  createdAt: __,
  updatedAt: ___,
  ...row
}: Row<'memberships'>): Membership => ({
  ...row,
  cancelAtPeriodEnd: row.cancelAtPeriodEnd === 1,
  card: parseColumn(storedValues.card, row.card),
  discount: parseColumn(storedValues.discount, row.discount),
  customerDiscount: parseColumn(storedValues.customerDiscount, row.customerDiscount),
  unpaid: parseColumn(storedValues.unpaid, row.unpaid),
  pending: parseColumn(storedValues.pending, row.pending),
  price: parseColumn(storedValues.price, row.price),
  nextCharge: parseColumn(storedValues.nextCharge, row.nextCharge),
  contact: parseColumn(storedValues.contact, row.contact),
  pause: parseColumn(storedValues.pause, row.pause),
});

export async function findMembership(db: Db, userId: UserId): Promise<Membership | undefined> {
  const row = await db.selectFrom('memberships').selectAll().where('userId', '=', userId).executeTakeFirst();
  return row && toMembership(row);
}

const isUsersChange = ({ kind, detail }: BillingTask): boolean =>
  kind === 'change-later' && parseColumn(storedValues.laterChange, detail)?.byUser === true;

/** The seats of a later plan that Stripe does not have yet. */
function withNextSeats(membership: Membership, tasks: readonly BillingTask[]): Membership {
  const { planId, detail } = tasks.find(({ kind }) => continuingTasks.has(kind)) ?? {};
  if (!planId || !detail || membership.nextPlanId !== planId) return membership;
  const { prices = [] } = parseColumn(storedValues.laterChange, detail) ?? {};
  return { ...membership, nextSeats: toStoredSeats(announcedSeats(prices, planId)) };
}

/** As last read, with the requests since. */
export async function findStanding({ db }: { db: Db }, userId: UserId): Promise<Membership | undefined> {
  const membership = await findMembership(db, userId);
  if (!membership) return undefined;
  const tasks = await listTasks(db, userId);
  if (tasks.length === 0) return membership;
  const decided = withRefundAtEnd(withNextSeats(asDecided(membership, tasks), tasks), tasks);
  if (decided.noted !== undefined) return decided;
  const pause = tasks.find(({ kind }) => kind === 'pause');
  if (pause) return { ...decided, noted: 'pause', pause: parseColumn(storedValues.pauseRequest, pause.detail) };
  return tasks.some(isUsersChange) ? { ...decided, noted: 'change' } : decided;
}

export async function findMembershipByCustomer(db: Db, customerId: StripeCustomerId): Promise<Membership | undefined> {
  const row = await db.selectFrom('memberships').selectAll().where('customerId', '=', customerId).executeTakeFirst();
  return row && toMembership(row);
}

export async function findMembershipBySubscription(
  db: Db,
  subscriptionId: StripeSubscriptionId,
): Promise<Membership | undefined> {
  const row = await db
    .selectFrom('memberships')
    .selectAll()
    .where('subscriptionId', '=', subscriptionId)
    .executeTakeFirst();
  return row && toMembership(row);
}

/** Adds the user's row; an existing one stays unchanged. */
export async function insertMembership(db: Db, userId: UserId, nowMs: number): Promise<Membership> {
  await db
    .insertInto('memberships')
    .values({
      userId,
      trialDays: 0,
      generation: 0,
      status: 'none',
      cancelAtPeriodEnd: 0,
      balanceCents: 0,
      version: 0,
      createdAt: nowMs,
      updatedAt: nowMs,
    })
    .onConflict((conflict) => conflict.column('userId').doNothing())
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
  | 'nextSeats'
  | 'seats'
  | 'triedPlanId'
  | 'triedUntil'
  | 'paidPlanId'
  | 'paidUntil'
  | 'card'
  | 'discount'
  | 'customerDiscount'
  | 'unpaid'
  | 'unpaidSince'
  | 'pending'
  | 'price'
  | 'nextCharge'
  | 'pause'
  | 'balanceCents'
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
      customerId: snapshot.customerId,
      subscriptionId: snapshot.subscriptionId,
      generation: snapshot.generation,
      status: snapshot.status,
      pricedPlanId: snapshot.pricedPlanId,
      periodStart: snapshot.periodStart,
      periodEnd: snapshot.periodEnd,
      trialEnd: snapshot.trialEnd,
      cancelAtPeriodEnd: Number(snapshot.cancelAtPeriodEnd),
      nextPlanId: snapshot.nextPlanId,
      nextSeats: snapshot.nextSeats,
      seats: snapshot.seats,
      triedPlanId: snapshot.triedPlanId,
      triedUntil: snapshot.triedUntil,
      paidPlanId: snapshot.paidPlanId,
      paidUntil: snapshot.paidUntil,
      card: written(snapshot.card),
      discount: written(snapshot.discount),
      customerDiscount: written(snapshot.customerDiscount),
      unpaid: written(snapshot.unpaid),
      unpaidSince: snapshot.unpaidSince,
      pending: written(snapshot.pending),
      price: written(snapshot.price),
      nextCharge: written(snapshot.nextCharge),
      pause: written(snapshot.pause),
      balanceCents: snapshot.balanceCents,
      version: before.version + 1,
      syncedAt: nowMs,
      updatedAt: nowMs,
    })
    .where('userId', '=', before.userId)
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
    .set(({ eb }) => ({ basePlanId: planId, version: eb('version', '+', 1), updatedAt: nowMs }))
    .where('userId', '=', userId)
    .execute();
}

/**
 * Reads no other column: what a release stored differently must not keep an account from being erased.
 * @returns the customer at Stripe, who is still to be deleted
 */
export async function eraseMembership(trx: Transaction<Schema>, userId: UserId): Promise<StripeCustomerId | null> {
  const row = await trx.selectFrom('memberships').select('customerId').where('userId', '=', userId).executeTakeFirst();
  await trx.deleteFrom('memberships').where('userId', '=', userId).execute();
  await trx.deleteFrom('toldMembers').where('userId', '=', userId).execute();
  return row?.customerId ?? null;
}

interface TrialClaim {
  kind: 'email' | 'card';
  valueHash: string;
}

/** The user who has had the trial of an address or card, '' after their deletion; undefined: it is free. */
export async function findTrialOwner(db: Db, { kind, valueHash }: TrialClaim): Promise<UserId | undefined> {
  const row = await db
    .selectFrom('trialClaims')
    .select('userId')
    .where('kind', '=', kind)
    .where('valueHash', '=', valueHash)
    .executeTakeFirst();
  return row?.userId;
}

/** One trial per address and per card. @returns whether it is this user's */
export async function claimTrial(
  trx: Transaction<Schema>,
  { kind, valueHash, userId }: TrialClaim & { userId: UserId },
  nowMs: number,
): Promise<boolean> {
  await trx
    .insertInto('trialClaims')
    .values({ kind, valueHash, userId, claimedAt: nowMs })
    .onConflict((conflict) => conflict.columns(['kind', 'valueHash']).doNothing())
    .execute();
  return (await findTrialOwner(trx, { kind, valueHash })) === userId;
}

/** Tests whether {@link recordNotification} has recorded it. */
export async function wasNotified(db: Db, userId: UserId, about: string): Promise<boolean> {
  const row = await db
    .selectFrom('toldMembers')
    .select('about')
    .where('userId', '=', userId)
    .where('about', '=', about)
    .executeTakeFirst();
  return row !== undefined;
}

/** Tests whether this is the first notification: it is recorded in the transaction of the message. */
export async function recordNotification(
  trx: Transaction<Schema>,
  { userId, about }: { userId: UserId; about: string },
  nowMs: number,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('toldMembers')
    .values({ userId, about, toldAt: nowMs })
    .onConflict((conflict) => conflict.columns(['userId', 'about']).doNothing())
    .executeTakeFirst();
  return (numInsertedOrUpdatedRows ?? 0n) > 0n;
}

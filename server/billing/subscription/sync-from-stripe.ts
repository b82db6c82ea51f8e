import type { Transaction } from 'kysely';
import type { Outbox } from '../../messages/index.ts';
import type { PlanId, StripeCustomerId, UserId } from '../../shared/index.ts';
import type { Schema } from '../../store/index.ts';
import { findUser, setUserPlan } from '../../users/index.ts';
import { findPlan } from '../catalogue/catalogue.ts';
import type { BillingDeps } from '../deps.ts';
import { completeTask, listTasks } from '../jobs/task-store.ts';
import type { Order } from '../orders/order.ts';
import { insertOrder, isOrdered, toOrder, withRequestToBegin } from '../orders/order-store.ts';
import { findOpenPurchase } from '../purchase/purchase-store.ts';
import { readNextCharge } from '../stripe/next-charge.ts';
import { readFacts, type StripeSnapshot, toMembershipSnapshot } from '../stripe/read-stripe-snapshot.ts';
import { callStripe, readTaxPercent, toStripeRefusal } from '../stripe/stripe-client.ts';
import { toSubscriptionId } from '../stripe/stripe-invoices.ts';
import { isEnded, toId, toSubscriptionStatus } from '../stripe/stripe-objects.ts';
import type { Membership } from './membership.ts';
import { notifyMembershipChange } from './membership-changes.ts';
import { effectivePlan, effectiveSeats, trialUntil } from './membership-state.ts';
import { findMembership, type Snapshot, writeSnapshot } from './membership-store.ts';
import { waitsForEnd, withRefundAtEnd } from './notice-rules.ts';

/** Each attempt was overtaken by another one that read Stripe later. */
const maxTries = 8;

/** One read of a user at Stripe. */
export interface MemberReading {
  /** As it was stored. */
  membership: Membership;
  /** Stripe's own objects. */
  facts: StripeSnapshot;
}

const nothing: StripeSnapshot = { customer: undefined, subscriptions: [], invoices: [], unpaid: undefined };

/**
 * Reads everything of a user at Stripe and updates the stored data: the membership, the orders of all paid invoices,
 * the effective plan; and writes the mails about changes. The only way in which data from Stripe are stored: webhooks,
 * the reconcile job, and every action of a user end here. It may run at any time, twice, and in several processes at
 * once, because a write requires the version from before the read.
 * @returns undefined if the user has no membership
 * @throws {StripeUnavailableError}
 */
export async function readMember(deps: BillingDeps, userId: UserId): Promise<MemberReading | undefined> {
  for (let tries = 0; tries < maxTries; tries += 1) {
    const before = await findMembership(deps.database.db, userId);
    if (!before?.customerId) return before && { membership: before, facts: nothing };
    const facts = await readFacts(deps.stripe, before.customerId);
    if (!(await syncSnapshot(deps, { before, customerId: before.customerId, facts }))) continue;
    const membership = await findMembership(deps.database.db, userId);
    return membership && { membership, facts };
  }
  throw new Error('a membership has been changing all the time');
}

/**
 * Stores the answers to calls that have just created everything that the user has at Stripe; if something else was
 * written meanwhile, the user is read.
 * @throws {StripeUnavailableError}
 */
export async function recordAnswers(
  deps: BillingDeps,
  userId: UserId,
  facts: StripeSnapshot,
): Promise<MemberReading | undefined> {
  const before = await findMembership(deps.database.db, userId);
  const known = before?.customerId;
  const isStored = before && known && (await syncSnapshot(deps, { before, customerId: known, facts }));
  const membership = isStored ? await findMembership(deps.database.db, userId) : undefined;
  return membership ? { membership, facts } : readMember(deps, userId);
}

/** The same, for the membership alone. @throws {StripeUnavailableError} */
export async function syncMember(deps: BillingDeps, userId: UserId): Promise<Membership | undefined> {
  return (await readMember(deps, userId))?.membership;
}

async function syncSnapshot(
  deps: BillingDeps,
  { before, customerId, facts }: { before: Membership; customerId: StripeCustomerId; facts: StripeSnapshot },
): Promise<boolean> {
  const { database, catalogue, prices, outbox, metrics, now } = deps;
  const { userId } = before;
  const read = await toMembershipSnapshot(before, facts, prices);
  const snapshot = { ...read, nextCharge: await readNextCharge(deps, before, { facts, snapshot: read }) };
  const paid = await Promise.all(
    // In the order of the payments, as the user's mails come.
    facts.invoices
      .filter(isOrdered)
      .reverse()
      .map((invoice) => toOrder({ prices, catalogue, facts }, invoice, { ...snapshot, userId, customerId })),
  );
  const sold = facts.invoices.filter(isOrdered);
  const percents = await Promise.all(sold.map(async (one) => [one.id, await readTaxPercent(deps, one)] as const));
  const taxed = { ...facts, taxPercents: new Map(percents) };
  let orders: Order[] = [];
  const written = await database.transaction(async (trx) => {
    const nowMs = now();
    if (!(await writeSnapshot(trx, { before, snapshot }, nowMs))) return false;
    const open = await findOpenPurchase(trx, userId);
    // A transaction may be tried again.
    orders = [];
    for (const order of paid) {
      const fresh = await insertOrder(trx, withRequestToBegin(order, open), nowMs);
      if (fresh) orders.push(fresh);
    }
    await recordPayments(outbox, trx, { orders, nowMs });
    const after = await findAfter(trx, before, snapshot);
    const planId = effectivePlan(after, catalogue, nowMs);
    const user = await findUser(trx, userId);
    const isNewPlan = (user?.planId ?? null) !== planId;
    const ownSeats = effectiveSeats(after, catalogue, nowMs);
    const { chosenSeats: seats } = findPlan(catalogue, planId, ownSeats) ?? {};
    const hasOtherSeats = seats !== undefined && before.seats !== after.seats;
    if (isNewPlan || hasOtherSeats || before.status !== after.status)
      await recordMembership(outbox, trx, { after, planId, seats, nowMs });
    await setUserPlan(trx, { userId, planId, seats: ownSeats, trialUntil: trialUntil(after) }, nowMs);
    const paying = open?.state === 'charging';
    if (user)
      await notifyMembershipChange(deps, trx, { before, after, user, planId, orders, facts: taxed, nowMs, paying });
    return true;
  });
  if (!written) return false;
  outbox.wake();
  for (const { orderType } of orders) metrics.ordered(orderType);
  await voidAbandonedInvoices(deps, facts);
  return true;
}

const goesOn = ({ cancelAtPeriodEnd, status, nextPlanId }: Snapshot): boolean =>
  !cancelAtPeriodEnd && (status === 'active' || nextPlanId !== null);

/** The membership with what is given back at its end; a plan that goes on after all gives nothing back. */
async function findAfter(trx: Transaction<Schema>, before: Membership, snapshot: Snapshot): Promise<Membership> {
  const after: Membership = { ...before, ...snapshot };
  if (!before.cancelAtPeriodEnd && !after.cancelAtPeriodEnd) return after;
  const tasks = await listTasks(trx, before.userId);
  const dropped = goesOn(snapshot) ? tasks.filter(waitsForEnd) : [];
  for (const { id } of dropped) await completeTask(trx, id);
  return withRefundAtEnd(after, tasks);
}

async function recordPayments(
  { record }: Outbox,
  trx: Transaction<Schema>,
  { orders, nowMs }: { orders: readonly Order[]; nowMs: number },
): Promise<void> {
  for (const { invoiceId, paidCents, currency, planId, userId } of orders) {
    const details = { invoice: invoiceId, amountCents: paidCents, currency, plan: planId ?? 'none' };
    await record(trx, { type: 'payment.made', details, subject: userId ?? undefined, atMs: nowMs });
  }
}

interface RecordedMembership {
  after: Membership;
  planId: PlanId | null;
  /** Of a plan that is sold by the seat. */
  seats: number | undefined;
  nowMs: number;
}

async function recordMembership(
  { record }: Outbox,
  trx: Transaction<Schema>,
  { after, planId, seats, nowMs }: RecordedMembership,
): Promise<void> {
  const details = { plan: planId ?? 'none', status: after.status, ...(seats !== undefined && { seats }) };
  await record(trx, { type: 'membership.changed', details, subject: after.userId, atMs: nowMs });
}

/**
 * When Stripe gives up a renewal it ends the subscription and leaves the invoice open: its page would accept money for
 * an ended plan. Failures are tried again at the next read.
 * @returns the number of voided invoices
 */
async function voidAbandonedInvoices({ stripe, log }: Pick<BillingDeps, 'stripe' | 'log'>, facts: StripeSnapshot) {
  const over = new Set(facts.subscriptions.filter((one) => isEnded(toSubscriptionStatus(one))).map((one) => toId(one)));
  const left = facts.invoices.filter((one) => one.status === 'open' && over.has(toSubscriptionId(one) ?? ''));
  let voided = 0;
  for (const { id } of left) {
    try {
      await callStripe(stripe, (client) => client.invoices.voidInvoice(id));
      voided += 1;
    } catch (error) {
      // It has just been paid, or is already void.
      const level = toStripeRefusal(error) ? 'info' : 'warn';
      log[level]({ err: error, act: 'leftover', invoice: id }, 'an invoice of a subscription that is over stays open');
    }
  }
  return voided;
}

import { setTimeout as sleep } from 'node:timers/promises';
import { toStripeCustomerId, toUserId, type UserId } from '../../shared/index.ts';
import { findUser } from '../../users/index.ts';
import type { BillingDeps } from '../deps.ts';
import { findDetails } from '../details/details-store.ts';
import { listOrders, paidIntentId } from '../orders/order-store.ts';
import { unfinishedActs } from '../purchase/unfinished.ts';
import { StripeUnavailableError } from '../results.ts';
import { updateContact } from '../subscription/contact.ts';
import { listMembershipsAfter } from '../subscription/due-store.ts';
import { attachCustomer } from '../subscription/ensure-customer.ts';
import type { Membership } from '../subscription/membership.ts';
import { findMembership, insertMembership } from '../subscription/membership-store.ts';
import { readScheduled, taxSchedule } from '../subscription/scheduled-change.ts';
import { syncMember } from '../subscription/sync-from-stripe.ts';
import { withUserLock } from '../user-lock.ts';
import { migrateBillingMode } from './billing-mode.ts';
import { findOrderDifferences, toDifference } from './money-back-differences.ts';
import { readNextCharge } from './next-charge.ts';
import { readFacts, toMembershipSnapshot } from './read-stripe-snapshot.ts';
import { switchTaxOn, toStripeRefusal } from './stripe-client.ts';
import { type Difference, findDifferences, type ReconcileInput } from './stripe-differences.ts';
import { listUnknownAtStripe } from './unknown-at-stripe.ts';

const batch = 100;
/**
 * Pause between two users, whose three requests take some 200 ms: Stripe allows a hundred requests a second, 25 in test
 * mode.
 */
const pauseMs = 20;
/** Consecutive failed reads after which Stripe counts as unavailable. */
const maxAway = 3;

export interface ReconcileResult {
  /** The number of compared memberships. */
  compared: number;
  /** The repaired differences. */
  repaired: Difference[];
  /** Differences that an operator must look at. */
  left: Difference[];
  /** Another process goes on with the rest. */
  isStopped?: true;
}

export interface ReconcileOptions {
  /** Between two users, milliseconds. */
  pauseMs?: number;
  /** The user after whom the comparison goes on; by default it begins at the first. */
  after?: UserId;
  /**
   * Called after each batch with its last user and the number of differences that are left so far; false: stop, another
   * process has taken over.
   */
  onBatch?: (after: UserId, left: number) => Promise<boolean>;
}

async function readBoth(deps: BillingDeps, membership: Membership): Promise<ReconcileInput> {
  const { database, stripe, prices, now } = deps;
  const facts = await readFacts(stripe, membership.customerId ?? toStripeCustomerId(''));
  const read = await toMembershipSnapshot(membership, facts, prices);
  const snapshot = { ...read, nextCharge: await readNextCharge(deps, membership, { facts, snapshot: read }) };
  const [user, details, orders] = await Promise.all([
    findUser(database.db, membership.userId),
    findDetails(database.db, membership.userId),
    listOrders(database.db, membership.userId),
  ]);
  return { membership, user, details, orders, facts, snapshot, nowMs: now() };
}

/** Orders from before their payments were stored: a sync adds them. */
const lacksPayment = ({ orders, facts }: ReconcileInput) =>
  orders.some(
    ({ paymentIntentId, invoiceId }) =>
      paymentIntentId === null &&
      facts.invoices.some((invoice) => invoice.id === invoiceId && paidIntentId(invoice) !== null),
  );

interface Comparison {
  differences: Difference[];
  /** Something is to be stored that is no difference. */
  isIncomplete: boolean;
}

/** A membership that changed during the read is read again: only stable differences count. */
async function compare(deps: BillingDeps, first: Membership): Promise<Comparison> {
  const { database, catalogue } = deps;
  let membership = first;
  for (let tries = 0; tries < 3; tries += 1) {
    const input = await readBoth(deps, membership);
    const [differences, isIncomplete] = [findDifferences(input, catalogue), lacksPayment(input)];
    if (differences.length === 0) return { differences, isIncomplete };
    const now = await findMembership(database.db, membership.userId);
    if (!now?.customerId) break;
    if (now.version === membership.version) return { differences, isIncomplete };
    membership = now;
  }
  return { differences: [], isIncomplete: false };
}

const sameAs = (one: Difference) => (other: Difference) =>
  one.kind === other.kind && one.detail === other.detail && one.customerId === other.customerId;

/** It charges nothing; later changes of plan are calculated in the new mode. */
async function repairBillingMode(deps: BillingDeps, userId: UserId): Promise<void> {
  await withUserLock(deps.database, userId, async () => {
    const subscriptionId = (await findMembership(deps.database.db, userId))?.subscriptionId;
    if (subscriptionId) await migrateBillingMode(deps.stripe, subscriptionId);
  });
}

/** It charges nothing; from the next charge on the tax is computed. Without a known place the difference is left. */
async function repairTax(deps: BillingDeps, userId: UserId): Promise<void> {
  await withUserLock(deps.database, userId, async () => {
    const subscriptionId = (await findMembership(deps.database.db, userId))?.subscriptionId;
    if (!subscriptionId) return;
    try {
      const subscription = await readScheduled(deps, subscriptionId);
      await (subscription.schedule === null ? switchTaxOn : taxSchedule)(deps, subscription);
    } catch (error) {
      const refusal = toStripeRefusal(error);
      if (!refusal) throw error;
      deps.log.info({ act: 'reconcile', member: userId, outcome: refusal.code }, 'could not switch the tax on');
    }
  });
}

async function repairContact(deps: BillingDeps, userId: UserId): Promise<void> {
  const { db } = deps.database;
  const [membership, user] = await Promise.all([findMembership(db, userId), findUser(db, userId)]);
  const customerId = membership?.customerId;
  if (customerId && user) await withUserLock(deps.database, userId, () => updateContact(deps, user, customerId));
}

async function repairMembership(
  deps: BillingDeps,
  { userId, before }: { userId: UserId; before: Difference[] },
  into: ReconcileResult,
) {
  if (before.some(({ kind }) => kind === 'billing mode')) await repairBillingMode(deps, userId);
  if (before.some(({ kind }) => kind === 'automatic tax')) await repairTax(deps, userId);
  if (before.some(({ kind }) => kind === 'customer details')) await repairContact(deps, userId);
  await syncMember(deps, userId);
  const after = await findMembership(deps.database.db, userId);
  const left = after?.customerId ? (await compare(deps, after)).differences : [];
  into.left.push(...left);
  into.repaired.push(...before.filter((one) => !left.some(sameAs(one))));
}

const notCompared = ({ userId, customerId }: Membership, error: unknown): Difference => ({
  kind: 'not compared',
  userId,
  customerId,
  detail: toStripeRefusal(error)?.message ?? (error instanceof Error ? error.message : String(error)),
});

/**
 * Every membership in turn. One that cannot be read does not block the others.
 * @returns false: it was stopped
 * @throws {StripeUnavailableError}
 */
async function eachUser(
  deps: BillingDeps,
  options: ReconcileOptions & { repair: boolean },
  into: ReconcileResult,
): Promise<boolean> {
  let { after = toUserId('') } = options;
  let unavailable = 0;
  for (;;) {
    const memberships = await listMembershipsAfter(deps.database.db, after, batch);
    for (const membership of memberships) {
      try {
        const { differences, isIncomplete } = await compare(deps, membership);
        if (options.repair && (isIncomplete || differences.length > 0)) {
          await repairMembership(deps, { userId: membership.userId, before: differences }, into);
        } else into.left.push(...differences);
        unavailable = 0;
      } catch (error) {
        unavailable = error instanceof StripeUnavailableError ? unavailable + 1 : 0;
        if (unavailable >= maxAway) throw error;
        into.left.push(notCompared(membership, error));
      }
      into.compared += 1;
      after = membership.userId;
      await sleep(options.pauseMs ?? pauseMs);
    }
    if (options.onBatch && !(await options.onBatch(after, into.left.length))) return false;
    if (memberships.length < batch) return true;
  }
}

/** Assigns a customer to its user after a lost answer. */
async function adopt(deps: BillingDeps, { userId, customerId }: Difference): Promise<boolean> {
  if (userId === null || customerId === null) return false;
  const { database, now } = deps;
  return withUserLock(database, userId, async () => {
    await insertMembership(database.db, userId, now());
    await attachCustomer(deps, userId, customerId);
    return (await syncMember(deps, userId))?.customerId === customerId;
  });
}

/** Refunds, disputes and credit notes whose events were missed. */
async function repairOrders(deps: BillingDeps, into: ReconcileResult): Promise<void> {
  const found = await findOrderDifferences(deps);
  for (const { repair, ...difference } of found) {
    try {
      await repair();
    } catch (error) {
      if (error instanceof StripeUnavailableError) throw error;
      // The difference is left; the others must not wait for it.
      deps.log.warn({ err: error, act: 'reconcile', ...difference }, 'could not read an order again');
    }
  }
  const left = found.length === 0 ? [] : (await findOrderDifferences(deps)).map(toDifference);
  into.left.push(...left);
  into.repaired.push(...found.map(toDifference).filter((one) => !left.some(sameAs(one))));
}

/** Compares everything with Stripe, and changes nothing. @throws {StripeUnavailableError} */
export async function diffWithStripe(deps: BillingDeps, options: ReconcileOptions = {}): Promise<ReconcileResult> {
  const found: ReconcileResult = { compared: 0, repaired: [], left: [] };
  await eachUser(deps, { ...options, repair: false }, found);
  found.left.push(
    ...(await findOrderDifferences(deps)).map(toDifference),
    ...(await listUnknownAtStripe(deps)),
    ...(await unfinishedActs(deps)),
  );
  return found;
}

/**
 * Repairs differences by reading Stripe again, and reports those that only an operator can repair. Safe to run at any
 * time, and twice.
 * @throws {StripeUnavailableError}
 */
export async function reconcileAll(deps: BillingDeps, options: ReconcileOptions = {}): Promise<ReconcileResult> {
  const done: ReconcileResult = { compared: 0, repaired: [], left: [] };
  const unknowns = options.after ? [] : await listUnknownAtStripe(deps);
  for (const unknown of unknowns) {
    const mended = unknown.kind === 'customer unknown here' && (await adopt(deps, unknown));
    (mended ? done.repaired : done.left).push(unknown);
  }
  if (!(await eachUser(deps, { ...options, repair: true }, done))) return { ...done, isStopped: true };
  await repairOrders(deps, done);
  done.left.push(...(await unfinishedActs(deps)));
  return done;
}

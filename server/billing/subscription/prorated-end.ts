import type { UserId } from '../../shared/index.ts';
import type { User } from '../../users/index.ts';
import type { BillingDeps } from '../deps.ts';
import { addBillingTask, listTasks } from '../jobs/task-store.ts';
import { carryOutAtOnce } from '../jobs/tasks.ts';
import type { EndOnNotice, RefundTask } from '../orders/order.ts';
import { listOrders } from '../orders/order-store.ts';
import { findOpenPurchase } from '../purchase/purchase-store.ts';
import { StripeUnavailableError } from '../results.ts';
import { readOrStored } from './acts.ts';
import type { AnnouncedDeletion, AnnouncedEnd, ProratedEnd, ProratedEndResult } from './early-end.ts';
import { isRenewalUnderWay, readEndOnNotice } from './end-on-notice.ts';
import type { Membership } from './membership.ts';
import { toMembershipState } from './membership-state.ts';
import { findMembership } from './membership-store.ts';
import { findNoticeEnd } from './notice-rules.ts';
import { syncMember } from './sync-from-stripe.ts';
import { getQuotedSecond, quoteUnusedTime, type UnusedTime } from './unused-time.ts';

// An end before the paid period is over, with a refund of its unused part: at once (`cancel: prorated` in the
// catalogue), or of a following year on a month's notice (`afterYear: year-with-refund`).

/** The stored membership, if it is paid and would go on. */
async function findPaid({ database, catalogue, now }: BillingDeps, userId: UserId): Promise<Membership | undefined> {
  const membership = await findMembership(database.db, userId);
  if (membership?.status !== 'active') return undefined;
  const { kind } = toMembershipState(membership, catalogue, now());
  return kind === 'paid' || kind === 'changing' || kind === 'pausing' ? membership : undefined;
}

/**
 * Tests for a payment that changes what is unused: one that completes meanwhile, or a renewal that is not charged yet.
 * @throws {StripeUnavailableError}
 */
async function isCharging(deps: BillingDeps, membership: Membership): Promise<boolean> {
  const open = await findOpenPurchase(deps.database.db, membership.userId);
  return open?.state === 'charging' || (await isRenewalUnderWay(deps, membership));
}

async function quoteNow(deps: BillingDeps, membership: Membership): Promise<ProratedEnd | undefined> {
  if (await isCharging(deps, membership)) return undefined;
  const unused = await quoteUnusedTime(deps, membership, await getQuotedSecond(deps, membership));
  return unused && { endsAt: null, ...unused };
}

/** undefined: Stripe does not answer, or a payment is under way; the refund is computed after it. */
async function findUnusedTime(
  deps: BillingDeps,
  membership: Membership,
  endsAt: number,
): Promise<UnusedTime | 'none' | undefined> {
  try {
    if (await isCharging(deps, membership)) return undefined;
    return (await quoteUnusedTime(deps, membership, Math.floor(endsAt / 1_000))) ?? 'none';
  } catch (error) {
    if (!(error instanceof StripeUnavailableError)) throw error;
    deps.log.warn({ err: error, member: membership.userId }, 'Stripe does not answer: a refund is computed later');
    return undefined;
  }
}

async function quoteOnNotice(deps: BillingDeps, membership: Membership): Promise<ProratedEnd | undefined> {
  const orders = await listOrders(deps.database.db, membership.userId);
  const second = await getQuotedSecond(deps, membership);
  const endsAt = findNoticeEnd({ membership, orders, second }, deps.catalogue);
  if (endsAt === undefined) return undefined;
  const unused = await findUnusedTime(deps, membership, endsAt);
  // Without anything to give back, the paid period runs out.
  if (unused === 'none') return undefined;
  return { endsAt, ...(unused ?? { amounts: null, parts: [] }) };
}

/**
 * The end and the refund of cancelling now, as Stripe computes it; undefined: the plan ends with its period. It only
 * reads.
 * @throws {StripeUnavailableError}
 */
export async function quoteProratedEnd(deps: BillingDeps, userId: UserId): Promise<ProratedEnd | undefined> {
  const { cancel, afterYear } = deps.catalogue;
  if (cancel !== 'prorated' && afterYear !== 'year-with-refund') return undefined;
  const membership = await findPaid(deps, userId);
  if (!membership) return undefined;
  return cancel === 'prorated' ? quoteNow(deps, membership) : quoteOnNotice(deps, membership);
}

/**
 * The end and the refund of deleting the account now; undefined: nothing is given back. With `cancel: prorated` it is that
 * of cancelling, also while Stripe is unavailable or a payment is under way: `amounts` is null then. It only reads.
 * @throws {StripeUnavailableError} never with `cancel: prorated`
 */
export async function quoteEndOfDeletion(deps: BillingDeps, userId: UserId): Promise<ProratedEnd | undefined> {
  if (deps.catalogue.cancel !== 'prorated') return quoteProratedEnd(deps, userId);
  const membership = await findPaid(deps, userId);
  if (!membership) return undefined;
  const unused = await findUnusedTime(deps, membership, (await getQuotedSecond(deps, membership)) * 1_000);
  return unused === 'none' ? undefined : { endsAt: null, ...(unused ?? { amounts: null, parts: [] }) };
}

/** The end at once with its refund, for the task of a deletion; undefined: nothing is given back. */
export async function confirmEndOfDeletion(
  deps: BillingDeps,
  userId: UserId,
  announced: AnnouncedDeletion,
): Promise<EndOnNotice | 'changed' | undefined> {
  const { catalogue, database, now } = deps;
  if (catalogue.cancel !== 'prorated') return undefined;
  const quote = await quoteEndOfDeletion(deps, userId);
  if (!quote) return announced === undefined || announced === 'later' ? undefined : 'changed';
  const { amounts, parts } = quote;
  // Without Stripe the amount of the same second is computed later.
  const isKnown = amounts !== null && announced !== 'later';
  if (announced === undefined || (isKnown && !isAnnounced(quote, announced))) return 'changed';
  const membership = await findMembership(database.db, userId);
  const endsAt = membership ? (await getQuotedSecond(deps, membership)) * 1_000 : now();
  return { endsAt, currency: amounts?.currency ?? catalogue.currency, parts: amounts && parts };
}

const isAnnounced = ({ endsAt, amounts }: ProratedEnd, announced: AnnouncedEnd): boolean =>
  endsAt === announced.endsAt &&
  (amounts?.refundCents ?? null) === announced.refundCents &&
  (amounts?.creditCents ?? null) === announced.creditCents;

/** Ends the plan at once. The end is written down first, so that no refund is of time that is still used. */
async function endNow(
  deps: BillingDeps,
  { userId, customerId }: Membership,
  { parts }: ProratedEnd,
): Promise<ProratedEndResult> {
  const { database, now } = deps;
  const tasks = await database.transaction(async (trx) => {
    const noted = [await addBillingTask(trx, { kind: 'cancel-now', userId, customerId }, now())];
    for (const { invoiceId, refundCents: amountCents, creditCents } of parts) {
      const refund: RefundTask = { invoiceId, amountCents, creditCents, operator: 'cancellation', end: 'keep' };
      const detail = JSON.stringify(refund);
      noted.push(await addBillingTask(trx, { kind: 'refund', userId, customerId, detail }, now()));
    }
    return noted;
  });
  for (const task of tasks) if (!(await carryOutAtOnce(deps, { ...task, userId }))) return 'noted';
  return 'ended';
}

/** Ends the plan on a month's notice. @param isAway the minute job does it, so that the user does not wait again */
async function endLater(
  deps: BillingDeps,
  { userId, customerId }: Membership,
  { notice, isAway }: { notice: EndOnNotice; isAway: boolean },
): Promise<ProratedEndResult> {
  const detail = JSON.stringify(notice);
  const task = await deps.database.transaction((trx) =>
    addBillingTask(trx, { kind: 'cancel-later', userId, customerId, detail }, deps.now()),
  );
  return !isAway && (await carryOutAtOnce(deps, { ...task, userId })) ? 'cancelled' : 'noted';
}

/**
 * Ends the plan as announced, and gives the announced amount back. Both are written down before Stripe is asked. The
 * caller holds the user's lock.
 * @throws {StripeUnavailableError}
 */
export async function endProrated(
  deps: BillingDeps,
  { id: userId }: User,
  announced: AnnouncedEnd,
): Promise<ProratedEndResult> {
  const tasks = await listTasks(deps.database.db, userId);
  if (tasks.some((task) => task.kind === 'cancel-now' || readEndOnNotice(task))) return 'noted';
  // Only an end on notice can be computed after Stripe answers again.
  const isOnNotice = deps.catalogue.afterYear === 'year-with-refund';
  const { membership, isAway } = isOnNotice
    ? await readOrStored(deps, userId)
    : { membership: await syncMember(deps, userId), isAway: false };
  const quote = membership && (await quoteProratedEnd(deps, userId));
  if (!quote) return 'no-change';
  if (!isAnnounced(quote, announced)) return 'changed';
  const { endsAt, amounts, parts } = quote;
  if (endsAt === null) return endNow(deps, membership, quote);
  const currency = amounts?.currency ?? deps.catalogue.currency;
  return endLater(deps, membership, { notice: { endsAt, currency, parts: amounts && parts }, isAway });
}

import type Stripe from 'stripe';
import { minuteMs, type UserId } from '../../shared/index.ts';
import type { User } from '../../users/index.ts';
import type { BillingDeps } from '../deps.ts';
import { addBillingTask, listTasks } from '../jobs/task-store.ts';
import { carryOutAtOnce } from '../jobs/tasks.ts';
import type { Order, RefundTask } from '../orders/order.ts';
import { listOrders } from '../orders/order-store.ts';
import { findOpenPurchase } from '../purchase/purchase-store.ts';
import type { ProratedEnd, ProratedEndResult, RefundPart } from '../results.ts';
import { callStripe, toStripeRefusal } from '../stripe/stripe-client.ts';
import { findPendingRenewal } from './changeable-subscription.ts';
import type { Membership } from './membership.ts';
import { toMembershipState } from './membership-state.ts';
import { findMembership } from './membership-store.ts';
import { syncMember } from './sync-from-stripe.ts';

// An end before the paid period is over, with a refund of its unused part (`cancel: prorated` in the catalogue).

/** An announced amount holds for so long. */
const quotedMs = 30 * minuteMs;

/** The second from which the time is unused: the announced one for half an hour. */
async function getQuotedSecond({ kv, now }: BillingDeps, { subscriptionId, periodStart }: Membership): Promise<number> {
  const key = `end-quote:${subscriptionId}:${periodStart}`;
  const fresh = Math.floor(now() / 1_000);
  const quoted = Number((await kv.get(key)) ?? 0);
  if (fresh - quoted < quotedMs / 1_000) return quoted;
  await kv.set(key, String(fresh), quotedMs);
  return fresh;
}

/** The unused value of the paid period in cents, by Stripe. @throws {StripeUnavailableError} */
async function previewUnused(
  { stripe }: BillingDeps,
  { customerId, subscriptionId }: Membership,
  second: number,
): Promise<{ cents: number; currency: string }> {
  const details: Stripe.InvoiceCreatePreviewParams.SubscriptionDetails = {
    cancel_now: true,
    proration_behavior: 'create_prorations',
    proration_date: second,
  };
  const invoice = await callStripe(stripe, (client) =>
    client.invoices.createPreview({
      ...(customerId !== null && { customer: customerId }),
      ...(subscriptionId !== null && { subscription: subscriptionId }),
      subscription_details: details,
    }),
  ).catch((error: unknown) => {
    if (toStripeRefusal(error)?.code === 'invoice_upcoming_none') return undefined;
    throw error;
  });
  return { cents: Math.max(0, 0 - (invoice?.total ?? 0)), currency: invoice?.currency ?? '' };
}

/**
 * The payments that are given back, the newest first: what the card has paid goes back to it, what credit has paid
 * becomes credit again. None gives back more than it was.
 */
function splitRefund(orders: readonly Order[], cents: number): RefundPart[] {
  let left = cents;
  return orders.flatMap(({ invoiceId, paidCents, usedCreditCents, refundedCents, creditNotes, paymentIntentId }) => {
    const noted = creditNotes.reduce((sum, { amountCents }) => sum + amountCents, 0);
    const part = Math.min(left, paidCents + usedCreditCents - Math.max(noted, refundedCents));
    if (part <= 0) return [];
    left -= part;
    const refundCents = paymentIntentId === null ? 0 : Math.min(part, paidCents - refundedCents);
    return [{ invoiceId, refundCents, creditCents: part - refundCents }];
  });
}

/** The stored membership, if it is paid and would go on. */
async function findEnding(deps: BillingDeps, userId: UserId): Promise<Membership | undefined> {
  const { database, catalogue, now } = deps;
  const membership = await findMembership(database.db, userId);
  if (catalogue.cancel !== 'prorated' || membership?.status !== 'active') return undefined;
  const { kind } = toMembershipState(membership, catalogue, now());
  if (kind !== 'paid' && kind !== 'changing') return undefined;
  // A payment that completes meanwhile, or a renewal that is not charged yet, changes what is unused.
  const isCharging = (await findOpenPurchase(database.db, userId))?.state === 'charging';
  return isCharging || (await findPendingRenewal(deps, membership)) ? undefined : membership;
}

/**
 * The amount that a user gets back by cancelling now, as Stripe computes it; undefined: the plan ends with its period. It
 * only reads.
 * @throws {StripeUnavailableError}
 */
export async function quoteProratedEnd(deps: BillingDeps, userId: UserId): Promise<ProratedEnd | undefined> {
  const membership = await findEnding(deps, userId);
  if (!membership) return undefined;
  const { cents, currency } = await previewUnused(deps, membership, await getQuotedSecond(deps, membership));
  const orders = (await listOrders(deps.database.db, userId)).filter(
    ({ subscriptionId, renewsAt, disputeState }) =>
      subscriptionId === membership.subscriptionId &&
      renewsAt !== null &&
      renewsAt > deps.now() &&
      // The bank decides about a disputed payment.
      (disputeState === null || disputeState === 'won'),
  );
  const parts = splitRefund(orders, cents);
  if (parts.length === 0) return undefined;
  const sum = (key: 'refundCents' | 'creditCents') => parts.reduce((total, part) => total + part[key], 0);
  return { refundCents: sum('refundCents'), creditCents: sum('creditCents'), currency, parts };
}

/**
 * Ends the plan at once and gives the announced amount back. Both are written down before Stripe is asked: the end first,
 * so that no refund is of time that is still used. The caller holds the user's lock.
 * @throws {StripeUnavailableError}
 */
export async function endProrated(
  deps: BillingDeps,
  { id: userId }: User,
  announced: Pick<ProratedEnd, 'refundCents' | 'creditCents'>,
): Promise<ProratedEndResult> {
  const { database, now } = deps;
  if ((await listTasks(database.db, userId)).some(({ kind }) => kind === 'cancel-now')) return 'noted';
  const customerId = (await syncMember(deps, userId))?.customerId ?? null;
  const quote = await quoteProratedEnd(deps, userId);
  if (!quote) return 'no-change';
  if (quote.refundCents !== announced.refundCents || quote.creditCents !== announced.creditCents) return 'changed';
  const tasks = await database.transaction(async (trx) => {
    const noted = [await addBillingTask(trx, { kind: 'cancel-now', userId, customerId }, now())];
    for (const { invoiceId, refundCents: amountCents, creditCents } of quote.parts) {
      const refund: RefundTask = { invoiceId, amountCents, creditCents, operator: 'cancellation', end: 'keep' };
      const detail = JSON.stringify(refund);
      noted.push(await addBillingTask(trx, { kind: 'refund', userId, customerId, detail }, now()));
    }
    return noted;
  });
  for (const task of tasks) if (!(await carryOutAtOnce(deps, { ...task, userId }))) return 'noted';
  return 'ended';
}

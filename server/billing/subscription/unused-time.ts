import type Stripe from 'stripe';
import type { BillingDeps } from '../deps.ts';
import { type Order, type RefundPart, toReturnableCents } from '../orders/order.ts';
import { listOrders, takesMoney } from '../orders/order-store.ts';
import { callStripe, toStripeRefusal } from '../stripe/stripe-client.ts';
import type { RefundAmounts } from './early-end.ts';
import type { Membership } from './membership.ts';
import { quotedMs, toRefundAmounts } from './notice-rules.ts';

/** The part of a paid period that is left: its amount, and the payments from which it is given back. */
export interface UnusedTime {
  amounts: RefundAmounts;
  parts: readonly RefundPart[];
}

/** The second of the cancellation: the announced one for half an hour. */
export async function getQuotedSecond(
  { kv, now }: BillingDeps,
  { subscriptionId, periodStart }: Membership,
): Promise<number> {
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
  return orders.flatMap((order) => {
    const { invoiceId, usedCreditCents, refundedCents, creditNotes, paymentIntentId } = order;
    const noted = creditNotes.reduce((sum, { amountCents }) => sum + amountCents, 0);
    const returnableCents = toReturnableCents(order);
    const part = Math.min(left, returnableCents + usedCreditCents - Math.max(noted, refundedCents));
    if (part <= 0) return [];
    left -= part;
    const refundCents = paymentIntentId === null ? 0 : Math.min(part, returnableCents - refundedCents);
    return [{ invoiceId, refundCents, creditCents: part - refundCents }];
  });
}

/**
 * The paid time after a second of the running period, as Stripe computes it; undefined: nothing is given back for it. It
 * only reads.
 * @throws {StripeUnavailableError}
 */
export async function quoteUnusedTime(
  deps: BillingDeps,
  membership: Membership,
  second: number,
): Promise<UnusedTime | undefined> {
  const { cents, currency } = await previewUnused(deps, membership, second);
  const orders = (await listOrders(deps.database.db, membership.userId)).filter(
    ({ subscriptionId, renewsAt, disputeState }) =>
      subscriptionId === membership.subscriptionId &&
      renewsAt !== null &&
      renewsAt > deps.now() &&
      // The bank decides about a disputed payment.
      !takesMoney(disputeState),
  );
  const parts = splitRefund(orders, cents);
  return parts.length === 0 ? undefined : { amounts: toRefundAmounts(parts, currency), parts };
}

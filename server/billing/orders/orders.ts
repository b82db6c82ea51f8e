import type Stripe from 'stripe';
import { type StripeCustomerId, toStripeInvoiceId, type UserId } from '../../shared/index.ts';
import { type Catalogue, validityDays } from '../catalogue/catalogue.ts';
import type { Prices } from '../catalogue/prices.ts';
import { byCode, type StripeSnapshot } from '../stripe/read-stripe-snapshot.ts';
import {
  hasSoldLines,
  isDiscounted,
  paidIntentId,
  soldDiscountCents,
  soldLines,
  toAppliedDiscount,
  toId,
  toMs,
  toSubscriptionId,
  usedCreditCents,
} from '../stripe/stripe-objects.ts';
import type { Snapshot } from '../subscription/membership-store.ts';
import type { Order } from './order.ts';

/** Tests whether an invoice needs an order: it sold something and is paid, possibly with a credit or a code alone. */
export const isOrdered = (invoice: Stripe.Invoice): boolean => invoice.status === 'paid' && hasSoldLines(invoice);

const renewing = new Set<string | null>(['subscription_cycle']);

/** The card of an invoice; null if no card was charged, as for a payment outside of Stripe. */
const chargedCard = (invoice: Stripe.Invoice, card: Snapshot['card']): Order['card'] =>
  card && invoice.amount_paid > (invoice.amount_paid_off_stripe ?? 0)
    ? { brand: card.brand, lastFour: card.lastFour }
    : null;

/** The order of a paid invoice. All its data come from Stripe, none from a page. */
export async function toOrder(
  { prices, catalogue, facts }: { prices: Prices; catalogue: Catalogue; facts: StripeSnapshot },
  invoice: Stripe.Invoice,
  {
    userId,
    customerId,
    card,
    nextCharge,
  }: { userId: UserId; customerId: StripeCustomerId } & Pick<Snapshot, 'card' | 'nextCharge'>,
): Promise<Omit<Order, 'id'>> {
  const [line] = soldLines(invoice);
  const plan = catalogue.byId(line && (await prices.planOfProduct(line.productId)));
  const discountCents = soldDiscountCents(invoice);
  const input = invoice.discounts.find((one) => typeof one === 'string' || !('deleted' in one));
  const discount = byCode(facts, toAppliedDiscount(input as string | Stripe.Discount | undefined));
  const isLatest = facts.subscriptions.some(({ latest_invoice: latest }) => latest && toId(latest) === invoice.id);
  return {
    userId,
    customerId,
    invoiceId: toStripeInvoiceId(invoice.id),
    invoiceNumber: invoice.number,
    invoiceUrl: invoice.hosted_invoice_url ?? null,
    subscriptionId: toSubscriptionId(invoice),
    planId: plan?.id ?? null,
    orderPurchase: 'plan',
    orderType: renewing.has(invoice.billing_reason) ? 'renewal' : 'upgrade',
    currency: invoice.currency,
    paidCents: invoice.amount_paid,
    planAmountCents: line?.amountCents ?? null,
    usedCreditCents: usedCreditCents(invoice),
    discountCents,
    // Only the newest order has later charges.
    recurringDiscountCents: isLatest ? (nextCharge?.discountCents ?? 0) : 0,
    voucher: isDiscounted(invoice) ? (discount?.code ?? null) : null,
    refundedCents: 0,
    disputedAt: null,
    disputeState: null,
    creditNotes: [],
    paymentIntentId: paidIntentId(invoice),
    card: chargedCard(invoice, card),
    validityDays: plan?.type ? validityDays[plan.type] : null,
    renewsAt: line?.periodEnd ?? null,
    orderedAt: toMs(invoice.status_transitions.paid_at ?? invoice.created),
  };
}

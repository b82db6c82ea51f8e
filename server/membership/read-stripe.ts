import type Stripe from 'stripe';
import type { Snapshot } from './membership-store.ts';
import type { Prices } from './prices.ts';
import type { AppliedDiscount, Membership, PendingChange, UnpaidInvoice } from './standing.ts';
import { asking, found, type StripeClient } from './stripe.ts';
import {
  cardOf,
  discountOf,
  idOf,
  isOver,
  ms,
  msOrNull,
  sellsSomething,
  soldLines,
  statusOf,
  subscriptionOf,
} from './stripe-objects.ts';

/** An invoice with how its payment stands. */
export interface OpenInvoice {
  invoice: Stripe.Invoice;
  payment: Stripe.PaymentIntent | undefined;
}

/** Everything that Stripe has of one customer, as far as it matters here. */
export interface StripeFacts {
  customer: Stripe.Customer | undefined;
  /** The newest first. */
  subscriptions: Stripe.Subscription[];
  /** The newest first. */
  invoices: Stripe.Invoice[];
  /** The oldest renewal that waits for its payment, of a subscription that goes on: paying for one that is over buys nothing. */
  unpaid: OpenInvoice | undefined;
}

/** So many of the newest are read. */
export const mostInvoices = 100;

/** @throws {BillingUnavailable} */
export async function readInvoice(client: StripeClient, invoiceId: string): Promise<OpenInvoice> {
  const invoice = await asking(client, (stripe) =>
    stripe.invoices.retrieve(invoiceId, { expand: ['payments.data.payment.payment_intent', 'confirmation_secret'] }),
  );
  const intents = (invoice.payments?.data ?? []).map(({ payment }) => payment.payment_intent);
  return { invoice, payment: intents.find((intent) => intent !== undefined && typeof intent !== 'string') };
}

/** A renewal that was tried to charge. */
const wasTried = (invoice: Stripe.Invoice) =>
  invoice.attempted && invoice.billing_reason === 'subscription_cycle' && sellsSomething(invoice);

/** In vain until now. */
const isUnpaidRenewal = (invoice: Stripe.Invoice) => invoice.status === 'open' && wasTried(invoice);

/** Within which a member has the days of grace for nothing once at most (docs/decisions/0009-grace-once-a-year.md). */
const graceAgainMs = 365 * 24 * 60 * 60_000;

/** Whether grace was given lately for a renewal that nobody has ever paid. */
const hasLapsed = ({ invoices }: StripeFacts, unpaid: Stripe.Invoice): boolean =>
  invoices.some(
    (one) =>
      (one.status === 'void' || one.status === 'uncollectible') &&
      wasTried(one) &&
      ms(unpaid.created) - ms(one.created) < graceAgainMs,
  );

/** undefined: there is none, or no more. */
async function readCustomer(stripe: Stripe, customerId: string): Promise<Stripe.Customer | undefined> {
  const expand = ['invoice_settings.default_payment_method'];
  const customer = await found(stripe.customers.retrieve(customerId, { expand })).catch(async (error: unknown) => {
    // One that was deleted has nothing that could be expanded.
    const bare = await found(stripe.customers.retrieve(customerId));
    if (bare && !bare.deleted) throw error;
    return undefined;
  });
  return !customer || customer.deleted ? undefined : customer;
}

/** @throws {BillingUnavailable} */
export function readFacts(client: StripeClient, customerId: string): Promise<StripeFacts> {
  return asking(client, async (stripe) => {
    const [customer, subscriptions, invoices] = await Promise.all([
      readCustomer(stripe, customerId),
      found(
        stripe.subscriptions.list({
          customer: customerId,
          status: 'all',
          limit: 20,
          expand: [
            'data.default_payment_method',
            'data.discounts.source.coupon',
            'data.discounts.promotion_code',
            'data.latest_invoice',
          ],
        }),
      ),
      found(
        stripe.invoices.list({
          customer: customerId,
          limit: mostInvoices,
          expand: ['data.discounts.source.coupon', 'data.discounts.promotion_code'],
        }),
      ),
    ]);
    const live = new Set(subscriptions?.data.flatMap((one) => (isOver(statusOf(one)) ? [] : [one.id])));
    const unpaid = invoices?.data.findLast((one) => isUnpaidRenewal(one) && live.has(subscriptionOf(one) ?? ''));
    return {
      customer,
      subscriptions: subscriptions?.data ?? [],
      invoices: invoices?.data ?? [],
      unpaid: unpaid && (await readInvoice(client, unpaid.id)),
    };
  });
}

/** The one that is known here; once it is over any other that goes on, else the last. */
export function subscriptionIn(
  { subscriptions }: StripeFacts,
  knownId: string | null,
): Stripe.Subscription | undefined {
  const known = subscriptions.find(({ id }) => id === knownId);
  if (known && !isOver(statusOf(known))) return known;
  // One that is over is known here no more, and still is what became of the member's.
  return subscriptions.find((one) => !isOver(statusOf(one))) ?? known ?? subscriptions[0];
}

const productOf = (item: Stripe.SubscriptionItem | undefined): string | undefined => item && idOf(item.price.product);

/** The plan that the newest paid invoice has sold, and until when. */
async function lastPaid(facts: StripeFacts, prices: Prices): Promise<Pick<Snapshot, 'paidPlanId' | 'paidUntil'>> {
  for (const invoice of facts.invoices) {
    if (invoice.status !== 'paid') continue;
    const line = soldLines(invoice).sort((one, other) => other.periodEnd - one.periodEnd)[0];
    if (line) return { paidPlanId: await prices.planOfProduct(line.productId), paidUntil: line.periodEnd };
  }
  return { paidPlanId: null, paidUntil: null };
}

function unpaidOf(facts: StripeFacts, { invoice, payment }: OpenInvoice): UnpaidInvoice {
  const next = msOrNull(invoice.next_payment_attempt);
  return {
    invoiceId: invoice.id,
    amountCents: invoice.amount_remaining,
    why: payment?.status === 'requires_action' ? 'action-required' : 'failed',
    attempts: invoice.attempt_count,
    ...(hasLapsed(facts, invoice) && { withoutGrace: true }),
    nextAttemptAt: next,
    url: invoice.hosted_invoice_url ?? null,
  };
}

async function pendingOf(
  subscription: Stripe.Subscription,
  { invoices }: StripeFacts,
  prices: Prices,
): Promise<PendingChange | null> {
  const { pending_update: update, latest_invoice: latest } = subscription;
  if (!update || !latest) return null;
  const invoice = invoices.find(({ id }) => id === idOf(latest));
  const product = productOf(update.subscription_items?.find((item) => !item.deleted));
  const planId = product === undefined ? null : await prices.planOfProduct(product);
  if (invoice?.status !== 'open' || planId === null) return null;
  return { planId, invoiceId: invoice.id, amountCents: invoice.amount_remaining, expiresAt: ms(update.expires_at) };
}

/** In the subscription's metadata at Stripe, so that there is one truth. */
export const nextPlanKey = 'foyer_next_plan';

/** In the same place: the word of a code whose coupon was put on in its place, as `<code>:<coupon>`. */
export const codeKey = 'foyer_code';

/** Which code a discount is known by, where the coupon stands for it. */
export function byItsCode<D extends AppliedDiscount | null>({ subscriptions }: StripeFacts, discount: D): D {
  if (discount === null || discount.promotionCodeId !== null) return discount;
  for (const { metadata } of subscriptions) {
    const [code, coupon] = metadata[codeKey]?.split(':') ?? [];
    if (code && coupon === discount.couponId) return { ...discount, code };
  }
  return discount;
}

/** The plan that follows at the period's end; it has come when the subscription has its price and goes on. */
function nextPlanOf(
  { metadata, status, cancel_at_period_end: ends }: Stripe.Subscription,
  pricedPlanId: string | null,
): string | null {
  const next = metadata[nextPlanKey];
  return next && (ends || (status === 'trialing' && next === pricedPlanId)) ? next : null;
}

/**
 * What Stripe has, as it is stored here.
 * @param membership as it was before Stripe was asked
 */
export async function snapshotOf(membership: Membership, facts: StripeFacts, prices: Prices): Promise<Snapshot> {
  const { customer } = facts;
  const gone: Snapshot = {
    customerId: null,
    subscriptionId: null,
    generation: membership.generation + 1,
    status: 'none',
    ...{ pricedPlanId: null, periodStart: null, periodEnd: null, trialEnd: null, cancelAtPeriodEnd: false },
    ...{
      nextPlanId: null,
      paidPlanId: null,
      paidUntil: null,
      card: null,
      discount: null,
      unpaid: null,
      unpaidSince: null,
      pending: null,
    },
  };
  // Somebody has deleted the customer at Stripe, and with it what was paid.
  if (!customer) return gone;
  const customerCard = cardOf(customer.invoice_settings.default_payment_method);
  const subscription = subscriptionIn(facts, membership.subscriptionId);
  if (!subscription) {
    const { customerId, subscriptionId, generation } = membership;
    return { ...gone, customerId, subscriptionId, generation, card: customerCard };
  }
  const item = subscription.items.data[0];
  const product = productOf(item);
  const status = statusOf(subscription);
  const over = isOver(status);
  const pricedPlanId = product === undefined ? null : await prices.planOfProduct(product);
  return {
    customerId: customer.id,
    // The next subscription is another one: its idempotency key must be.
    ...(over
      ? {
          subscriptionId: null,
          generation: membership.subscriptionId === null ? membership.generation : membership.generation + 1,
        }
      : { subscriptionId: subscription.id, generation: membership.generation }),
    status,
    pricedPlanId,
    periodStart: msOrNull(item?.current_period_start),
    periodEnd: msOrNull(item?.current_period_end),
    trialEnd: msOrNull(subscription.trial_end),
    cancelAtPeriodEnd: !over && subscription.cancel_at_period_end,
    nextPlanId: over ? null : nextPlanOf(subscription, pricedPlanId),
    ...(await lastPaid(facts, prices)),
    card: cardOf(subscription.default_payment_method) ?? customerCard,
    discount: over
      ? null
      : byItsCode(facts, discountOf(subscription.discounts[0] as string | Stripe.Discount | undefined)),
    unpaid: facts.unpaid ? unpaidOf(facts, facts.unpaid) : null,
    unpaidSince: facts.unpaid ? ms(facts.unpaid.invoice.created) : null,
    pending: over ? null : await pendingOf(subscription, facts, prices),
  };
}

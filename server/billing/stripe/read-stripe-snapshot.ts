import type Stripe from 'stripe';
import {
  type PlanId,
  type StripeCustomerId,
  type StripeInvoiceId,
  toPlanId,
  toStripeCustomerId,
  toStripeInvoiceId,
  toStripeSubscriptionId,
} from '../../shared/index.ts';
import type { Prices } from '../catalogue/prices.ts';
import type { AppliedDiscount, Membership, PendingChange, UnpaidInvoice } from '../subscription/membership.ts';
import type { Snapshot } from '../subscription/membership-store.ts';
import { asBeforePurchase, findTriedInvoice, isUnpaidTrial, readPlanTrial, toPendingDebit } from './debits.ts';
import { hasLapsed } from './lapsed-grace.ts';
import { callStripe, orNotFound, readCustomer, type StripeClient } from './stripe-client.ts';
import { isUnpaidRenewal, lastPaid, listOverdue, toSubscriptionId } from './stripe-invoices.ts';
import {
  findPeriodEnd,
  findSubscription,
  isEnded,
  nextBalance,
  plannedChange,
  toAppliedDiscount,
  toCustomerDiscount,
  toId,
  toMemberPause,
  toMs,
  toMsOrNull,
  toPrice,
  toProductId,
  toSavedCard,
  toStoredSeats,
  toSubscriptionStatus,
} from './stripe-objects.ts';

/** An invoice with the state of its payment. */
export interface OpenInvoice {
  invoice: Stripe.Invoice;
  payment: Stripe.PaymentIntent | undefined;
}

/** The relevant data of one customer at Stripe. */
export interface StripeSnapshot {
  customer: Stripe.Customer | undefined;
  /** The newest first. */
  subscriptions: Stripe.Subscription[];
  /** The newest first. */
  invoices: Stripe.Invoice[];
  /** The oldest unpaid renewal of a running subscription: paying for an ended one buys nothing. */
  unpaid: OpenInvoice | undefined;
  /** The open invoice of a running subscription whose payment was tried. */
  debited?: OpenInvoice;
  /** By the invoice: the rate of its tax, if it has one. */
  taxPercents?: ReadonlyMap<string, number | undefined>;
}

/** Number of invoices that are read, the newest first. */
export const maxInvoices = 100;

/** @throws {StripeUnavailableError} */
export async function readInvoice(client: StripeClient, invoiceId: StripeInvoiceId): Promise<OpenInvoice> {
  const invoice = await callStripe(client, (stripe) =>
    stripe.invoices.retrieve(invoiceId, { expand: ['payments.data.payment.payment_intent', 'confirmation_secret'] }),
  );
  // The default payment is the one that Stripe tries and that the confirmation secret belongs to; others were made by hand.
  const payments = (invoice.payments?.data ?? []).toSorted(
    (one, other) => Number(other.is_default) - Number(one.is_default),
  );
  const intents = payments.map(({ payment }) => payment.payment_intent);
  return { invoice, payment: intents.find((intent) => intent !== undefined && typeof intent !== 'string') };
}

/** @throws {StripeUnavailableError} */
export function readFacts(client: StripeClient, customerId: StripeCustomerId): Promise<StripeSnapshot> {
  return callStripe(client, async (stripe) => {
    const [customer, subscriptions, invoices] = await Promise.all([
      readCustomer(stripe, customerId),
      orNotFound(
        stripe.subscriptions.list({
          customer: customerId,
          status: 'all',
          limit: 20,
          expand: [
            'data.default_payment_method',
            'data.discounts.source.coupon',
            'data.discounts.promotion_code',
            'data.latest_invoice',
            'data.schedule',
          ],
        }),
      ),
      orNotFound(
        stripe.invoices.list({
          customer: customerId,
          limit: maxInvoices,
          expand: ['data.discounts.source.coupon', 'data.discounts.promotion_code', 'data.payments'],
        }),
      ),
    ]);
    const live = new Set(subscriptions?.data.flatMap((one) => (isEnded(toSubscriptionStatus(one)) ? [] : [one.id])));
    const overdue = listOverdue(subscriptions?.data ?? []);
    const tried = findTriedInvoice(subscriptions?.data ?? [], invoices?.data ?? []);
    const debited = tried && (await readInvoice(client, toStripeInvoiceId(tried.id)));
    const unpaid = invoices?.data.findLast((one) => {
      if (one.id === tried?.id && debited?.payment?.status === 'processing') return false;
      const isOverdue = one.status === 'open' && one.attempted && overdue.has(one.id);
      return (isUnpaidRenewal(one) || isOverdue) && live.has(toSubscriptionId(one) ?? '');
    });
    return {
      customer,
      subscriptions: subscriptions?.data ?? [],
      invoices: invoices?.data ?? [],
      ...(debited && { debited }),
      unpaid: unpaid?.id === tried?.id ? debited : unpaid && (await readInvoice(client, toStripeInvoiceId(unpaid.id))),
    };
  });
}

function toUnpaidInvoice(facts: StripeSnapshot, { invoice, payment }: OpenInvoice): UnpaidInvoice {
  const next = toMsOrNull(invoice.next_payment_attempt);
  const own = facts.subscriptions.find(({ id }) => id === toSubscriptionId(invoice));
  const isOfTrial = own !== undefined && isUnpaidTrial(own, facts.invoices);
  return {
    invoiceId: toStripeInvoiceId(invoice.id),
    amountCents: invoice.amount_remaining,
    why: payment?.status === 'requires_action' ? 'action-required' : 'failed',
    attempts: invoice.attempt_count,
    ...((hasLapsed(facts.invoices, invoice) || isOfTrial) && { withoutGrace: true }),
    nextAttemptAt: next,
    url: invoice.hosted_invoice_url ?? null,
  };
}

async function toPendingChange(
  subscription: Stripe.Subscription,
  facts: StripeSnapshot,
  prices: Prices,
): Promise<PendingChange | null> {
  const { pending_update: update, latest_invoice: latest } = subscription;
  const { invoices } = facts;
  const priced = toProductId(subscription.items.data[0]);
  if (facts.debited && priced) return toPendingDebit(subscription, facts, await prices.planOfProduct(priced));
  if (!update || !latest) return null;
  const invoice = invoices.find(({ id }) => id === toId(latest));
  const item = update.subscription_items?.find(({ deleted }) => !deleted);
  const [product, seats] = [toProductId(item), toStoredSeats(item?.quantity)];
  const planId = product === undefined ? null : await prices.planOfProduct(product);
  if (invoice?.status !== 'open' || planId === null) return null;
  return {
    planId,
    ...(seats !== null && { seats }),
    invoiceId: toStripeInvoiceId(invoice.id),
    amountCents: invoice.amount_remaining,
    expiresAt: toMs(update.expires_at),
  };
}

/** The metadata key of a next plan that an earlier release has scheduled, without a subscription schedule. */
export const nextPlanKey = 'foyer_next_plan';

/** The metadata key of a code whose coupon an earlier release applied in its place, as `<code>:<coupon>`. */
const codeKey = 'foyer_code';

/** The code of a discount, if its coupon was applied in its place. */
export function byCode<D extends AppliedDiscount | null>({ subscriptions }: StripeSnapshot, discount: D): D {
  if (discount === null || discount.promotionCodeId !== null) return discount;
  for (const { metadata } of subscriptions) {
    const [code, coupon] = metadata[codeKey]?.split(':') ?? [];
    if (code && coupon === discount.couponId) return { ...discount, code };
  }
  return discount;
}

/** Nothing ends or follows. */
const withoutNext = { cancelAtPeriodEnd: false, nextPlanId: null, nextSeats: null };

/** The end or the plan after the period's end. */
async function findPlanned(
  subscription: Stripe.Subscription,
  pricedPlanId: PlanId | null,
  prices: Prices,
): Promise<Pick<Snapshot, 'cancelAtPeriodEnd' | 'nextPlanId' | 'nextSeats'>> {
  const { metadata, status, items } = subscription;
  const { ends, nextPriceId, nextSeats } = plannedChange(subscription, items.data[0]?.current_period_end ?? 0);
  if (nextPriceId !== undefined) {
    const nextPlanId = await prices.planOfPrice(nextPriceId);
    return { cancelAtPeriodEnd: false, nextPlanId, nextSeats: toStoredSeats(nextSeats) };
  }
  const old = metadata[nextPlanKey];
  // In its last days the price of the next plan was on the running subscription.
  const holds = old && (ends || (status === 'trialing' && old === pricedPlanId));
  return { cancelAtPeriodEnd: ends, nextPlanId: holds ? toPlanId(old) : null, nextSeats: null };
}

/** A debit that pays a failed renewal leaves its grace as it was. */
function findUnpaidSince(
  { unpaid, debited }: StripeSnapshot,
  { status, pending }: Pick<Snapshot, 'status' | 'pending'>,
): number | null {
  const keepsGrace = pending?.debit === 'renewal' && status === 'past_due';
  return toMsOrNull((keepsGrace ? debited : unpaid)?.invoice.created);
}

/** The price of a subscription is that of the seats that are given. */
function withSeatsGiven(
  item: Stripe.SubscriptionItem,
  pricedPlanId: PlanId | null,
  { paidPlanId, seats }: Pick<Snapshot, 'paidPlanId' | 'seats'>,
): Stripe.SubscriptionItem {
  return paidPlanId === pricedPlanId ? { ...item, quantity: seats ?? 1 } : item;
}

/**
 * The state at Stripe, in its stored form.
 * @param membership as it was before the read
 */
export async function toMembershipSnapshot(
  membership: Membership,
  facts: StripeSnapshot,
  prices: Prices,
): Promise<Snapshot> {
  const { customer } = facts;
  const gone: Snapshot = {
    customerId: null,
    subscriptionId: null,
    generation: membership.generation + 1,
    status: 'none',
    pricedPlanId: null,
    periodStart: null,
    periodEnd: null,
    trialEnd: null,
    ...withoutNext,
    seats: null,
    triedPlanId: null,
    triedUntil: membership.triedUntil,
    paidPlanId: null,
    paidUntil: null,
    card: null,
    discount: null,
    customerDiscount: customer ? toCustomerDiscount(customer) : null,
    unpaid: null,
    unpaidSince: null,
    pending: null,
    price: null,
    nextCharge: null,
    pause: null,
    balanceCents: customer?.balance ?? 0,
  };
  // An operator deleted the customer at Stripe, and with it the paid time.
  if (!customer) return gone;
  const customerCard = toSavedCard(customer.invoice_settings.default_payment_method);
  const subscription = findSubscription(facts, membership.subscriptionId);
  if (!subscription) {
    const { customerId, subscriptionId, generation } = membership;
    return { ...gone, customerId, subscriptionId, generation, card: customerCard };
  }
  const item = subscription.items.data[0];
  const product = toProductId(item);
  const status = toSubscriptionStatus(subscription);
  const over = isEnded(status);
  const pricedPlanId = product === undefined ? null : await prices.planOfProduct(product);
  const pending = over ? null : await toPendingChange(subscription, facts, prices);
  const paid = await lastPaid(facts.invoices, prices, { pricedPlanId, item, seatsBefore: membership.seats });
  const snapshot: Snapshot = {
    customerId: toStripeCustomerId(customer.id),
    // The next subscription is a new one and needs another idempotency key.
    ...(over
      ? {
          subscriptionId: null,
          generation: membership.subscriptionId === null ? membership.generation : membership.generation + 1,
        }
      : { subscriptionId: toStripeSubscriptionId(subscription.id), generation: membership.generation }),
    status,
    pricedPlanId,
    periodStart: toMsOrNull(item?.current_period_start),
    periodEnd: findPeriodEnd(subscription),
    trialEnd: toMsOrNull(subscription.trial_end),
    ...(over ? withoutNext : await findPlanned(subscription, pricedPlanId, prices)),
    ...paid,
    ...readPlanTrial(membership, subscription),
    card: toSavedCard(subscription.default_payment_method) ?? customerCard,
    discount: over
      ? null
      : byCode(facts, toAppliedDiscount(subscription.discounts[0] as string | Stripe.Discount | undefined)),
    customerDiscount: toCustomerDiscount(customer),
    unpaid: facts.unpaid ? toUnpaidInvoice(facts, facts.unpaid) : null,
    unpaidSince: findUnpaidSince(facts, { status, pending }),
    pending,
    price: over || !item ? null : toPrice(subscription, withSeatsGiven(item, pricedPlanId, paid)),
    nextCharge: null, // readNextCharge follows
    pause: toMemberPause(subscription),
    balanceCents: nextBalance(customer, subscription),
  };
  return asBeforePurchase(snapshot, subscription);
}

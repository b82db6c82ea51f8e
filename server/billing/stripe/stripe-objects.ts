import type Stripe from 'stripe';
import { type StripeSubscriptionId, toStripeSubscriptionId } from '../../shared/index.ts';
import type { AppliedDiscount, SavedCard, SubscriptionPrice, SubscriptionStatus } from '../subscription/membership.ts';

// Converts Stripe's objects: milliseconds instead of seconds, ids instead of expandable objects.

export const toMs = (seconds: number): number => seconds * 1000;
export const toMsOrNull = (seconds: number | null | undefined): number | null =>
  seconds == null ? null : toMs(seconds);

/** The id, whether or not the object is expanded. */
export const toId = (item: string | { id: string }): string => (typeof item === 'string' ? item : item.id);

const statuses = new Set<string>([
  'trialing',
  'active',
  'past_due',
  'paused',
  'unpaid',
  'incomplete',
  'incomplete_expired',
  'canceled',
]);

export function toSubscriptionStatus({ status }: { status: string }): SubscriptionStatus {
  if (!statuses.has(status)) throw new Error(`Stripe has a status of subscriptions that is not known here: ${status}`);
  return status as SubscriptionStatus;
}

export function toPrice({ price, quantity }: Stripe.SubscriptionItem): SubscriptionPrice {
  const { id, unit_amount: unit, currency, recurring } = price;
  return {
    id,
    amountCents: (unit ?? 0) * (quantity ?? 1),
    currency,
    interval: recurring?.interval ?? 'month',
    intervalCount: recurring?.interval_count ?? 1,
  };
}

/** An ended subscription cannot be restarted. */
export const isEnded = (status: SubscriptionStatus): boolean =>
  status === 'canceled' || status === 'incomplete_expired';

export function toSavedCard(method: string | Stripe.PaymentMethod | null | undefined): SavedCard | null {
  if (!method || typeof method === 'string' || !method.card) return null;
  const { brand, last4, exp_month, exp_year } = method.card;
  return { paymentMethodId: method.id, brand, lastFour: last4, expMonth: exp_month, expYear: exp_year };
}

/** @param discount with its coupon and promotion code expanded */
export function toAppliedDiscount(discount: string | Stripe.Discount | undefined): AppliedDiscount | null {
  if (!discount || typeof discount === 'string') return null;
  const { coupon } = discount.source;
  if (!coupon || typeof coupon === 'string') return null;
  const { promotion_code: promotion } = discount;
  return {
    ...discountOfCoupon(coupon),
    code: promotion && typeof promotion !== 'string' ? promotion.code : coupon.id,
    promotionCodeId: promotion ? toId(promotion) : null,
    endsAt: toMsOrNull(discount.end),
  };
}

const durations = ['once', 'forever', 'repeating'] as const;

export function discountOfCoupon(coupon: Stripe.Coupon): AppliedDiscount {
  return {
    code: coupon.id,
    couponId: coupon.id,
    promotionCodeId: null,
    percentOff: coupon.percent_off,
    amountOffCents: coupon.amount_off,
    duration: durations.find((one) => one === coupon.duration) ?? 'once',
    endsAt: null,
    months: coupon.duration_in_months,
  };
}

type Line = Stripe.InvoiceLineItem;

const getDetails = ({ parent }: Line) => parent?.invoice_item_details ?? parent?.subscription_item_details;

export const isProration = (line: Line): boolean => getDetails(line)?.proration === true;

/** A credit for the unused time of a plan before. */
export const isUnusedTime = (line: Line): boolean =>
  isProration(line) && (line.amount < 0 || getDetails(line)?.proration_details?.credited_items != null);

/**
 * A sale is decided by what a line is for: a discount may have taken its whole amount, and prorations of subscriptions
 * that do not itemize discounts then have none. The time of a trial, or of a free plan, is a line of 0 that is no
 * proration.
 */
export const isSale = (line: Line): boolean =>
  !isUnusedTime(line) && (line.amount > 0 || (line.amount === 0 && isProration(line)));

export const sumDiscounts = ({ discount_amounts: discounts }: Line): number =>
  (discounts ?? []).reduce((sum, { amount }) => sum + amount, 0);

/** One line of a sale. */
export interface SoldLine {
  productId: string;
  /** Before discounts, if the subscription itemizes them. */
  amountCents: number;
  periodEnd: number;
}

/** The lines of a sale, without credits, the longest first. */
export function soldLines(invoice: Stripe.Invoice): SoldLine[] {
  return invoice.lines.data
    .filter(isSale)
    .flatMap(({ pricing, amount, period }) => {
      const product = pricing?.price_details?.product;
      return product === undefined ? [] : [{ productId: product, amountCents: amount, periodEnd: toMs(period.end) }];
    })
    .sort((one, other) => other.periodEnd - one.periodEnd || other.amountCents - one.amountCents);
}

/** The amounts that discounts took off what was sold: those of credits belong to earlier sales. */
export const soldDiscountCents = (invoice: Stripe.Invoice): number =>
  invoice.lines.data.filter(isSale).reduce((sum, line) => sum + sumDiscounts(line), 0);

/** Tests whether discounts apply to what was sold. Where they are not itemized, their amounts are 0. */
export const isDiscounted = (invoice: Stripe.Invoice): boolean =>
  invoice.lines.data.some((line) => isSale(line) && (line.discount_amounts ?? []).length > 0);

/** The credit for unused time, as it was paid: after discounts. */
export const unusedCents = (invoice: Stripe.Invoice): number =>
  invoice.lines.data.filter(isUnusedTime).reduce((sum, line) => sum - (line.amount - sumDiscounts(line)), 0);

export const toSubscriptionId = (invoice: Stripe.Invoice): StripeSubscriptionId | null => {
  const subscription = invoice.parent?.subscription_details?.subscription;
  return subscription ? toStripeSubscriptionId(toId(subscription)) : null;
};

/** The payment that has paid an invoice; null: nothing was charged. @param invoice with its payments expanded */
export function paidIntentId({ payments }: Stripe.Invoice): string | null {
  const intent = payments?.data.find(({ status }) => status === 'paid')?.payment.payment_intent;
  return intent === undefined ? null : toId(intent);
}

/** Tests for a sale: trials and free plans have lines of zero. */
export const hasSoldLines = (invoice: Stripe.Invoice): boolean => soldLines(invoice).length > 0;

/**
 * The customer's balance after an invoice, which Stripe only tells of finalized ones. Below 0: the customer's credit;
 * above 0: owed.
 */
export const balanceLeft = ({
  starting_balance: before,
  total,
  amount_due: due,
}: Pick<Stripe.Invoice, 'starting_balance' | 'total' | 'amount_due'>): number => before + total - due;

/** The used part of the user's credit. */
export const usedCreditCents = (invoice: Stripe.Invoice): number =>
  Math.max(0, Math.min(0, balanceLeft(invoice)) - Math.min(0, invoice.starting_balance));

import type Stripe from 'stripe';
import { type StripeSubscriptionId, toStripeSubscriptionId } from '../../shared/index.ts';
import type { AppliedDiscount, SavedCard, SubscriptionStatus } from '../subscription/membership.ts';

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
  };
}

/** The product and the plan's own amount of each line of a sale, without credits. */
export function soldLines(invoice: Stripe.Invoice): { productId: string; amountCents: number; periodEnd: number }[] {
  return invoice.lines.data.flatMap(({ pricing, amount, period }) => {
    const product = pricing?.price_details?.product;
    return product === undefined || amount <= 0
      ? []
      : [{ productId: product, amountCents: amount, periodEnd: toMs(period.end) }];
  });
}

export const toSubscriptionId = (invoice: Stripe.Invoice): StripeSubscriptionId | null => {
  const subscription = invoice.parent?.subscription_details?.subscription;
  return subscription ? toStripeSubscriptionId(toId(subscription)) : null;
};

/** Tests for a sale: trials and free plans have lines of zero. */
export const hasSoldLines = (invoice: Stripe.Invoice): boolean => soldLines(invoice).length > 0;

export const totalDiscountCents = (invoice: Stripe.Invoice): number =>
  (invoice.total_discount_amounts ?? []).reduce((sum, { amount }) => sum + amount, 0);

/** The used part of the user's credit: Stripe stores credit as a negative balance. */
export const usedCreditCents = (invoice: Pick<Stripe.Invoice, 'starting_balance' | 'ending_balance'>): number =>
  Math.max(0, Math.min(0, invoice.ending_balance ?? 0) - Math.min(0, invoice.starting_balance));

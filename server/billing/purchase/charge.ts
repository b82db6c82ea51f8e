import type { PlanId, StripeSubscriptionId } from '../../shared/index.ts';

/** The exact parameters of one attempt at Stripe, so that it can be repeated. */
export interface Charge {
  subscriptionId: StripeSubscriptionId;
  itemId: string;
  priceId: string;
  /** Seconds since the epoch, as Stripe counts; null: no proration. */
  prorationDate: number | null;
  endTrial: boolean;
  /** Discounts before the purchase; restored if it is cancelled. Promotion codes or coupons. */
  discountsBefore: { promotion_code?: string; coupon?: string }[] | null;
  /** The coupon of the code in it. */
  couponBefore?: string | undefined;
  /** The new discounts; null: unchanged. */
  discounts: { promotion_code?: string; coupon?: string }[] | null;
  /** The code whose coupon is applied in its place, as `<code>:<coupon>`. */
  code?: string | undefined;
  /** The plan that was scheduled before an upgrade; scheduled anew if it is cancelled. */
  scheduledPlanId?: PlanId | undefined;
  announcedCents: number;
  beganAt: number;
}

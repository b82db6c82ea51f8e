import type { AppliedDiscount } from '../subscription/membership.ts';

/** A discount in Stripe's parameters. */
export interface DiscountParam {
  promotion_code?: string;
  coupon?: string;
}

/** A promotion for Stripe: its code, else the coupon itself. */
export const toDiscountParam = ({ promotionCodeId, couponId }: AppliedDiscount): DiscountParam =>
  promotionCodeId !== null ? { promotion_code: promotionCodeId } : { coupon: couponId };

type Amounts = Pick<AppliedDiscount, 'amountOffCents'>;

/** The end of a repeating discount that begins now: Stripe counts calendar months in UTC. null: it has none. */
export function discountEnd(
  { duration, months }: Pick<AppliedDiscount, 'duration' | 'months'>,
  nowMs: number,
): number | null {
  if (duration !== 'repeating' || months == null) return null;
  const end = new Date(nowMs);
  const day = end.getUTCDate();
  end.setUTCDate(1);
  end.setUTCMonth(end.getUTCMonth() + months);
  const lastDay = new Date(Date.UTC(end.getUTCFullYear(), end.getUTCMonth() + 1, 0)).getUTCDate();
  return end.setUTCDate(Math.min(day, lastDay));
}

/** Tests for a fixed discount that exceeds the amount, which is refused; undefined: it does not. */
export function exceedsAmount(amountCents: number, { amountOffCents }: Amounts): number | undefined {
  return amountOffCents !== null && amountOffCents > amountCents ? amountOffCents : undefined;
}

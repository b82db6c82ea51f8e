import type { AppliedDiscount, CustomerDiscount, Membership } from '../subscription/membership.ts';

/** A discount in Stripe's parameters. */
export interface DiscountParam {
  promotion_code?: string;
  coupon?: string;
  /** One that is there already. */
  discount?: string;
}

/** A promotion for Stripe: its code, else the coupon itself. */
export const toDiscountParam = ({ promotionCodeId, couponId }: AppliedDiscount): DiscountParam =>
  promotionCodeId !== null ? { promotion_code: promotionCodeId } : { coupon: couponId };

/** The discounts that Stripe has: that of the subscription comes before that of the customer. */
export type Discounts = Pick<Membership, 'discount' | 'customerDiscount'>;

/** The discounts of a preview, if it is not of those that Stripe has. */
export function previewDiscounts(
  { discount, customerDiscount }: Discounts,
  applied: AppliedDiscount | CustomerDiscount | null,
): { discounts?: '' | DiscountParam[] } {
  if (applied === (discount ?? customerDiscount)) return {};
  if (applied === null) return { discounts: '' };
  return { discounts: ['discountId' in applied ? { discount: applied.discountId } : toDiscountParam(applied)] };
}

/** Tests whether a discount still applies to a charge at this time, after it was used by an earlier one. */
export const lastsUntil = ({ duration, endsAt }: AppliedDiscount, at: number | null): boolean =>
  duration === 'forever' || (duration === 'repeating' && endsAt !== null && at !== null && endsAt > at);

/** The same of one that no earlier charge uses. */
export const appliesAt = (discount: AppliedDiscount, at: number | null): boolean =>
  discount.duration === 'once' || lastsUntil(discount, at);

/** A charge at a time. `amountCents`: a fixed discount of the subscription that exceeds it does not apply. */
interface LaterAmount {
  at: number | null;
  amountCents?: number;
}

/** The discount of a later charge, if none is before it. */
export function discountAt(
  { discount, customerDiscount }: Discounts,
  { at, amountCents = Infinity }: LaterAmount,
): AppliedDiscount | CustomerDiscount | null {
  if (discount && appliesAt(discount, at) && exceedsAmount(amountCents, discount) === undefined) return discount;
  return customerDiscount && appliesAt(customerDiscount, at) ? customerDiscount : null;
}

/** The discount of the charge after one that has used a discount. */
export function discountAfter(
  used: AppliedDiscount | null,
  customerDiscount: CustomerDiscount | null,
  { at, amountCents = Infinity }: LaterAmount,
): AppliedDiscount | CustomerDiscount | null {
  if (used === customerDiscount) return used && lastsUntil(used, at) ? used : null;
  if (used && lastsUntil(used, at) && exceedsAmount(amountCents, used) === undefined) return used;
  return customerDiscount && appliesAt(customerDiscount, at) ? customerDiscount : null;
}

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

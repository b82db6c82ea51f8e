import type Stripe from 'stripe';
import { addPeriods, type BillingPeriod, type ChargePeriod, toPeriod } from '../catalogue/catalogue.ts';
import type { SubscriptionPrice } from '../subscription/membership.ts';
import type { ChargeDiscounts } from './stripe-invoices.ts';
import { toMs } from './stripe-objects.ts';

/**
 * Stripe counts periods from the anchor: after February 28 comes March 31. Another interval begins with a new anchor.
 * @param price of the subscription until then
 */
export function withAnchor(
  period: BillingPeriod | null,
  price: SubscriptionPrice | null,
  { billing_cycle_anchor: anchor }: Pick<Stripe.Subscription, 'billing_cycle_anchor'>,
): ChargePeriod | null {
  const before = price && toPeriod(price);
  const goesOn = period !== null && before?.interval === period.interval && before.count === period.count;
  return goesOn ? { ...period, anchorMs: toMs(anchor) } : period;
}

/** How many charges from this one on have its discount. undefined: unknown, or without an end. */
export function countDiscounted({ discount, at, period }: ChargeDiscounts): number | undefined {
  if (discount?.duration === 'once') return 1;
  const endsAt = discount?.endsAt ?? null;
  if (endsAt === null || at === null || period === null) return undefined;
  let count = 1;
  while (addPeriods(at, period, count) < endsAt) count += 1;
  return count;
}

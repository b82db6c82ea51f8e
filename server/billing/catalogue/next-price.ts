import type Stripe from 'stripe';
import type { BillingDeps } from '../deps.ts';
import { exceedsAmount } from '../purchase/discount-rules.ts';
import { nextPlanKey } from '../stripe/read-stripe-snapshot.ts';
import { callStripe, orNotFound, toStripeRefusal } from '../stripe/stripe-client.ts';
import { discountOfCoupon } from '../stripe/stripe-objects.ts';
import { getItem, readSubscription } from '../subscription/changeable-subscription.ts';
import { isInLastDays, type Membership } from '../subscription/membership.ts';
import type { Plan } from './catalogue.ts';
import { currentPaidPlan } from './effective-plan.ts';

/** The subscription's metadata key of the price before the next plan's, which users keep. */
const priceBeforeKey = 'foyer_price_before';

/** The metadata key of a discount that was too high for the next plan, as `<promotion code or ''>:<coupon>`. */
const leftBehindKey = 'foyer_discount_left_behind';

type Update = Stripe.SubscriptionUpdateParams;

/** @throws {StripeUnavailableError} */
function read(deps: BillingDeps, { subscriptionId }: Membership): Promise<Stripe.Subscription> {
  if (subscriptionId === null) throw new Error('there is no subscription to change');
  return readSubscription(deps, subscriptionId);
}

/** A price from the unchanged period's end on. The subscription continues. */
function fromPeriodEnd(subscription: Stripe.Subscription, price: string): Update {
  const item = getItem(subscription);
  return {
    items: [{ id: item.id, price }],
    // Charged at that time, not before.
    trial_end: item.current_period_end,
    proration_behavior: 'none',
    // A normal renewal: without a card it is unpaid, not paused.
    trial_settings: { end_behavior: { missing_payment_method: 'create_invoice' } },
    cancel_at_period_end: false,
  };
}

function toLeftBehind({ metadata }: Stripe.Subscription): { code: string; coupon: string } | undefined {
  const [code = '', coupon] = metadata[leftBehindKey]?.split(':') ?? [];
  return coupon ? { code, coupon } : undefined;
}

/**
 * The possible updates that restore the removed discount, the best first. Stripe may refuse it by now (its code is for
 * a first purchase, has expired or is used up).
 */
function waysBack(subscription: Stripe.Subscription): Update[] {
  const left = toLeftBehind(subscription);
  if (!left) return [{}];
  const metadata = { [leftBehindKey]: '' };
  return [
    ...(left.code ? [{ discounts: [{ promotion_code: left.code }], metadata }] : []),
    { discounts: [{ coupon: left.coupon }], metadata },
    { metadata },
  ];
}

/**
 * A fixed discount that exceeds the amount is refused when it is applied, so it does not make a cheaper plan free
 * either.
 */
async function waysOn(
  deps: BillingDeps,
  subscription: Stripe.Subscription,
  { discount, plan }: { discount: Membership['discount']; plan: Plan },
): Promise<Update[]> {
  if (discount !== null && exceedsAmount(plan.amountCents, discount) !== undefined) {
    const { promotionCodeId, couponId } = discount;
    return [{ discounts: '', metadata: { [leftBehindKey]: `${promotionCodeId ?? ''}:${couponId}` } }];
  }
  const left = toLeftBehind(subscription);
  if (!left) return [{}];
  const coupon = await callStripe(deps.stripe, (client) => orNotFound(client.coupons.retrieve(left.coupon)));
  const fits = coupon !== undefined && exceedsAmount(plan.amountCents, discountOfCoupon(coupon)) === undefined;
  return fits ? waysBack(subscription) : [{}];
}

/** One call, which changes all or nothing; if Stripe refuses its discount, the next best. */
async function updateAtOnce(deps: BillingDeps, id: string, { change, ways }: { change: Update; ways: Update[] }) {
  for (const [at, way] of ways.entries()) {
    const metadata = { ...(change.metadata as object), ...(way.metadata as object) };
    try {
      await callStripe(deps.stripe, (client) => client.subscriptions.update(id, { ...change, ...way, metadata }));
      return;
    } catch (error) {
      if (at === ways.length - 1 || !toStripeRefusal(error)) throw error;
      deps.log.warn({ err: error, act: 'discount' }, 'could not restore a discount');
    }
  }
}

/**
 * Sets the next plan's price from the period's end on.
 * @throws {StripeUnavailableError}
 */
export async function putNextPrice(deps: BillingDeps, membership: Membership, plan: Plan): Promise<void> {
  const subscription = await read(deps, membership);
  const price = await deps.prices.priceIdFor(plan);
  // In the last days another next price may already be on the item; then the user's own is recorded.
  const isOwn = !isInLastDays(membership) || membership.pricedPlanId === membership.paidPlanId;
  const metadata = {
    [nextPlanKey]: plan.id,
    ...(isOwn && { [priceBeforeKey]: getItem(subscription).price.id }),
  };
  const ways = await waysOn(deps, subscription, { discount: membership.discount, plan });
  await updateAtOnce(deps, subscription.id, { change: { ...fromPeriodEnd(subscription, price), metadata }, ways });
}

/** Stripe refuses an archived price on an item, so it is activated for the duration of the call. */
async function whileActive(deps: BillingDeps, priceId: string, act: () => Promise<void>): Promise<void> {
  const { active } = await callStripe(deps.stripe, (client) => client.prices.retrieve(priceId));
  if (active) return act();
  await callStripe(deps.stripe, (client) => client.prices.update(priceId, { active: true }));
  try {
    await act();
  } finally {
    await callStripe(deps.stripe, (client) => client.prices.update(priceId, { active: false })).catch(
      (error: unknown) =>
        // The next sync of the plans archives it.
        deps.log.warn({ err: error, act: 'price', price: priceId }, 'former price is still active'),
    );
  }
}

/**
 * Restores the price that the user has paid for the time after the period, with its removed discount.
 * @throws {StripeUnavailableError}
 */
export async function putPriceBack(deps: BillingDeps, membership: Membership): Promise<void> {
  const subscription = await read(deps, membership);
  const current = currentPaidPlan(deps.catalogue, membership);
  const noted = subscription.metadata[priceBeforeKey];
  const price = noted || (current ? await deps.prices.priceIdFor(current) : getItem(subscription).price.id);
  const change = { ...fromPeriodEnd(subscription, price), metadata: { [nextPlanKey]: '', [priceBeforeKey]: '' } };
  await whileActive(deps, price, () => updateAtOnce(deps, subscription.id, { change, ways: waysBack(subscription) }));
}

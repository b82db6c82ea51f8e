import type Stripe from 'stripe';
import type { Plan } from '../catalogue/catalogue.ts';
import { whileActive } from '../catalogue/prices.ts';
import type { BillingDeps } from '../deps.ts';
import { nextPlanKey } from '../stripe/read-stripe-snapshot.ts';
import { callStripe, toStripeRefusal } from '../stripe/stripe-client.ts';
import { getItem, readSubscription } from './changeable-subscription.ts';
import { exceedsAmount, type Membership } from './membership.ts';
import { currentPaidPlan } from './membership-state.ts';

/**
 * An earlier release put the next plan's price on the subscription in the last three days before a change, and Stripe
 * counts that as a trial of it. Such a subscription runs out as it is; each act on it is one call, so that no state
 * between two calls can charge more than the state before or after the act.
 */

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

/**
 * The possible updates that restore the removed discount, the best first. Stripe may refuse it by now (its code is for
 * a first purchase, has expired or is used up).
 */
function waysBack({ metadata }: Stripe.Subscription): Update[] {
  const [code = '', coupon] = metadata[leftBehindKey]?.split(':') ?? [];
  if (!coupon) return [{}];
  const forgotten = { metadata: { [leftBehindKey]: '' } };
  return [
    ...(code ? [{ discounts: [{ promotion_code: code }], ...forgotten }] : []),
    { discounts: [{ coupon }], ...forgotten },
    forgotten,
  ];
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
 * Sets another next plan's price. A fixed discount that exceeds the amount does not make a cheaper plan free.
 * @throws {StripeUnavailableError}
 */
export async function putNextPrice(deps: BillingDeps, membership: Membership, plan: Plan): Promise<void> {
  const subscription = await read(deps, membership);
  const { id: price } = await deps.prices.priceFor(plan);
  const { discount } = membership;
  const left = discount !== null && exceedsAmount(plan.amountCents, discount) !== undefined ? discount : undefined;
  const change: Update = {
    ...fromPeriodEnd(subscription, price),
    metadata: {
      [nextPlanKey]: plan.id,
      ...(left && { [leftBehindKey]: `${left.promotionCodeId ?? ''}:${left.couponId}` }),
    },
    ...(left && { discounts: '' }),
  };
  await callStripe(deps.stripe, (client) => client.subscriptions.update(subscription.id, change));
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

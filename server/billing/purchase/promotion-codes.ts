import type Stripe from 'stripe';
import { consumeLimits } from '../../http/index.ts';
import type { StripeCustomerId } from '../../shared/index.ts';
import type { User } from '../../users/index.ts';
import type { Plan } from '../catalogue/catalogue.ts';
import type { BillingDeps } from '../deps.ts';
import { listOrders } from '../orders/order-store.ts';
import type { ChosenPromotion, PromotionRefusal } from '../results.ts';
import { callStripe, orNotFound } from '../stripe/stripe-client.ts';
import { discountOfCoupon, toId } from '../stripe/stripe-objects.ts';
import { viewedSubscription } from '../subscription/changeable-subscription.ts';
import { exceedsAmount } from '../subscription/membership.ts';
import { changeKind } from '../subscription/membership-state.ts';
import { quotePlan } from './quote-plan.ts';

/** Stripe's data of a code, whether or not it can be used. */
export interface StripePromotion {
  coupon: Stripe.Coupon;
  promotion: Stripe.PromotionCode | undefined;
}

/** The format of promotion codes; other texts are unknown without a request to Stripe. */
const pattern = /^[A-Za-z0-9_-]{1,100}$/;

/** The active one of several codes with the same word, preferably for this customer. */
function pick(
  codes: Stripe.PromotionCode[],
  customerId: StripeCustomerId | undefined,
): Stripe.PromotionCode | undefined {
  const inForce = codes.filter(({ active }) => active);
  const toCustomer = ({ customer }: Stripe.PromotionCode) => (customer === null ? undefined : toId(customer));
  const isOwn = (code: Stripe.PromotionCode) => customerId !== undefined && toCustomer(code) === customerId;
  return inForce.find(isOwn) ?? inForce.find((code) => toCustomer(code) === undefined) ?? inForce[0] ?? codes[0];
}

/**
 * A promotion code by its code, else a coupon by its id. Coupon IDs are rejected when the coupon has promotion codes,
 * because they would bypass those codes' limits.
 */
export async function findCode(
  deps: Pick<BillingDeps, 'stripe'>,
  typed: string,
  customerId: StripeCustomerId | undefined,
): Promise<StripePromotion | undefined> {
  if (!pattern.test(typed)) return undefined;
  return callStripe(deps.stripe, async (stripe) => {
    const { data } = await stripe.promotionCodes.list({ code: typed, limit: 100, expand: ['data.promotion.coupon'] });
    const promotion = pick(data, customerId);
    const within = promotion?.promotion.coupon;
    // Stripe sends the restriction to products only on request.
    const expand = ['applies_to'];
    const coupon = await orNotFound(stripe.coupons.retrieve(within ? toId(within) : typed, { expand }));
    if (!coupon || coupon.deleted) return undefined;
    // After the coupon is known: Stripe may refuse a list by an unknown one.
    if (!promotion && (await stripe.promotionCodes.list({ coupon: coupon.id, limit: 1 })).data.length > 0)
      return undefined;
    return { coupon, promotion };
  });
}

interface PromotionCheckInput {
  /** The amount without a code. */
  dueCents: number;
  currency: string;
  productId: string;
  customerId: StripeCustomerId;
  boughtBefore: boolean;
  nowMs: number;
}

type PromotionRule = (code: StripePromotion, requested: PromotionCheckInput) => PromotionRefusal | undefined;

const refuseExpired: PromotionRule = ({ coupon, promotion }, { nowMs }) => {
  const until = [promotion?.expires_at, coupon.redeem_by].filter((at) => at != null);
  return until.some((at) => at * 1000 <= nowMs) ? { kind: 'expired' } : undefined;
};

const refuseUsedUp: PromotionRule = ({ coupon, promotion }) => {
  const full = [promotion, coupon].some(
    (one) => one?.max_redemptions != null && one.times_redeemed >= one.max_redemptions,
  );
  return full ? { kind: 'used-up' } : undefined;
};

const refuseInvalid: PromotionRule = ({ coupon, promotion }) =>
  !coupon.valid || promotion?.active === false ? { kind: 'unknown' } : undefined;

const refuseOtherCustomers: PromotionRule = ({ promotion }, { customerId }) =>
  promotion?.customer && toId(promotion.customer) !== customerId ? { kind: 'unknown' } : undefined;

const refuseOtherProducts: PromotionRule = ({ coupon }, { productId }) => {
  const products = coupon.applies_to?.products;
  return products && !products.includes(productId) ? { kind: 'not-for-this-plan' } : undefined;
};

const refuseFurtherPurchases: PromotionRule = ({ promotion }, { boughtBefore }) =>
  promotion?.restrictions.first_time_transaction && boughtBefore ? { kind: 'first-purchase-only' } : undefined;

const refuseNothingDue: PromotionRule = (_code, { dueCents }) => (dueCents <= 0 ? { kind: 'nothing-due' } : undefined);

const refuseBelowMinimum: PromotionRule = ({ promotion }, { dueCents, currency }) => {
  const { minimum_amount: min, minimum_amount_currency: minCurrency } = promotion?.restrictions ?? {};
  return min != null && minCurrency === currency && dueCents < min ? { kind: 'minimum', amountCents: min } : undefined;
};

const refuseOtherCurrency: PromotionRule = ({ coupon }, { currency }) =>
  coupon.amount_off !== null && coupon.currency !== currency ? { kind: 'unknown' } : undefined;

const refuseAboveAmount: PromotionRule = ({ coupon }, { dueCents }) => {
  const tooMuch = exceedsAmount(dueCents, { amountOffCents: coupon.amount_off });
  return tooMuch === undefined ? undefined : { kind: 'minimum', amountCents: tooMuch };
};

/** In the order of their use to the visitor (the specification's section 5). */
const promotionRules = [
  refuseExpired,
  refuseUsedUp,
  refuseInvalid,
  refuseOtherCustomers,
  refuseOtherProducts,
  refuseFurtherPurchases,
  refuseNothingDue,
  refuseBelowMinimum,
  refuseOtherCurrency,
  refuseAboveAmount,
];

/** The reason that a code cannot be used; the most useful one first. */
export function findPromotionRefusal(
  code: StripePromotion,
  requested: PromotionCheckInput,
): PromotionRefusal | undefined {
  for (const rule of promotionRules) {
    const refusal = rule(code, requested);
    if (refusal) return refusal;
  }
  return undefined;
}

/**
 * Counts the attempts of one user and network: codes are words and can be guessed. `how`: applying one, or only asking
 * for its discount.
 */
export async function consumePromotionTry(
  { kv, limits }: BillingDeps,
  user: User,
  { ip, how }: { ip: string; how: 'promotion' | 'promotion-asked' },
): Promise<Extract<PromotionRefusal, { kind: 'too-many' }> | undefined> {
  const limit = how === 'promotion' ? limits.promotion : limits.promotionPreview;
  const decision = await consumeLimits(kv, limit, { account: user.id, address: ip });
  return decision.allowed ? undefined : { kind: 'too-many', retryAfterMs: decision.retryAfterMs };
}

/** Tests whether a caller names the code that is applied, by its own word or by the coupon's. */
export const isSameCode = (applied: { code: string; typed: string }, code: string): boolean =>
  [applied.code, applied.typed].some((word) => word.toLowerCase() === code.trim().toLowerCase());

/**
 * Tests whether a user can use a code for a plan.
 * @throws {StripeUnavailableError}
 */
export async function validatePromotion(
  deps: BillingDeps,
  user: User,
  { plan, typed, ip }: { plan: Plan; typed: string; ip: string },
): Promise<{ promotion: ChosenPromotion } | { refusal: PromotionRefusal }> {
  const refusal = await consumePromotionTry(deps, user, { ip, how: 'promotion' });
  if (refusal) return { refusal };
  if (plan.kind !== 'paid') return { refusal: { kind: 'nothing-due' } };
  const { membership, customerId } = await viewedSubscription(deps, user);
  const known = await findCode(deps, typed, customerId);
  if (!known) return { refusal: { kind: 'unknown' } };
  if (changeKind(deps.catalogue, membership, plan) === 'none') return { refusal: { kind: 'nothing-due' } };
  const [{ dueCents }, orders, productId] = await Promise.all([
    quotePlan(deps, user, { plan, promotion: null }),
    listOrders(deps.database.db, user.id),
    deps.prices.productIdFor(plan),
  ]);
  const { currency } = deps.catalogue;
  const requested = { dueCents, currency, productId, customerId, boughtBefore: orders.length > 0, nowMs: deps.now() };
  const why = findPromotionRefusal(known, requested);
  if (why) return { refusal: why };
  const { coupon, promotion } = known;
  return {
    promotion: {
      ...discountOfCoupon(coupon),
      ...(promotion && { code: promotion.code, promotionCodeId: promotion.id }),
      typed,
    },
  };
}

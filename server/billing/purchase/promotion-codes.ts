import type Stripe from 'stripe';
import { consumeLimits } from '../../rate-limits/index.ts';
import type { StripeCustomerId } from '../../shared/index.ts';
import type { User } from '../../users/index.ts';
import type { Plan } from '../catalogue/catalogue.ts';
import { changeKind } from '../catalogue/change-kind.ts';
import type { BillingDeps } from '../deps.ts';
import { listOrders } from '../orders/order-store.ts';
import type { ChosenPromotion, PromotionRefusal } from '../results.ts';
import { callStripe, orNotFound } from '../stripe/stripe-client.ts';
import { discountOfCoupon, toId } from '../stripe/stripe-objects.ts';
import { viewedSubscription } from '../subscription/changeable-subscription.ts';
import { exceedsAmount } from './discount-rules.ts';
import { quotePlan } from './quote.ts';

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
    if (!promotion && (await stripe.promotionCodes.list({ coupon: typed, limit: 1 })).data.length > 0) return undefined;
    const within = promotion?.promotion.coupon;
    const coupon =
      within && typeof within !== 'string'
        ? // Stripe sends the restriction to products only on request.
          await orNotFound(stripe.coupons.retrieve(within.id, { expand: ['applies_to'] }))
        : await orNotFound(stripe.coupons.retrieve(typed, { expand: ['applies_to'] }));
    return coupon && !coupon.deleted ? { coupon, promotion } : undefined;
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

/** The reason that a code cannot be used; the most useful one first (the specification's section 5). */
export function findPromotionRefusal(
  { coupon, promotion }: StripePromotion,
  requested: PromotionCheckInput,
): PromotionRefusal | undefined {
  const { nowMs } = requested;
  const until = [promotion?.expires_at, coupon.redeem_by].filter((at) => at != null);
  if (until.some((at) => at * 1000 <= nowMs)) return { kind: 'expired' };
  const full = [promotion, coupon].some(
    (one) => one?.max_redemptions != null && one.times_redeemed >= one.max_redemptions,
  );
  if (full) return { kind: 'used-up' };
  if (!coupon.valid || promotion?.active === false) return { kind: 'unknown' };
  const boundCustomer = promotion?.customer;
  if (boundCustomer && (typeof boundCustomer === 'string' ? boundCustomer : boundCustomer.id) !== requested.customerId)
    return { kind: 'unknown' };
  const products = coupon.applies_to?.products;
  if (products && !products.includes(requested.productId)) return { kind: 'not-for-this-plan' };
  if (promotion?.restrictions.first_time_transaction && requested.boughtBefore) return { kind: 'first-purchase-only' };
  if (requested.dueCents <= 0) return { kind: 'nothing-due' };
  const { minimum_amount: min, minimum_amount_currency: minCurrency } = promotion?.restrictions ?? {};
  if (min != null && minCurrency === requested.currency && requested.dueCents < min) {
    return { kind: 'minimum', amountCents: min };
  }
  if (coupon.amount_off !== null && coupon.currency !== requested.currency) return { kind: 'unknown' };
  const tooMuch = exceedsAmount(requested.dueCents, {
    percentOff: coupon.percent_off,
    amountOffCents: coupon.amount_off,
  });
  return tooMuch === undefined ? undefined : { kind: 'minimum', amountCents: tooMuch };
}

/**
 * Stripe checks a code's conditions when it is put on the subscription, before its price changes: a minimum is compared
 * with the earlier plan (at a first purchase a free one, whose invoices may count as transactions too). So the
 * conditions are checked here, against the plan being bought, and the coupon itself is applied. Stripe counts
 * redemptions by the code: a code with such a limit is applied as a code.
 */
const isJudgedHere = ({ restrictions, max_redemptions: max }: Stripe.PromotionCode): boolean =>
  max === null && (restrictions.minimum_amount !== null || restrictions.first_time_transaction);

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

/**
 * Tests whether a user can use a code for a plan.
 * @throws {StripeUnavailableError}
 */
export async function validatePromotion(
  deps: BillingDeps,
  user: User,
  plan: Plan,
  typed: string,
  { ip }: { ip: string },
): Promise<{ promotion: ChosenPromotion } | { refusal: PromotionRefusal }> {
  const refusal = await consumePromotionTry(deps, user, { ip, how: 'promotion' });
  if (refusal) return { refusal };
  if (plan.kind !== 'paid') return { refusal: { kind: 'nothing-due' } };
  const { membership, customerId } = await viewedSubscription(deps, user);
  const known = await findCode(deps, typed, customerId);
  if (!known) return { refusal: { kind: 'unknown' } };
  if (changeKind(deps.catalogue, membership, plan) === 'none') return { refusal: { kind: 'nothing-due' } };
  const [{ dueCents }, orders, productId] = await Promise.all([
    quotePlan(deps, user, plan, null),
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
      ...(promotion && {
        code: promotion.code,
        ...(isJudgedHere(promotion) ? { judgedCodeId: promotion.id } : { promotionCodeId: promotion.id }),
      }),
      typed,
    },
  };
}

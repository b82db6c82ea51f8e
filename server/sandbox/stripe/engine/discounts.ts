import { percentOf, share } from './money.ts';
import type { Coupon, Discount, PromotionCode, Subscription } from './objects.ts';
import { list, type Params, paging, Reader } from './params.ts';
import { monthsAfter } from './periods.ts';
import { newId, type State } from './state.ts';
import { invalid, missing } from './types.ts';

export function createCoupon(state: State, params: Params): Coupon {
  const reader = new Reader(params, [
    'id',
    'name',
    'percent_off',
    'amount_off',
    'currency',
    'duration',
    'duration_in_months',
    'max_redemptions',
    'redeem_by',
    'metadata',
    'applies_to',
  ]);
  const id = reader.text('id') ?? newId('x', 8).slice(2);
  if (state.shown(id)) throw invalid('Coupon already exists.', { param: 'id', code: 'resource_already_exists' });
  const [percent, amount] = [reader.number('percent_off') ?? null, reader.int('amount_off') ?? null];
  if ((percent === null) === (amount === null)) throw invalid('You must pass one of percent_off and amount_off.');
  if (percent !== null && (percent <= 0 || percent > 100)) {
    throw invalid('percent_off must be above 0 and not above 100', { param: 'percent_off' });
  }
  if (amount !== null && amount <= 0) throw invalid('amount_off must be above 0', { param: 'amount_off' });
  const duration = reader.one('duration', ['forever', 'once', 'repeating']) ?? 'once';
  const months = reader.int('duration_in_months') ?? null;
  if ((duration === 'repeating') !== (months !== null)) {
    throw invalid('duration_in_months belongs to the duration repeating, and only there.', {
      param: 'duration_in_months',
    });
  }
  const products = reader.object('applies_to', ['products'])?.texts('products');
  const coupon: Coupon = state.put({
    id,
    object: 'coupon',
    amount_off: amount,
    ...(products && { applies_to: { products } }),
    created: state.now(),
    currency: amount === null ? null : reader.need('currency').toLowerCase(),
    duration,
    duration_in_months: months,
    livemode: false,
    max_redemptions: reader.int('max_redemptions') ?? null,
    metadata: reader.metadata(),
    name: reader.text('name') ?? null,
    percent_off: percent,
    redeem_by: reader.int('redeem_by') ?? null,
    times_redeemed: 0,
    valid: true,
  });
  state.announce('coupon.created', coupon);
  return coupon;
}

export function updateCoupon(state: State, id: string, params: Params): Coupon {
  const coupon = state.edit('coupon', id);
  const reader = new Reader(params, ['name', 'metadata']);
  if (reader.has('name')) coupon.name = reader.text('name') ?? null;
  coupon.metadata = reader.metadata(coupon.metadata ?? {});
  state.announce('coupon.updated', coupon, 'updated');
  return coupon;
}

export function deleteCoupon(state: State, id: string, params: Params) {
  new Reader(params, []);
  state.announce('coupon.deleted', state.get('coupon', id));
  for (const { id: each, promotion } of state.all('promotion_code')) {
    if (promotion.coupon === id) state.edit('promotion_code', each).active = false;
  }
  return state.markDeleted('coupon', id);
}

export function listCoupons(state: State, params: Params) {
  new Reader(params, paging);
  return list(state.all('coupon'), '/v1/coupons');
}

const restrictionFields = ['first_time_transaction', 'minimum_amount', 'minimum_amount_currency'];

export function createPromotionCode(state: State, params: Params): PromotionCode {
  const reader = new Reader(params, [
    'promotion',
    'code',
    'active',
    'customer',
    'expires_at',
    'max_redemptions',
    'metadata',
    'restrictions',
  ]);
  const coupon = state.get('coupon', reader.object('promotion', ['type', 'coupon'])?.need('coupon') ?? '', 'coupon');
  const code = (reader.text('code') ?? newId('x', 8).slice(2)).toUpperCase();
  if (!/^[A-Z0-9-]+$/.test(code)) throw invalid('A code holds letters, digits and dashes only.', { param: 'code' });
  const customer = reader.text('customer') ?? null;
  if (customer !== null) state.get('customer', customer, 'customer');
  const clash = state
    .all('promotion_code')
    .find((each) => each.code.toUpperCase() === code && each.active && each.customer === customer);
  if (clash) {
    throw invalid('An active promotion code with this code already exists.', {
      param: 'code',
      code: 'resource_already_exists',
    });
  }
  const restrictions = reader.object('restrictions', restrictionFields);
  const minimum = restrictions?.int('minimum_amount') ?? null;
  const promotion: PromotionCode = state.put({
    id: newId('promo'),
    object: 'promotion_code',
    active: reader.bool('active') ?? true,
    code: reader.text('code') ?? code,
    created: state.now(),
    customer,
    customer_account: null,
    expires_at: reader.int('expires_at') ?? null,
    livemode: false,
    max_redemptions: reader.int('max_redemptions') ?? null,
    metadata: reader.metadata(),
    promotion: { coupon: coupon.id, type: 'coupon' },
    restrictions: {
      first_time_transaction: restrictions?.bool('first_time_transaction') ?? false,
      minimum_amount: minimum,
      minimum_amount_currency:
        minimum === null ? null : (restrictions?.need('minimum_amount_currency').toLowerCase() ?? null),
    },
    times_redeemed: 0,
  });
  state.announce('promotion_code.created', promotion);
  return promotion;
}

export function updatePromotionCode(state: State, id: string, params: Params): PromotionCode {
  const promotion = state.edit('promotion_code', id);
  const reader = new Reader(params, ['active', 'metadata']);
  promotion.active = reader.bool('active') ?? promotion.active;
  promotion.metadata = reader.metadata(promotion.metadata ?? {});
  state.announce('promotion_code.updated', promotion, 'updated');
  return promotion;
}

export function listPromotionCodes(state: State, params: Params) {
  const reader = new Reader(params, [...paging, 'active', 'code', 'coupon', 'customer']);
  const [active, code] = [reader.bool('active'), reader.text('code')?.toUpperCase()];
  const [coupon, customer] = [reader.text('coupon'), reader.text('customer')];
  return list(
    state
      .all('promotion_code')
      .filter(
        (each) =>
          (active === undefined || each.active === active) &&
          (code === undefined || each.code.toUpperCase() === code) &&
          (coupon === undefined || each.promotion.coupon === coupon) &&
          (customer === undefined || each.customer === customer),
      ),
    '/v1/promotion_codes',
  );
}

/** Coupons and codes whose time or number is up are no longer valid: Stripe counts that when it is asked. */
export function expireCodes(state: State) {
  for (const { id, valid, redeem_by, max_redemptions, times_redeemed } of state.all('coupon')) {
    const over = (redeem_by ?? Infinity) <= state.now() || times_redeemed >= (max_redemptions ?? Infinity);
    if (valid && over) state.edit('coupon', id).valid = false;
  }
  for (const { id, active, expires_at, max_redemptions, times_redeemed, promotion } of state.all('promotion_code')) {
    const over = (expires_at ?? Infinity) <= state.now() || times_redeemed >= (max_redemptions ?? Infinity);
    if (active && (over || !state.find('coupon', promotion.coupon)?.valid)) {
      state.edit('promotion_code', id).active = false;
    }
  }
}

function checkPromotionCode(state: State, code: PromotionCode, subscription: Subscription, cents: number) {
  const unusable = (why: string, reason?: string) => invalid(why, { param: 'discounts', code: reason });
  if ((code.expires_at ?? Infinity) <= state.now()) {
    throw unusable('This promotion code has expired.', 'coupon_expired');
  }
  if (code.times_redeemed >= (code.max_redemptions ?? Infinity)) {
    throw unusable('This promotion code cannot be redeemed because it has reached its maximum redemptions.');
  }
  if (!code.active) throw unusable('This promotion code cannot be redeemed because it is not active.');
  if (code.customer !== null && code.customer !== subscription.customer) {
    throw unusable('This promotion code cannot be redeemed because it is for another customer.');
  }
  const { first_time_transaction, minimum_amount, minimum_amount_currency } = code.restrictions;
  const paidBefore = () =>
    state.all('invoice').some((each) => each.customer === subscription.customer && each.amount_paid > 0);
  if (first_time_transaction && paidBefore()) {
    throw unusable('This promotion code cannot be redeemed because the associated customer has prior transactions.');
  }
  if (minimum_amount !== null && (cents < minimum_amount || minimum_amount_currency !== subscription.currency)) {
    throw unusable('This promotion code cannot be redeemed because the order is below its minimum amount.');
  }
}

function redeem(state: State, coupon: Coupon, code: PromotionCode | null, subscription: Subscription): string {
  if ((coupon.redeem_by ?? Infinity) <= state.now()) {
    throw invalid(`Coupon ${coupon.id} is expired and cannot be applied.`, {
      param: 'discounts',
      code: 'coupon_expired',
    });
  }
  if (!coupon.valid || coupon.times_redeemed >= (coupon.max_redemptions ?? Infinity)) {
    throw invalid(`Coupon ${coupon.id} is used up and cannot be applied.`, { param: 'discounts' });
  }
  if (coupon.currency !== null && coupon.currency !== subscription.currency) {
    throw invalid(
      `The coupon's currency (${coupon.currency}) does not match that of the subscription (${subscription.currency}).`,
      { param: 'discounts' },
    );
  }
  const now = state.now();
  const discount: Discount = state.put({
    id: newId('di'),
    object: 'discount',
    checkout_session: null,
    customer: subscription.customer,
    customer_account: null,
    end: coupon.duration === 'repeating' ? monthsAfter(now, coupon.duration_in_months ?? 0) : null,
    invoice: null,
    invoice_item: null,
    promotion_code: code?.id ?? null,
    source: { coupon: coupon.id, type: 'coupon' },
    start: now,
    subscription: subscription.id,
    subscription_item: null,
  });
  state.put({
    id: `hidden_${discount.id}`,
    object: 'hidden.rule',
    percentOff: coupon.percent_off,
    amountOff: coupon.amount_off,
    once: coupon.duration === 'once',
    products: coupon.applies_to?.products ?? null,
  });
  state.edit('coupon', coupon.id).times_redeemed += 1;
  if (code) state.edit('promotion_code', code.id).times_redeemed += 1;
  state.announce('customer.discount.created', discount);
  return discount.id;
}

/**
 * The subscription's discounts after a call: those named by id stay, coupons and codes are redeemed, the rest goes.
 * @param cents what the subscription's items cost: promotion codes may demand a minimum of it
 */
export function changeDiscounts(state: State, subscription: Subscription, given: readonly Reader[], cents: number) {
  const before = subscription.discounts;
  const seen = new Set<string>();
  subscription.discounts = given.map((reader) => {
    const [kept, coupon, code] = [reader.text('discount'), reader.text('coupon'), reader.text('promotion_code')];
    if ([kept, coupon, code].filter((each) => each !== undefined).length !== 1) {
      throw invalid('Each discount takes exactly one of coupon, discount and promotion_code.', { param: 'discounts' });
    }
    if (kept !== undefined) {
      if (!before.includes(kept)) throw missing('discount', kept, 'discounts');
      return kept;
    }
    const promotion = code === undefined ? null : state.get('promotion_code', code, 'discounts');
    if (promotion) checkPromotionCode(state, promotion, subscription, cents);
    const rule = state.get('coupon', promotion?.promotion.coupon ?? coupon ?? '', 'discounts');
    if (seen.has(rule.id)) throw invalid('A coupon can be applied only once.', { param: 'discounts' });
    seen.add(rule.id);
    return redeem(state, rule, promotion, subscription);
  });
  for (const id of before) {
    const gone = state.find('discount', id);
    if (gone && !subscription.discounts.includes(id)) state.announce('customer.discount.deleted', gone);
  }
}

export const discountFields = ['coupon', 'discount', 'promotion_code'];

/** Discounts of a subscription that still run. */
export const runningDiscounts = (state: State, subscription: Subscription): string[] =>
  subscription.discounts.filter((id) => (state.get('discount', id).end ?? Infinity) > state.now());

/**
 * What running discounts take off, one after the other, each from what the ones before left.
 * @param lines amounts in cents, above or equal to 0, with their products
 * @returns for each line and discount the cents taken off
 */
export function cutsOf(
  state: State,
  discounts: readonly string[],
  lines: readonly { cents: number; product: string }[],
) {
  const left = lines.map((line) => line.cents);
  const cuts: { discount: string; amount: number }[][] = lines.map(() => []);
  for (const discount of discounts) {
    const rule = state.get('hidden.rule', `hidden_${discount}`);
    const covered = lines.map((line) => rule.products === null || rule.products.includes(line.product));
    const base = left.reduce((sum, cents, index) => sum + (covered[index] ? cents : 0), 0);
    const whole = rule.percentOff === null ? Math.min(rule.amountOff ?? 0, base) : percentOf(base, rule.percentOff);
    let [seen, given] = [0, 0];
    for (const [index, cents] of left.entries()) {
      if (!covered[index]) continue;
      seen += cents; // cumulative, so that the parts add up to the whole
      const amount = share(whole, seen, base) - given;
      given += amount;
      left[index] = cents - amount;
      cuts[index]?.push({ discount, amount });
    }
  }
  return cuts;
}

/** A discount that counts once is used up by the first invoice that it took something off. */
export function spendOnce(state: State, subscription: Subscription, used: ReadonlySet<string>) {
  subscription.discounts = runningDiscounts(state, subscription).filter((id) => {
    const over = used.has(id) && state.get('hidden.rule', `hidden_${id}`).once;
    if (over) state.announce('customer.discount.deleted', state.get('discount', id));
    return !over;
  });
}

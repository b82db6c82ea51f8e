import { newId } from './new-id.ts';
import type { Coupon, PromotionCode } from './objects.ts';
import { list, type Params, paging, Reader } from './params.ts';
import type { State } from './state.ts';
import { invalid } from './types.ts';

/** The reduction of a new coupon, in percent or in cents. */
function readReduction(reader: Reader): { percent: number | null; amount: number | null } {
  const [percent, amount] = [reader.number('percent_off') ?? null, reader.int('amount_off') ?? null];
  if ((percent === null) === (amount === null)) throw invalid('You must pass one of percent_off and amount_off.');
  if (percent !== null && (percent <= 0 || percent > 100)) {
    throw invalid('percent_off must be above 0 and not above 100', { param: 'percent_off' });
  }
  if (amount !== null && amount <= 0) throw invalid('amount_off must be above 0', { param: 'amount_off' });
  return { percent, amount };
}

function readDuration(reader: Reader): { duration: Coupon['duration']; months: number | null } {
  const duration = reader.choice('duration', ['forever', 'once', 'repeating']) ?? 'once';
  const months = reader.int('duration_in_months') ?? null;
  if ((duration === 'repeating') !== (months !== null)) {
    throw invalid('duration_in_months belongs to the duration repeating, and only there.', {
      param: 'duration_in_months',
    });
  }
  return { duration, months };
}

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
  if (state.findVisible(id)) throw invalid('Coupon already exists.', { param: 'id', code: 'resource_already_exists' });
  const { percent, amount } = readReduction(reader);
  const { duration, months } = readDuration(reader);
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
  const existing = state
    .all('promotion_code')
    .find((each) => each.code.toUpperCase() === code && each.active && each.customer === customer);
  if (existing) {
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
  // Not confirmed by Stripe. It refuses lists by an unknown customer, so this is the stricter reading.
  if (coupon !== undefined) state.get('coupon', coupon, 'coupon');
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

/** Expired and exhausted coupons and codes are no longer valid: Stripe evaluates that at each request. */
export function expireCodes(state: State) {
  for (const { id, valid, redeem_by, max_redemptions, times_redeemed } of state.all('coupon')) {
    const spent = (redeem_by ?? Infinity) <= state.now() || times_redeemed >= (max_redemptions ?? Infinity);
    if (valid && spent) state.edit('coupon', id).valid = false;
  }
  for (const { id, active, expires_at, max_redemptions, times_redeemed, promotion } of state.all('promotion_code')) {
    const spent = (expires_at ?? Infinity) <= state.now() || times_redeemed >= (max_redemptions ?? Infinity);
    if (active && (spent || !state.find('coupon', promotion.coupon)?.valid)) {
      state.edit('promotion_code', id).active = false;
    }
  }
}

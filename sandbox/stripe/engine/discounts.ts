import { share, takePercent } from './money.ts';
import { newId } from './new-id.ts';
import type { Coupon, Discount, PromotionCode, Subscription } from './objects.ts';
import type { Reader } from './params.ts';
import { monthsAfter } from './periods.ts';
import type { State } from './state.ts';
import { calculateCost, type ItemChange } from './subscription-shape.ts';
import { invalid, missing } from './types.ts';

interface Order {
  subscription: Subscription;
  /** The price of its items. */
  cents: number;
  /** Their product. */
  product: string;
}

function checkPromotionCode(state: State, code: PromotionCode, { subscription, cents }: Order) {
  const unusable = (message: string, reason?: string) => invalid(message, { param: 'discounts', code: reason });
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

function checkCoupon(state: State, coupon: Coupon, currency: string | null | undefined) {
  if ((coupon.redeem_by ?? Infinity) <= state.now()) {
    throw invalid(`Coupon ${coupon.id} is expired and cannot be applied.`, {
      param: 'discounts',
      code: 'coupon_expired',
    });
  }
  if (!coupon.valid || coupon.times_redeemed >= (coupon.max_redemptions ?? Infinity)) {
    throw invalid(`Coupon ${coupon.id} is used up and cannot be applied.`, { param: 'discounts' });
  }
  if (coupon.currency !== null && currency != null && coupon.currency !== currency) {
    throw invalid(`The coupon's currency (${coupon.currency}) does not match that of the subscription (${currency}).`, {
      param: 'discounts',
    });
  }
}

/** @returns the id of the new discount, which counts as a redemption only when it is applied */
function createDiscount(
  state: State,
  { subscription, product }: Order,
  { coupon, code }: { coupon: Coupon; code: PromotionCode | null },
): string {
  const { products } = coupon.applies_to ?? {};
  if (products && !products.includes(product)) {
    throw invalid(`Coupon ${coupon.id} does not apply to any of the products of the subscription.`, {
      param: 'discounts',
    });
  }
  checkCoupon(state, coupon, subscription.currency);
  const { id, customer } = subscription;
  return putDiscount(state, { customer, subscription: id, coupon, code }).id;
}

function putDiscount(
  state: State,
  {
    customer,
    subscription,
    coupon,
    code,
  }: { customer: string; subscription: string | null; coupon: Coupon; code: PromotionCode | null },
): Discount {
  const now = state.now();
  const discount: Discount = state.put({
    id: newId('di'),
    object: 'discount',
    checkout_session: null,
    customer,
    customer_account: null,
    end: coupon.duration === 'repeating' ? monthsAfter(now, coupon.duration_in_months ?? 0) : null,
    invoice: null,
    invoice_item: null,
    promotion_code: code?.id ?? null,
    source: { coupon: coupon.id, type: 'coupon' },
    start: now,
    subscription,
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
  return discount;
}

/**
 * An operator gives a customer a coupon, or takes it away: the API of this version has no parameter for the former. It
 * applies to the subscriptions that have no discount of their own (docs.stripe.com/billing/subscriptions/coupons).
 */
export function discountCustomer(state: State, id: string, couponId: string | null): void {
  const customer = state.edit('customer', id);
  const { discount: before } = customer;
  if (couponId === null) customer.discount = null;
  else {
    const coupon = state.get('coupon', couponId, 'coupon');
    checkCoupon(state, coupon, customer.currency);
    customer.discount = structuredClone(putDiscount(state, { customer: id, subscription: null, coupon, code: null }));
    state.edit('coupon', couponId).times_redeemed += 1;
    state.announce('customer.discount.created', customer.discount);
  }
  if (before) state.announce('customer.discount.deleted', before);
  state.announce('customer.updated', customer, 'updated');
}

/**
 * Changes the subscription's discounts: those named by id stay, coupons and codes become discounts, others are removed.
 * `recordDiscountChange` counts the redemptions, when the change is applied.
 * @param change.item the item after the call: codes may require a minimum, and coupons a product
 */
export function changeDiscounts(
  state: State,
  subscription: Subscription,
  { discounts, item }: { discounts: readonly Reader[]; item: ItemChange },
) {
  const before = subscription.discounts;
  const order = { subscription, cents: calculateCost(item), product: item.price.product };
  const coupons = new Set<string>();
  subscription.discounts = discounts.map((reader) => {
    const [existing, coupon, code] = [reader.text('discount'), reader.text('coupon'), reader.text('promotion_code')];
    if ([existing, coupon, code].filter((each) => each !== undefined).length !== 1) {
      throw invalid('Each discount takes exactly one of coupon, discount and promotion_code.', { param: 'discounts' });
    }
    if (existing !== undefined) {
      // An existing discount of the object, or of its customer.
      const { discount: above } = state.get('customer', subscription.customer);
      if (!before.includes(existing) && above?.id !== existing) throw missing('discount', existing, 'discounts');
      return existing;
    }
    const promotion = code === undefined ? null : state.get('promotion_code', code, 'discounts');
    if (promotion) checkPromotionCode(state, promotion, order);
    const rule = state.get('coupon', promotion?.promotion.coupon ?? coupon ?? '', 'discounts');
    if (coupons.has(rule.id)) throw invalid('A coupon can be applied only once.', { param: 'discounts' });
    coupons.add(rule.id);
    return createDiscount(state, order, { coupon: rule, code: promotion });
  });
}

/** The new discounts count as redemptions, and events report the difference. */
export function recordDiscountChange(state: State, before: readonly string[], after: readonly string[]) {
  for (const id of after.filter((each) => !before.includes(each))) {
    const discount = state.get('discount', id);
    // The customer's.
    if (discount.subscription === null) continue;
    const { coupon } = discount.source;
    if (state.find('coupon', coupon)) state.edit('coupon', coupon).times_redeemed += 1;
    if (discount.promotion_code !== null) state.edit('promotion_code', discount.promotion_code).times_redeemed += 1;
    state.announce('customer.discount.created', discount);
  }
  for (const id of before.filter((each) => !after.includes(each))) {
    const removed = state.find('discount', id);
    if (removed && removed.subscription !== null) state.announce('customer.discount.deleted', removed);
  }
}

export const discountFields = ['coupon', 'discount', 'promotion_code'];

const ownDiscounts = (state: State, subscription: Subscription): string[] =>
  subscription.discounts.filter((id) => (state.get('discount', id).end ?? Infinity) > state.now());

const toBareId = (id: string) => `hidden_bare_${id}`;

/** The customer's discount does not apply in these phases of a schedule, or, in a preview, to this customer. */
export const setBare = (state: State, id: string, phases: number[] = []) =>
  state.put({ id: toBareId(id), object: 'hidden.bare', phases });

function inherits(state: State, { customer, schedule }: Subscription): boolean {
  if (state.find('hidden.bare', toBareId(customer))) return false;
  const bare = schedule === null ? undefined : state.find('hidden.bare', toBareId(schedule));
  if (schedule === null || !bare) return true;
  return !bare.phases.includes(state.get('subscription_schedule', schedule).current_phase?.start_date ?? 0);
}

/** Discounts that still run: those of the subscription, or else that of its customer. */
export function runningDiscounts(state: State, subscription: Subscription): string[] {
  const own = ownDiscounts(state, subscription);
  const { discount } = state.get('customer', subscription.customer);
  if (own.length > 0 || !discount || !inherits(state, subscription)) return own;
  return (discount.end ?? Infinity) > state.now() ? [discount.id] : [];
}

/**
 * The amounts of running discounts, one after the other, each from the rest of the previous ones.
 * @param lines amounts in cents, above or equal to 0, with their products
 * @returns for each line and discount the deducted cents
 */
export function calculateCuts(
  state: State,
  discounts: readonly string[],
  lines: readonly { cents: number; product: string }[],
) {
  const remaining = lines.map((line) => line.cents);
  const cuts: { discount: string; amount: number }[][] = lines.map(() => []);
  for (const discount of discounts) {
    const rule = state.get('hidden.rule', `hidden_${discount}`);
    const covered = lines.map((line) => rule.products === null || rule.products.includes(line.product));
    const base = remaining.reduce((sum, cents, index) => sum + (covered[index] ? cents : 0), 0);
    const whole = rule.percentOff === null ? Math.min(rule.amountOff ?? 0, base) : takePercent(base, rule.percentOff);
    let [counted, assigned] = [0, 0];
    for (const [index, cents] of remaining.entries()) {
      if (!covered[index]) continue;
      counted += cents; // cumulative, so that the parts add up to the whole
      const amount = share(whole, counted, base) - assigned;
      assigned += amount;
      remaining[index] = cents - amount;
      cuts[index]?.push({ discount, amount });
    }
  }
  return cuts;
}

/** A one-time discount is used up by the first invoice that it reduced. */
export function removeSpentDiscounts(state: State, subscription: Subscription, used: ReadonlySet<string>) {
  const isSpent = (id: string) => used.has(id) && state.get('hidden.rule', `hidden_${id}`).once;
  subscription.discounts = ownDiscounts(state, subscription).filter((id) => {
    const spent = isSpent(id);
    if (spent) state.announce('customer.discount.deleted', state.get('discount', id));
    return !spent;
  });
  const { discount } = state.get('customer', subscription.customer);
  if (!discount || !isSpent(discount.id)) return;
  state.edit('customer', subscription.customer).discount = null;
  state.announce('customer.discount.deleted', discount);
}

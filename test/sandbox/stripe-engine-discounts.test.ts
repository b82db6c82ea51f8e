import type Stripe from 'stripe';
import { day, engineKit, visa } from './stripe-engine-kit.ts';

describe('the stand-in’s engine: coupons, codes and prorations', () => {
  let kit = engineKit();
  beforeEach(() => {
    kit = engineKit();
  });
  afterEach(() => expect(kit.faults).toEqual([]));
  const coupon = (params: Record<string, unknown>) => kit.post<Stripe.Coupon>('/v1/coupons', params).id;
  const code = (of: string, params: Record<string, unknown> = {}) =>
    kit.post<Stripe.PromotionCode>('/v1/promotion_codes', { promotion: { type: 'coupon', coupon: of }, ...params }).id;
  const paid = (customer: string) =>
    kit
      .get<Stripe.ApiList<Stripe.Invoice>>('/v1/invoices', { customer })
      .data.toReversed()
      .map((each) => each.amount_paid);

  it('The engine applies a code once, to the first real invoice after a trial', () => {
    const [basic, monthly] = [kit.price(4_900), kit.price(9_999)];
    const customer = kit.customer(visa);
    const trial = kit.subscribe(customer, basic, { trial_period_days: 7 });
    const promotion = code(coupon({ percent_off: 12.5, duration: 'once' }), { code: 'Spring-25' });
    const found = kit.get<Stripe.ApiList<Stripe.PromotionCode>>('/v1/promotion_codes', { code: 'SPRING-25' });
    expect(found.data).toMatchObject([{ id: promotion, code: 'Spring-25', active: true }]);
    kit.post(`/v1/subscriptions/${trial.id}`, { discounts: [{ promotion_code: promotion }] });
    const change = { ...kit.to(trial, monthly), trial_end: 'now', proration_behavior: 'none' };
    const preview = kit.preview({ subscription: trial.id, subscription_details: change });
    // 12.5 % of 99.99 are 12.49875: half up.
    expect(preview).toMatchObject({ subtotal: 9_999, total: 8_749, total_discount_amounts: [{ amount: 1_250 }] });
    const upgraded = kit.post<Stripe.Subscription>(`/v1/subscriptions/${trial.id}`, change);
    expect(upgraded.discounts).toEqual([]);
    kit.engine.advance(31 * day);
    expect(paid(customer)).toEqual([0, 8_749, 9_999]);
    expect(kit.get<Stripe.PromotionCode>(`/v1/promotion_codes/${promotion}`).times_redeemed).toBe(1);
  });

  it('The engine applies the discount of a customer where the subscription has none, and to one charge if it is for one', () => {
    const customer = kit.customer(visa);
    const half = coupon({ percent_off: 50, duration: 'forever' });
    const subscription = kit.subscribe(customer, kit.price(9_900));
    kit.engine.discountCustomer(customer, half);
    kit.engine.advance(31 * day);
    kit.post(`/v1/subscriptions/${subscription.id}`, {
      discounts: [{ coupon: coupon({ percent_off: 10, duration: 'once' }) }],
    });
    kit.engine.advance(31 * day);
    kit.engine.advance(31 * day);
    kit.engine.discountCustomer(customer, coupon({ percent_off: 20, duration: 'once' }));
    kit.engine.advance(31 * day);
    expect(kit.get<Stripe.Customer>(`/v1/customers/${customer}`).discount).toBeNull();
    kit.engine.advance(31 * day);
    expect(paid(customer)).toEqual([9_900, 4_950, 8_910, 4_950, 7_920, 9_900]);
    expect(kit.types()).toContain('customer.discount.deleted');
  });

  it('The engine leaves the discount of a customer out of a preview and a phase with an empty text, and previews it by its id', () => {
    kit = engineKit({ startMs: Date.UTC(2026, 0, 15, 10) });
    const customer = kit.customer(visa);
    const price = kit.price(9_900);
    const subscription = kit.subscribe(customer, price);
    kit.engine.discountCustomer(customer, coupon({ percent_off: 50, duration: 'forever' }));
    const { discount } = kit.get<Stripe.Customer>(`/v1/customers/${customer}`);
    const totalOf = (params: Record<string, unknown>) =>
      kit.preview({ subscription: subscription.id, ...params }).total;
    expect(totalOf({})).toBe(4_950);
    expect(totalOf({ discounts: '' })).toBe(9_900);
    expect(totalOf({ discounts: [{ discount: discount?.id }] })).toBe(4_950);
    const schedule = kit.post<Stripe.SubscriptionSchedule>('/v1/subscription_schedules', {
      from_subscription: subscription.id,
    });
    const [running] = schedule.phases;
    const phase = { items: [{ price, quantity: 1 }], duration: { interval: 'month', interval_count: 1 } };
    kit.post(`/v1/subscription_schedules/${schedule.id}`, {
      end_behavior: 'release',
      phases: [
        { items: phase.items, start_date: running?.start_date, end_date: running?.end_date },
        { ...phase, discounts: '' },
        phase,
      ],
    });
    kit.engine.advance(31 * day);
    kit.engine.advance(31 * day);
    expect(paid(customer)).toEqual([9_900, 9_900, 4_950]);
  });

  it('The engine discounts no more than is due, and a repeating discount only in its months', () => {
    const customer = kit.customer(visa);
    const much = coupon({ amount_off: 100_000, currency: 'usd', duration: 'repeating', duration_in_months: 2 });
    kit.subscribe(customer, kit.price(9_900), { discounts: [{ coupon: much }] });
    kit.engine.advance(59 * day + 31 * day);
    expect(paid(customer)).toEqual([0, 0, 9_900, 9_900]);
  });

  it('The engine refuses codes that may not be used', () => {
    const price = kit.price(4_900);
    const customer = kit.customer(visa);
    const subscription = kit.subscribe(customer, price);
    const ten = coupon({ percent_off: 10, duration: 'forever' });
    const apply = (discount: Record<string, unknown>) => () =>
      kit.post(`/v1/subscriptions/${subscription.id}`, { discounts: [discount] });
    const soon = kit.engine.nowMs() / 1_000 + 60;
    const late = code(ten, { expires_at: soon });
    const once = code(ten, { max_redemptions: 1 });
    const first = code(ten, { restrictions: { first_time_transaction: true } });
    const minimum = code(ten, { restrictions: { minimum_amount: 5_000, minimum_amount_currency: 'usd' } });
    const other = code(ten, { customer: kit.customer() });
    const euro = coupon({ amount_off: 100, currency: 'eur', duration: 'once' });
    kit.engine.advance(120_000);
    expect(kit.refused(apply({ promotion_code: late })).code).toBe('coupon_expired');
    expect(kit.get<Stripe.PromotionCode>(`/v1/promotion_codes/${late}`).active).toBe(false);
    for (const promotion_code of [first, minimum, other]) {
      expect(kit.refused(apply({ promotion_code }))).toMatchObject({ status: 400, param: 'discounts' });
    }
    expect(kit.refused(apply({ coupon: euro })).status).toBe(400);
    expect(kit.refused(apply({ coupon: 'nothing' }))).toMatchObject({ status: 404, code: 'resource_missing' });
    apply({ promotion_code: once })();
    expect(kit.refused(apply({ promotion_code: once })).status).toBe(400);
    kit.post(`/v1/subscriptions/${subscription.id}`, { discounts: '' });
    expect(kit.subscription(subscription.id).discounts).toEqual([]);
  });

  it('The engine previews a code without redeeming it', () => {
    const customer = kit.customer(visa);
    const half = coupon({ percent_off: 50, duration: 'once', max_redemptions: 1 });
    const { id } = kit.subscribe(customer, kit.price(4_900));
    expect(kit.preview({ subscription: id, discounts: [{ coupon: half }] }).amount_due).toBe(2_450);
    expect(kit.get<Stripe.Coupon>(`/v1/coupons/${half}`)).toMatchObject({ times_redeemed: 0, valid: true });
    expect(kit.subscription(id).discounts).toEqual([]);
  });

  it('The engine prorates by what was really billed, to the second', () => {
    const every10 = { recurring: { interval: 'day', interval_count: 10 } };
    const [small, large] = [kit.price(1_000, 'day', every10), kit.price(3_000, 'day', every10)];
    const customer = kit.customer(visa);
    const subscription = kit.subscribe(customer, small, {
      discounts: [{ coupon: coupon({ percent_off: 50, duration: 'once' }) }],
    });
    kit.engine.advance(2.5 * day);
    const change = { ...kit.to(subscription, large), proration_behavior: 'always_invoice' };
    const upgraded = kit.post<Stripe.Subscription>(`/v1/subscriptions/${subscription.id}`, change);
    const invoice = kit.invoice(upgraded);
    // 500 was billed for ten days, of which seven and a half are left; then 3,000 for the same.
    expect(invoice.lines.data.map((line) => line.amount)).toEqual([-375, 2_250]);
    expect(invoice).toMatchObject({ amount_paid: 1_875, status: 'paid' });
    expect(upgraded.items.data[0]?.current_period_end).toBe(subscription.items.data[0]?.current_period_end);

    kit.engine.advance(2.5 * day);
    kit.post(`/v1/subscriptions/${subscription.id}`, kit.to(subscription, small)); // prorations wait
    const next = kit.preview({ subscription: subscription.id });
    expect(next.lines.data.map((line) => line.amount)).toEqual([-1_500, 500, 1_000]);
    kit.engine.advance(5 * day);
    expect(kit.invoice(kit.subscription(subscription.id))).toMatchObject({ total: 0, amount_due: 0, status: 'paid' });
  });

  it('The engine starts a new period with another interval and credits the old one', () => {
    const every10 = { recurring: { interval: 'day', interval_count: 10 } };
    const customer = kit.customer(visa);
    const subscription = kit.subscribe(customer, kit.price(1_000, 'day', every10));
    kit.engine.advance(4 * day);
    const yearly = kit.price(9_000, 'year');
    const changed = kit.post<Stripe.Subscription>(`/v1/subscriptions/${subscription.id}`, kit.to(subscription, yearly));
    expect(kit.invoice(changed)).toMatchObject({
      amount_paid: 8_400,
      lines: { data: [{ amount: -600 }, { amount: 9_000 }] },
    });
    expect(changed.billing_cycle_anchor).toBe(kit.engine.nowMs() / 1_000);
  });
});

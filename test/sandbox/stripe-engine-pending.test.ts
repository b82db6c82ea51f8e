import type Stripe from 'stripe';
import { asksAlways, day, declinesLater, engineKit, visa } from './stripe-engine-kit.ts';

describe('the stand-in’s engine: changes that wait for their payment', () => {
  let kit = engineKit();
  beforeEach(() => {
    kit = engineKit();
  });
  afterEach(() => expect(kit.faults).toEqual([]));

  /** A code that one customer can use, and a subscription that ends, with one charge that does not succeed. */
  function postpone(number: string) {
    const [starter, growth] = [kit.price(9_900), kit.price(49_900)];
    const customer = kit.customer(visa);
    const { id: coupon } = kit.post<Stripe.Coupon>('/v1/coupons', { percent_off: 50, duration: 'forever' });
    const { id: code } = kit.post<Stripe.PromotionCode>('/v1/promotion_codes', {
      promotion: { type: 'coupon', coupon },
      max_redemptions: 1,
    });
    const before = kit.subscribe(customer, starter, { cancel_at_period_end: true, metadata: { kept: 'a', next: 'b' } });
    kit.save(customer, number);
    const pending = kit.post<Stripe.Subscription>(`/v1/subscriptions/${before.id}`, {
      ...kit.to(before, growth),
      proration_behavior: 'always_invoice',
      payment_behavior: 'pending_if_incomplete',
      discounts: [{ promotion_code: code }],
      metadata: { next: '' },
      cancel_at_period_end: false,
    });
    const redemptions = () => kit.get<Stripe.PromotionCode>(`/v1/promotion_codes/${code}`).times_redeemed;
    return { customer, growth, before, pending, redemptions };
  }

  it('A pending update shows its discounts, its metadata and its end, and the subscription keeps its own', () => {
    const { pending, redemptions } = postpone(asksAlways);
    expect(pending).toMatchObject({
      discounts: [],
      metadata: { kept: 'a', next: 'b' },
      cancel_at_period_end: true,
      pending_update: { discounts: [expect.any(String)], metadata: { kept: 'a' }, cancel_at_period_end: false },
    });
    expect(redemptions()).toBe(0);
  });

  it('A pending update that is paid applies price, discount, metadata and end together and redeems the code once', () => {
    const { customer, growth, before, pending, redemptions } = postpone(declinesLater);
    kit.post(`/v1/invoices/${String(pending.latest_invoice)}/pay`, { payment_method: kit.save(customer, visa) });
    expect(kit.subscription(before.id)).toMatchObject({
      items: { data: [{ price: { id: growth } }] },
      discounts: [expect.any(String)],
      metadata: { kept: 'a' },
      cancel_at_period_end: false,
      cancel_at: null,
      pending_update: null,
    });
    expect(redemptions()).toBe(1);
    expect(kit.types().filter((type) => type === 'customer.discount.created')).toHaveLength(1);
  });

  it('A pending update that expires applies nothing and uses up no code', () => {
    const { before, redemptions } = postpone(asksAlways);
    kit.engine.advance(day);
    expect(kit.subscription(before.id)).toMatchObject({
      items: { data: [{ price: { id: before.items.data[0]?.price.id } }] },
      discounts: [],
      metadata: { kept: 'a', next: 'b' },
      cancel_at_period_end: true,
      pending_update: null,
    });
    expect(redemptions()).toBe(0);
  });

  it('A coupon is refused when the subscription has none of its products after the call', () => {
    const [starter, growth] = [kit.price(9_900), kit.price(49_900)];
    const product = (price: string) => String(kit.get<Stripe.Price>(`/v1/prices/${price}`).product);
    const { id: coupon } = kit.post<Stripe.Coupon>('/v1/coupons', {
      percent_off: 50,
      duration: 'once',
      applies_to: { products: [product(growth)] },
    });
    const subscription = kit.subscribe(kit.customer(visa), starter);
    const apply = (more: Record<string, unknown>) => () =>
      kit.post<Stripe.Subscription>(`/v1/subscriptions/${subscription.id}`, { discounts: [{ coupon }], ...more });
    expect(kit.refused(apply({}))).toMatchObject({ status: 400, param: 'discounts' });
    const change = { ...kit.to(subscription, growth), proration_behavior: 'always_invoice' };
    expect(apply(change)().items.data[0]?.price.id).toBe(growth);
  });

  it('An off-session payment of a card that needs authentication is declined, and an on-session one asks', () => {
    const { pending } = postpone(declinesLater);
    const invoice = String(pending.latest_invoice);
    const method = kit.save(String(pending.customer), asksAlways);
    const pay = (more: Record<string, unknown>) =>
      kit.refused(() => kit.post(`/v1/invoices/${invoice}/pay`, { payment_method: method, ...more })).code;
    expect([pay({}), pay({ off_session: true }), pay({ off_session: false })]).toEqual([
      'authentication_required',
      'authentication_required',
      'invoice_payment_intent_requires_action',
    ]);
  });
});

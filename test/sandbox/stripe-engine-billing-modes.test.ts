import type Stripe from 'stripe';
import { day, engineKit, visa } from './stripe-engine-kit.ts';

const itemized = { type: 'flexible', flexible: { proration_discounts: 'itemized' } };
const included = { type: 'flexible', flexible: { proration_discounts: 'included' } };

describe('the stand-in’s engine: billing modes and previews', () => {
  let kit = engineKit();
  beforeEach(() => {
    kit = engineKit();
  });
  afterEach(() => expect(kit.faults).toEqual([]));

  const every10 = { recurring: { interval: 'day', interval_count: 10 } };
  const coupon = (params: Record<string, unknown>) => kit.post<Stripe.Coupon>('/v1/coupons', params).id;
  const linesOf = ({ lines }: Stripe.Invoice) =>
    lines.data.map(({ amount, discount_amounts: discounts }) => [
      amount,
      ...(discounts ?? []).map((each) => each.amount),
    ]);

  /** Half of the period is left, which was paid with half off; then a larger price with a fifth off. */
  function upgradeIn(billing_mode: object | undefined): Stripe.Invoice {
    const half = coupon({ percent_off: 50, duration: 'once' });
    const fifth = coupon({ percent_off: 20, duration: 'once' });
    const [small, large] = [kit.price(1_000, 'day', every10), kit.price(3_000, 'day', every10)];
    const subscription = kit.subscribe(kit.customer(visa), small, {
      ...(billing_mode && { billing_mode }),
      discounts: [{ coupon: half }],
    });
    kit.engine.advance(5 * day);
    kit.post(`/v1/subscriptions/${subscription.id}`, { discounts: [{ coupon: fifth }] });
    const change = { ...kit.to(subscription, large), proration_behavior: 'always_invoice' };
    const preview = kit.preview({ subscription: subscription.id, subscription_details: change });
    const invoice = kit.invoice(kit.post<Stripe.Subscription>(`/v1/subscriptions/${subscription.id}`, change));
    expect(linesOf(preview)).toEqual(linesOf(invoice));
    return invoice;
  }

  it.each([
    ['included', included],
    ['the default', undefined],
  ])('In the mode %s the amounts of prorations are net, and their discounts are 0', (_name, mode) => {
    const invoice = upgradeIn(mode);
    expect(linesOf(invoice)).toEqual([
      [-250, 0],
      [1_200, 0],
    ]);
    expect(invoice).toMatchObject({ subtotal: 950, total: 950, amount_paid: 950 });
  });

  it('In the mode itemized the amounts of prorations are gross, and their discounts stand beside them', () => {
    const invoice = upgradeIn(itemized);
    expect(linesOf(invoice)).toEqual([
      [-500, -250],
      [1_500, 300],
    ]);
    expect(invoice).toMatchObject({ subtotal: 1_000, total: 950, amount_paid: 950 });
    expect(invoice.total_discount_amounts?.map(({ amount }) => amount).sort()).toEqual([-250, 300]);
  });

  it('In the classic mode unused time is credited by the present price and discounts, not by what was paid', () => {
    expect(linesOf(upgradeIn({ type: 'classic' }))).toEqual([
      [-400, 0],
      [1_200, 0],
    ]);
  });

  it('A subscription is migrated to a newer billing mode, never back', () => {
    const { id, billing_mode } = kit.subscribe(kit.customer(visa), kit.price(1_000), {
      billing_mode: { type: 'classic' },
    });
    expect(billing_mode).toEqual({ type: 'classic', flexible: null });
    const migrate = (mode: object) => () =>
      kit.post<Stripe.Subscription>(`/v1/subscriptions/${id}/migrate`, { billing_mode: mode });
    expect(migrate(included)().billing_mode).toMatchObject(included);
    expect(migrate(itemized)().billing_mode).toMatchObject(itemized);
    expect(kit.subscription(id).billing_mode).toMatchObject(itemized);
    expect(kit.refused(migrate(included)).status).toBe(400);
    expect(
      kit.refused(() => kit.engine.call({ method: 'POST', path: `/v1/subscriptions/${id}/migrate` })),
    ).toMatchObject({ status: 400 });
  });

  it('A preview does not know the balance after it, and is not collected', () => {
    const customer = kit.customer(visa);
    kit.post(`/v1/customers/${customer}`, { balance: -50_000 });
    const price = kit.price(9_900);
    const preview = kit.preview({ customer, subscription_details: { items: [{ price }] } });
    expect(preview).toMatchObject({
      starting_balance: -50_000,
      total: 9_900,
      amount_due: 0,
      ending_balance: null,
      auto_advance: false,
    });
    const invoice = kit.invoice(kit.subscribe(customer, price));
    expect(invoice).toMatchObject({ starting_balance: -50_000, ending_balance: -40_100 });
  });

  it('A recurring preview is the amount of a whole period, without prorations, trials and waiting items', () => {
    const [small, large] = [kit.price(1_000, 'day', every10), kit.price(3_000, 'day', every10)];
    const subscription = kit.subscribe(kit.customer(visa), small);
    kit.engine.advance(5 * day);
    const change = { ...kit.to(subscription, large), proration_behavior: 'always_invoice' };
    const asked = { subscription: subscription.id, subscription_details: change, preview_mode: 'recurring' };
    expect(kit.preview(asked)).toMatchObject({ total: 3_000, lines: { data: [{ amount: 3_000 }] } });
    const fifth = coupon({ percent_off: 20, duration: 'forever' });
    expect(kit.preview({ ...asked, discounts: [{ coupon: fifth }] }).total).toBe(2_400);
    expect(kit.subscription(subscription.id).items.data[0]?.price.id).toBe(small);
    const trial = kit.subscribe(kit.customer(visa), small, { trial_period_days: 7 });
    kit.post(`/v1/subscriptions/${trial.id}`, { cancel_at_period_end: true });
    expect(kit.preview({ subscription: trial.id, preview_mode: 'recurring' }).total).toBe(1_000);
  });
});

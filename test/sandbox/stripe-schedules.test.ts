import type Stripe from 'stripe';
import { day, declinesLater, engineKit, visa } from './stripe-engine-kit.ts';

const seconds = (days: number) => days * 86_400;

describe('the stand-in’s subscription schedules', () => {
  let kit = engineKit();
  let [monthly, cheaper, yearly] = ['', '', ''];
  let customer = '';
  let id = '';
  beforeEach(() => {
    kit = engineKit();
    const every = (count: number) => ({ recurring: { interval: 'day', interval_count: count } });
    monthly = kit.price(89_900, 'day', every(30));
    cheaper = kit.price(9_900, 'day', every(30));
    yearly = kit.price(90_000, 'day', every(365));
    customer = kit.customer(visa);
    id = kit.subscribe(customer, monthly).id;
  });
  afterEach(() => expect(kit.faults).toEqual([]));

  const create = () => kit.post<Stripe.SubscriptionSchedule>('/v1/subscription_schedules', { from_subscription: id });
  const schedules = (path: string, params: Record<string, unknown> = {}) =>
    kit.post<Stripe.SubscriptionSchedule>(`/v1/subscription_schedules/${path}`, params);
  const read = (of: string) => kit.get<Stripe.SubscriptionSchedule>(`/v1/subscription_schedules/${of}`);
  const current = ({ phases: [phase] }: Stripe.SubscriptionSchedule, more: Record<string, unknown> = {}) => ({
    items: [{ price: monthly, quantity: 1 }],
    start_date: phase?.start_date,
    end_date: phase?.end_date,
    ...more,
  });
  const next = (price: string, days: number, more: Record<string, unknown> = {}) => ({
    items: [{ price, quantity: 1 }],
    duration: { interval: 'day', interval_count: days },
    proration_behavior: 'none',
    ...more,
  });
  const scheduled = (price = cheaper, days = 30, more: Record<string, unknown> = {}) => {
    const made = create();
    return schedules(made.id, {
      end_behavior: 'release',
      phases: [current(made, more), next(price, days, more)],
    });
  };
  const paid = () =>
    kit
      .get<Stripe.ApiList<Stripe.Invoice>>('/v1/invoices', { customer })
      .data.toReversed()
      .map(({ amount_paid }) => amount_paid);
  const refusal = (act: () => unknown) => kit.refused(act).message;
  const price = () => kit.subscription(id).items.data[0]?.price.unit_amount;

  it('A schedule from a subscription has one phase, the running period, and lets the subscription go on', () => {
    const made = create();
    const [item] = kit.subscription(id).items.data;
    expect(made).toMatchObject({
      status: 'active',
      end_behavior: 'release',
      subscription: id,
      current_phase: { start_date: item?.current_period_start, end_date: item?.current_period_end },
    });
    expect(made.phases).toHaveLength(1);
    expect(kit.subscription(id)).toMatchObject({ schedule: made.id, cancel_at: null });
    expect(refusal(create)).toContain(`already attached to a schedule: \`${made.id}\``);
    kit.engine.advance(30 * day);
    expect(read(made.id)).toMatchObject({ status: 'released', subscription: null, released_subscription: id });
    expect([kit.subscription(id).schedule, paid()]).toEqual([null, [89_900, 89_900]]);
  });

  it('Stripe takes no other parameter beside the subscription of a schedule', () => {
    expect(
      kit.refused(() =>
        kit.engine.call({
          method: 'POST',
          path: '/v1/subscription_schedules',
          params: { from_subscription: id, end_behavior: 'cancel' },
        }),
      ).status,
    ).toBe(501);
  });

  it('The next phase begins at its date although no request comes for many days, and is charged like a renewal', () => {
    const { id: schedule } = scheduled();
    const before = kit.subscription(id).items.data[0]?.current_period_end ?? 0;
    kit.pass(34 * day);
    expect(price()).toBe(9_900);
    const after = kit.subscription(id);
    expect(after).toMatchObject({ status: 'active', schedule });
    expect(after.items.data[0]).toMatchObject({
      current_period_start: before,
      current_period_end: before + seconds(30),
    });
    expect(paid()).toEqual([89_900, 9_900]);
    expect(kit.invoice(after)).toMatchObject({ billing_reason: 'subscription_cycle', created: before });
    kit.engine.advance(30 * day);
    expect([read(schedule).status, kit.subscription(id).schedule, paid()]).toEqual([
      'released',
      null,
      [89_900, 9_900, 9_900],
    ]);
  });

  it('A phase of another length starts a whole period of its own', () => {
    scheduled(yearly, 365);
    const before = kit.subscription(id).items.data[0]?.current_period_end ?? 0;
    kit.engine.advance(30 * day);
    expect(kit.subscription(id).items.data[0]?.current_period_end).toBe(before + seconds(365));
    expect(paid()).toEqual([89_900, 90_000]);
  });

  it('The preview of a schedule is the first invoice of its next phase', () => {
    const { id: schedule } = scheduled();
    const preview = kit.preview({ schedule });
    expect(preview.amount_due).toBe(9_900);
    expect(kit.preview({ customer, subscription: id }).amount_due).toBe(9_900);
  });

  it('An archived price stays in the running phase, and is refused in a new one', () => {
    kit.post(`/v1/prices/${monthly}`, { active: false });
    const made = scheduled();
    kit.post(`/v1/prices/${cheaper}`, { active: false });
    expect(refusal(() => schedules(made.id, { phases: [current(made), next(cheaper, 30)] }))).toContain('is inactive');
    kit.engine.advance(30 * day);
    expect(price()).toBe(9_900);
  });

  it('A schedule with the running phase alone and the end `cancel` ends the subscription without a charge', () => {
    const made = scheduled();
    const ending = schedules(made.id, { end_behavior: 'cancel', phases: [current(made)] });
    const [phase] = ending.phases;
    expect(kit.subscription(id)).toMatchObject({ cancel_at: phase?.end_date, cancel_at_period_end: false });
    expect(kit.refused(() => kit.preview({ schedule: made.id })).code).toBe('invoice_upcoming_none');
    kit.engine.advance(31 * day);
    expect(kit.subscription(id)).toMatchObject({ status: 'canceled', ended_at: phase?.end_date });
    expect([read(made.id).status, paid()]).toEqual(['completed', [89_900]]);
  });

  it.each([
    [true, 'keeps the end', 'canceled', [89_900]],
    [false, 'removes the end', 'active', [89_900, 89_900]],
  ])('A release with preserve_cancel_date %s %s that the schedule has set', (preserve, _what, status, charged) => {
    const made = scheduled();
    schedules(made.id, { end_behavior: 'cancel', phases: [current(made)] });
    const released = schedules(`${made.id}/release`, { preserve_cancel_date: preserve });
    expect(released).toMatchObject({ status: 'released', subscription: null, released_subscription: id });
    expect(kit.subscription(id).cancel_at !== null).toBe(preserve);
    kit.engine.advance(31 * day);
    expect([kit.subscription(id).status, paid()]).toEqual([status, charged]);
    expect(refusal(() => schedules(`${made.id}/release`))).toContain('currently in the `released` status');
  });

  it('An end that was kept can be undone like any other', () => {
    const made = scheduled();
    schedules(made.id, { end_behavior: 'cancel', phases: [current(made)] });
    schedules(`${made.id}/release`, { preserve_cancel_date: true });
    kit.post(`/v1/subscriptions/${id}`, { cancel_at: '' });
    expect(kit.subscription(id)).toMatchObject({ cancel_at: null, cancel_at_period_end: false });
  });

  it('A subscription that ends has a schedule that ends it', () => {
    kit.post(`/v1/subscriptions/${id}`, { cancel_at_period_end: true });
    const made = create();
    expect(made.end_behavior).toBe('cancel');
    schedules(made.id, { end_behavior: 'release', phases: [current(made), next(cheaper, 30)] });
    expect(kit.subscription(id)).toMatchObject({ cancel_at: null, cancel_at_period_end: false });
    kit.engine.advance(30 * day);
    expect(paid()).toEqual([89_900, 9_900]);
  });

  it.each([
    ['its end at the period’s end', () => kit.post(`/v1/subscriptions/${id}`, { cancel_at_period_end: true })],
    ['the undoing of its end', () => kit.post(`/v1/subscriptions/${id}`, { cancel_at: '' })],
    ['its end at once', () => kit.call('DELETE', `/v1/subscriptions/${id}`)],
  ])('A subscription with a schedule refuses %s with Stripe’s message', (_what, act) => {
    const { id: schedule } = scheduled();
    expect(refusal(act)).toBe(
      `The subscription is managed by the subscription schedule \`${schedule}\`, and updating any cancelation behavior directly is not allowed. Please update the schedule instead.`,
    );
  });

  it('A subscription with a schedule takes metadata and a card, and no pause', () => {
    scheduled();
    kit.post(`/v1/subscriptions/${id}`, { metadata: { note: 'x' } });
    expect(refusal(() => kit.post(`/v1/subscriptions/${id}/pause`, { type: 'subscription' }))).toContain(
      'cannot be paused',
    );
  });

  it('The end of a schedule at once ends its subscription', () => {
    const { id: schedule } = scheduled();
    schedules(`${schedule}/cancel`, { invoice_now: false, prorate: false });
    expect(read(schedule)).toMatchObject({ status: 'canceled', subscription: null });
    expect([kit.subscription(id).status, paid()]).toEqual(['canceled', [89_900]]);
  });

  it('The discounts of each phase apply in that phase alone', () => {
    kit.post('/v1/coupons', { id: 'half', percent_off: 50, duration: 'forever' });
    kit.post(`/v1/subscriptions/${id}`, { discounts: [{ coupon: 'half' }] });
    const [discount] = kit.subscription(id).discounts;
    const made = create();
    expect(made.phases[0]?.discounts).toEqual([{ coupon: null, discount, promotion_code: null }]);
    const kept = { discounts: [{ discount }] };
    schedules(made.id, { phases: [current(made, kept), next(cheaper, 30, kept)] });
    expect(kit.subscription(id).discounts).toEqual([discount]);
    schedules(made.id, { phases: [current(made, kept), next(cheaper, 30, { discounts: '' })] });
    expect(kit.preview({ schedule: made.id }).amount_due).toBe(9_900);
    schedules(made.id, { phases: [current(made, kept), next(cheaper, 30, kept)] });
    kit.engine.advance(30 * day);
    expect(paid()).toEqual([89_900, 4_950]);
  });

  it('A phase whose payment fails is past due like a renewal, and is tried again', () => {
    const card = String(kit.customerNow(customer).invoice_settings.default_payment_method);
    scheduled();
    kit.engine.setCardBehaviour(card, declinesLater);
    kit.engine.advance(30 * day);
    expect(kit.subscription(id).status).toBe('past_due');
    expect(kit.invoice(kit.subscription(id))).toMatchObject({ status: 'open', attempt_count: 1, amount_due: 9_900 });
    kit.engine.setCardBehaviour(card, visa);
    kit.engine.advance(3 * day);
    expect([kit.subscription(id).status, price(), paid()]).toEqual(['active', 9_900, [89_900, 9_900]]);
  });

  it('The card of a new phase is that of the schedule, else the customer’s', () => {
    const old = String(kit.customerNow(customer).invoice_settings.default_payment_method);
    kit.post(`/v1/subscriptions/${id}`, { default_payment_method: old });
    const made = scheduled();
    expect(made.default_settings.default_payment_method).toBe(old);
    schedules(made.id, { default_settings: { default_payment_method: '' } });
    kit.engine.advance(30 * day);
    expect(kit.subscription(id).default_payment_method).toBeNull();
  });

  it('Each change of a schedule has its event', () => {
    const made = scheduled();
    schedules(`${made.id}/release`);
    const { data } = kit.get<Stripe.ApiList<Stripe.SubscriptionSchedule>>('/v1/subscription_schedules', { customer });
    expect(data.map((each) => each.id)).toEqual([made.id]);
    expect(kit.types().filter((type) => type.startsWith('subscription_schedule.'))).toEqual([
      'subscription_schedule.created',
      'subscription_schedule.updated',
      'subscription_schedule.released',
    ]);
  });
});

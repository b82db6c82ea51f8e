import type Stripe from 'stripe';
import { day, declinesLater, engineKit, visa } from './stripe-engine-kit.ts';

/** "Pause and resume subscriptions on a schedule" of Stripe's documentation. */
describe('the stand-in’s pauses by a schedule', () => {
  let kit = engineKit();
  let [customer, id, price] = ['', '', ''];
  beforeEach(() => {
    kit = engineKit();
    customer = kit.customer(visa);
    price = kit.price(9_900);
    id = kit.subscribe(customer, price).id;
  });
  afterEach(() => expect(kit.faults).toEqual([]));

  const seconds = (days: number) => Math.floor(kit.engine.nowMs() / 1_000) + days * 86_400;
  const unused = { bill_for: { unused_time_from: { type: 'none' } } };
  const entry = (from: number, until: number, key = 'one') => ({
    key,
    pause: { pause_at: { type: 'timestamp', timestamp: seconds(from) }, settings: unused },
    resume: { resume_at: { type: 'timestamp', timestamp: seconds(until) } },
  });
  const schedule = (pause_schedules: unknown) =>
    kit.post<Stripe.SubscriptionSchedule>('/v1/subscription_schedules', { from_subscription: id, pause_schedules });
  const update = (of: string, params: Record<string, unknown>) =>
    kit.post<Stripe.SubscriptionSchedule>(`/v1/subscription_schedules/${of}`, params);
  const read = (of: string) => kit.get<Stripe.SubscriptionSchedule>(`/v1/subscription_schedules/${of}`);
  const paid = () =>
    kit
      .get<Stripe.ApiList<Stripe.Invoice>>('/v1/invoices', { customer })
      .data.toReversed()
      .map(({ amount_paid }) => amount_paid);

  it('It pauses and resumes at its times, without invoices meanwhile, and then bills a whole new period', () => {
    const made = schedule([entry(20, 60)]);
    expect(made.pause_schedules[0]?.pause.status.type).toBe('scheduled');
    kit.engine.advance(21 * day);
    const paused = kit.subscription(id);
    expect(paused).toMatchObject({
      status: 'paused',
      status_details: { paused: { subscription: { type: 'pause_requested' } } },
    });
    expect(paused.items.data[0]?.current_period_end).toBe(seconds(-1));
    kit.engine.advance(38 * day);
    expect(paid()).toEqual([9_900]);
    const resumesAt = seconds(1);
    kit.engine.advance(2 * day);
    expect(kit.subscription(id)).toMatchObject({ status: 'active', billing_cycle_anchor: resumesAt });
    expect(paid()).toEqual([9_900, 9_900]);
    expect(kit.types()).toEqual(
      expect.arrayContaining(['customer.subscription.paused', 'customer.subscription.resumed']),
    );
    // Its one phase is over.
    expect(read(made.id).status).toBe('released');
  });

  it('A call resumes it at once, at the amount of its preview, and a second one is refused', () => {
    const { id: of } = schedule([entry(10, 200)]);
    kit.engine.advance(15 * day);
    const now = { pause_schedules: [{ key: 'one', resume: { resume_at: { type: 'now' } } }] };
    const preview = kit.preview({ schedule: of, schedule_details: now });
    expect(preview.amount_due).toBe(9_900);
    expect(kit.subscription(id).status).toBe('paused');
    expect(update(of, now).pause_schedules[0]?.resume?.status.type).toBe('succeeded');
    expect(kit.subscription(id).status).toBe('active');
    expect(kit.refused(() => update(of, now)).message).toBe('The resumption has begun already.');
    expect(paid()).toEqual([9_900, 9_900]);
  });

  it('A resumption that is not paid stays paused, is tried again and never ends the subscription', () => {
    const { id: of } = schedule([entry(20, 40)]);
    kit.save(customer, declinesLater);
    kit.engine.advance(41 * day);
    const { latest_invoice } = kit.subscription(id);
    expect(kit.subscription(id).status).toBe('paused');
    expect(read(of).pause_schedules[0]?.resume?.status.type).toBe('pending');
    expect(kit.get<Stripe.Invoice>(`/v1/invoices/${latest_invoice}`).next_payment_attempt).not.toBeNull();
    kit.engine.advance(30 * day);
    expect(kit.subscription(id).status).toBe('paused');
    kit.post(`/v1/invoices/${latest_invoice}/pay`, { payment_method: kit.save(customer, visa) });
    expect(kit.subscription(id).status).toBe('active');
  });

  it('A pause is cleared or changed before it begins, and it is refused in the past or without a resumption after it', () => {
    const { id: of } = schedule([entry(5, 40)]);
    expect(update(of, { pause_schedules: [entry(6, 50)] }).pause_schedules[0]?.resume?.resume_at).toBe(seconds(50));
    expect(update(of, { pause_schedules: '' }).pause_schedules).toEqual([]);
    expect(kit.refused(() => update(of, { pause_schedules: [entry(-1, 50)] })).message).toContain('in the future');
    expect(kit.refused(() => update(of, { pause_schedules: [entry(20, 10)] })).message).toContain('after its pause');
    expect(kit.refused(() => update(of, { pause_schedules: [entry(5, 9), entry(5, 9, 'two')] })).message).toContain(
      'Only one',
    );
    kit.engine.advance(10 * day);
    expect(kit.subscription(id).status).toBe('active');
  });

  it('A subscription that cannot be paused at that time goes on', () => {
    const { id: of } = schedule([entry(35, 60)]);
    kit.save(customer, declinesLater);
    kit.engine.advance(36 * day);
    expect(kit.subscription(id).status).toBe('past_due');
    expect(read(of).status === 'released' || read(of).pause_schedules[0]?.pause.status.type === 'error').toBe(true);
  });
});

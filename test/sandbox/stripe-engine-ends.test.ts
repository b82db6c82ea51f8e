import type Stripe from 'stripe';
import { day, engineKit, visa } from './stripe-engine-kit.ts';

describe('the stand-in’s engine: ends within a period', () => {
  let kit = engineKit();
  beforeEach(() => {
    kit = engineKit();
  });
  afterEach(() => expect(kit.faults).toEqual([]));
  const invoices = (customer: string) =>
    kit.get<Stripe.ApiList<Stripe.Invoice>>('/v1/invoices', { customer }).data.toReversed();

  it.each([
    ['none', 0],
    ['create_prorations', -5_000],
  ])(
    'An end within the period credits with %s %d cents, and the subscription ends then',
    (proration_behavior, cents) => {
      const customer = kit.customer(visa);
      const price = kit.price(10_000, 'day', { recurring: { interval: 'day', interval_count: 10 } });
      const { id } = kit.subscribe(customer, price);
      kit.engine.advance(2 * day);
      const endsAt = Date.UTC(2026, 1, 5, 10) / 1_000;
      const set = kit.post<Stripe.Subscription>(`/v1/subscriptions/${id}`, { cancel_at: endsAt, proration_behavior });
      expect(set).toMatchObject({ cancel_at: endsAt, cancel_at_period_end: false, status: 'active' });
      expect(kit.refused(() => kit.preview({ subscription: id })).code).toBe('invoice_upcoming_none');
      kit.engine.advance(2 * day);
      expect(kit.subscription(id).status).toBe('active');
      kit.engine.advance(2 * day);
      expect(kit.subscription(id)).toMatchObject({ status: 'canceled', ended_at: endsAt });
      expect(kit.customerNow(customer).balance).toBe(cents);
      kit.engine.advance(20 * day);
      expect(invoices(customer).map(({ amount_paid }) => amount_paid)).toEqual(cents === 0 ? [10_000] : [10_000, 0]);
    },
  );

  it('An end within the period is withdrawn, and must be later than now and alone', () => {
    const customer = kit.customer(visa);
    const { id } = kit.subscribe(customer, kit.price(4_900));
    const set = (params: object) => kit.post<Stripe.Subscription>(`/v1/subscriptions/${id}`, { ...params });
    const endsAt = Date.UTC(2026, 1, 10) / 1_000;
    set({ cancel_at: endsAt, proration_behavior: 'none' });
    expect(set({ cancel_at: '', proration_behavior: 'none' })).toMatchObject({ cancel_at: null, canceled_at: null });
    kit.engine.advance(28 * day);
    expect(kit.subscription(id).status).toBe('active');
    expect(kit.refused(() => set({ cancel_at: endsAt })).message).toContain('future');
    const both = { cancel_at: Date.UTC(2026, 2, 20) / 1_000, cancel_at_period_end: true };
    expect(kit.refused(() => set(both)).code).toBe('parameters_exclusive');
  });
});

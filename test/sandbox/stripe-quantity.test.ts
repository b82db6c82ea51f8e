import type Stripe from 'stripe';
import { day, declinesLater, engineKit, visa } from './stripe-engine-kit.ts';

/** "Set product quantities" and "Prorations" of Stripe's documentation. */
describe('the stand-in’s quantities', () => {
  let kit = engineKit();
  let [customer, id, price, item] = ['', '', '', ''];
  beforeEach(() => {
    kit = engineKit();
    customer = kit.customer(visa);
    price = kit.price(1_000);
    const made = kit.post<Stripe.Subscription>('/v1/subscriptions', { customer, items: [{ price, quantity: 3 }] });
    id = made.id;
    item = made.items.data[0]?.id ?? '';
  });
  afterEach(() => expect(kit.faults).toEqual([]));

  const invoices = () => kit.get<Stripe.ApiList<Stripe.Invoice>>('/v1/invoices', { customer }).data.toReversed();
  const paid = () => invoices().map(({ amount_paid }) => amount_paid);
  const quantity = () => kit.subscription(id).items.data[0]?.quantity;
  const change = (params: Record<string, unknown>) => kit.post<Stripe.Subscription>(`/v1/subscriptions/${id}`, params);

  it('A subscription and its renewals cost the price for each of the quantity, and their lines name it', () => {
    expect(invoices()[0]?.lines.data[0]).toMatchObject({ amount: 3_000, quantity: 3 });
    kit.engine.advance(29 * day);
    expect(paid()).toEqual([3_000, 3_000]);
  });

  it('Another quantity is charged for the rest of the period as its preview says, at an archived price too', () => {
    kit.post(`/v1/prices/${price}`, { active: false });
    const at = Math.floor(kit.engine.nowMs() / 1_000) + 14 * 86_400;
    kit.engine.advance(14 * day);
    const details = { items: [{ id: item, quantity: 5 }], proration_behavior: 'always_invoice', proration_date: at };
    const preview = kit.post<Stripe.Invoice>('/v1/invoices/create_preview', {
      customer,
      subscription: id,
      subscription_details: details,
    });
    // Half of a month: minus three, plus five.
    expect(preview.lines.data.map((line) => [line.amount, line.quantity])).toEqual([
      [-1_500, 3],
      [2_500, 5],
    ]);
    change({ ...details, payment_behavior: 'pending_if_incomplete' });
    expect(paid()).toEqual([3_000, preview.amount_due]);
    expect(quantity()).toBe(5);
  });

  it('A quantity whose payment is declined waits, and the item keeps the one before', () => {
    kit.engine.advance(day);
    const method = kit.get<Stripe.Customer>(`/v1/customers/${customer}`).invoice_settings.default_payment_method;
    kit.engine.setCardBehaviour(String(method), declinesLater);
    const waiting = change({
      items: [{ id: item, quantity: 9 }],
      proration_behavior: 'always_invoice',
      payment_behavior: 'pending_if_incomplete',
    });
    expect(waiting.pending_update?.subscription_items?.[0]).toMatchObject({ quantity: 9 });
    expect(quantity()).toBe(3);
  });

  it('A phase of a schedule begins with its quantity, and bills it', () => {
    const schedule = kit.post<Stripe.SubscriptionSchedule>('/v1/subscription_schedules', { from_subscription: id });
    const { start_date, end_date, items } = schedule.phases[0] ?? {};
    expect(items?.[0]).toMatchObject({ quantity: 3 });
    kit.post(`/v1/subscription_schedules/${schedule.id}`, {
      end_behavior: 'release',
      phases: [
        { items: [{ price, quantity: 3 }], start_date, end_date },
        { items: [{ price, quantity: 1 }], duration: { interval: 'month', interval_count: 1 } },
      ],
    });
    kit.engine.advance(29 * day);
    expect(quantity()).toBe(1);
    expect(paid()).toEqual([3_000, 1_000]);
  });
});

import type Stripe from 'stripe';
import { asksAlways, asksAtSaving, asksThenPoor, day, declinesLater, engineKit, visa } from './stripe-engine-kit.ts';

const iso = (seconds: number | null | undefined) => new Date((seconds ?? 0) * 1_000).toISOString().slice(0, 10);

describe('the stand-in’s engine: periods, failures, ends', () => {
  let kit = engineKit();
  beforeEach(() => {
    kit = engineKit();
  });
  afterEach(() => expect(kit.faults).toEqual([]));
  const periodEnd = (id: string) => iso(kit.subscription(id).items.data[0]?.current_period_end);
  const invoices = (customer: string) =>
    kit.get<Stripe.ApiList<Stripe.Invoice>>('/v1/invoices', { customer }).data.toReversed();

  it('The engine renews on the day of the anchor or the last of the month', () => {
    const customer = kit.customer(visa);
    const { id } = kit.subscribe(customer, kit.price(9_900)); // 31 January
    const ends = [periodEnd(id)];
    for (const days of [28, 31, 30]) {
      kit.engine.advance(days * day);
      ends.push(periodEnd(id));
    }
    expect(ends).toEqual(['2026-02-28', '2026-03-31', '2026-04-30', '2026-05-31']);
    expect(invoices(customer).map((each) => [each.billing_reason, each.status, each.amount_paid])).toEqual([
      ['subscription_create', 'paid', 9_900],
      ...Array(3).fill(['subscription_cycle', 'paid', 9_900]),
    ]);
  });

  it('The engine processes in order what fell due while real time passed', () => {
    const customer = kit.customer(visa);
    const { id } = kit.subscribe(customer, kit.price(1_000, 'week'), { trial_period_days: 7 });
    kit.pass(22 * day);
    expect(kit.subscription(id).status).toBe('active');
    const told = kit.events.filter(({ type }) => /trial_will_end|invoice\.paid/.test(type));
    expect(told.map(({ type, created }) => [type, iso(created)])).toEqual([
      ['invoice.paid', '2026-01-31'],
      ['customer.subscription.trial_will_end', '2026-02-04'],
      ['invoice.paid', '2026-02-07'],
      ['invoice.paid', '2026-02-14'],
      ['invoice.paid', '2026-02-21'],
    ]);
  });

  it('The engine retries a failed renewal after 3, 5 and 7 days, then ends the subscription', () => {
    kit = engineKit({ retryAfterDays: [3, 5, 7] });
    const customer = kit.customer(visa);
    const { id } = kit.subscribe(customer, kit.price(9_900));
    const card = String(kit.customerNow(customer).invoice_settings.default_payment_method);
    kit.engine.setCardBehaviour(card, declinesLater);
    kit.engine.advance(28 * day);
    expect(kit.subscription(id).status).toBe('past_due');
    expect(kit.invoice(kit.subscription(id))).toMatchObject({ status: 'open', attempt_count: 1, attempted: true });
    kit.engine.advance(14 * day);
    expect(kit.subscription(id).status).toBe('past_due');
    kit.engine.advance(1 * day);
    expect(kit.subscription(id)).toMatchObject({
      status: 'canceled',
      cancellation_details: { reason: 'payment_failed' },
    });
    expect(kit.events.filter(({ type }) => type === 'invoice.payment_failed').map((each) => iso(each.created))).toEqual(
      ['2026-02-28', '2026-03-03', '2026-03-08', '2026-03-15'],
    );
    expect(kit.types().filter((type) => type === 'customer.subscription.deleted')).toHaveLength(1);
  });

  it('A card pays to the end of its last month', () => {
    const customer = kit.customer(visa);
    kit.subscribe(customer, kit.price(9_900));
    const card = String(kit.customerNow(customer).invoice_settings.default_payment_method);
    kit.post(`/v1/payment_methods/${card}`, { card: { exp_month: 2, exp_year: 2026 } });
    kit.engine.advance((28 + 31) * day);
    expect(invoices(customer).map(({ status }) => status)).toEqual(['paid', 'paid', 'open']);
    const { data } = kit.get<Stripe.ApiList<Stripe.PaymentIntent>>('/v1/payment_intents', { customer });
    expect(data.map(({ last_payment_error: error }) => error?.code)).toEqual(['expired_card', undefined, undefined]);
  });

  it('By default the engine makes eight attempts within two weeks, as Smart Retries do', () => {
    const customer = kit.customer(visa);
    const { id } = kit.subscribe(customer, kit.price(9_900));
    const card = String(kit.customerNow(customer).invoice_settings.default_payment_method);
    kit.engine.setCardBehaviour(card, declinesLater);
    kit.engine.advance((28 + 14) * day);
    const failures = kit.events.filter(({ type }) => type === 'invoice.payment_failed');
    expect(failures).toHaveLength(8);
    expect([failures[0], failures.at(-1)].map((each) => iso(each?.created))).toEqual(['2026-02-28', '2026-03-14']);
    expect(kit.subscription(id).status).toBe('canceled');
  });

  it('The subscription is active again when the open renewal is paid with another card', () => {
    const customer = kit.customer(visa);
    const { id } = kit.subscribe(customer, kit.price(9_900));
    const card = String(kit.customerNow(customer).invoice_settings.default_payment_method);
    kit.engine.setCardBehaviour(card, declinesLater);
    kit.engine.advance(28 * day);
    const open = String(kit.subscription(id).latest_invoice);
    expect(kit.refused(() => kit.post(`/v1/invoices/${open}/pay`))).toMatchObject({
      status: 402,
      code: 'card_declined',
      paymentIntent: { last_payment_error: { decline_code: 'generic_decline' } },
    });
    // Of Stripe’s own schedule: what members try is not counted.
    expect(kit.invoice(open).attempt_count).toBe(1);
    kit.post(`/v1/invoices/${open}/pay`, { payment_method: kit.save(customer, visa) });
    expect(kit.subscription(id).status).toBe('active');
    expect(kit.invoice(open)).toMatchObject({ status: 'paid', next_payment_attempt: null });
    kit.engine.advance(14 * day); // no attempt is left over
    expect(invoices(customer)).toHaveLength(2);
  });

  it('The engine requires authentication at an off-session renewal', () => {
    const customer = kit.customer(visa);
    const { id } = kit.subscribe(customer, kit.price(9_900));
    const card = String(kit.customerNow(customer).invoice_settings.default_payment_method);
    kit.engine.setCardBehaviour(card, asksAlways);
    kit.engine.advance(28 * day);
    expect(kit.types()).toContain('invoice.payment_action_required');
    const intent = kit.invoice(kit.subscription(id)).payments?.data[0]?.payment.payment_intent;
    kit.engine.authenticate(String(intent), 'fail');
    expect(kit.subscription(id).status).toBe('past_due');
    const confirm = () => kit.post(`/v1/payment_intents/${intent}/confirm`, { payment_method: card });
    confirm();
    kit.engine.authenticate(String(intent), 'succeed');
    expect(kit.subscription(id).status).toBe('active');
    expect(kit.refused(confirm).code).toBe('payment_intent_unexpected_state');
  });

  it('The engine has cards that need authentication once, and cards that need it and then lack funds', () => {
    const fine = kit.customer(asksAtSaving);
    expect(kit.subscribe(fine, kit.price(900)).status).toBe('active');
    const poor = kit.customer(asksThenPoor);
    const { status, latest_invoice } = kit.subscribe(poor, kit.price(900));
    expect(status).toBe('incomplete');
    const intent = String(kit.invoice(String(latest_invoice)).payments?.data[0]?.payment.payment_intent);
    expect(kit.get<Stripe.PaymentIntent>(`/v1/payment_intents/${intent}`).last_payment_error).toMatchObject({
      decline_code: 'insufficient_funds',
    });
  });

  it('The engine keeps a first invoice open for 23 hours', () => {
    const customer = kit.customer(declinesLater);
    const price = kit.price(900);
    const { id, status } = kit.subscribe(customer, price);
    expect(status).toBe('incomplete');
    kit.engine.advance(day);
    expect(kit.subscription(id).status).toBe('incomplete_expired');
    expect(kit.invoice(kit.subscription(id)).status).toBe('void');
    const before = kit.engine.snapshot();
    const strict = () => kit.subscribe(customer, price, { payment_behavior: 'error_if_incomplete' });
    expect(kit.refused(strict)).toMatchObject({ status: 402, code: 'card_declined' });
    expect(kit.engine.snapshot()).toEqual(before);
  });

  it('The engine pauses at the end of a trial without a card and resumes when it is paid', () => {
    const customer = kit.customer();
    const { id } = kit.subscribe(customer, kit.price(4_900), {
      trial_period_days: 7,
      trial_settings: { end_behavior: { missing_payment_method: 'pause' } },
    });
    kit.engine.advance(7 * day);
    expect(kit.subscription(id)).toMatchObject({
      status: 'paused',
      status_details: { paused: { subscription: { type: 'trial_end_without_payment_method' } } },
    });
    kit.engine.advance(40 * day);
    expect(invoices(customer)).toHaveLength(1);

    kit.save(customer, visa);
    const preview = kit.preview({ subscription: id, subscription_details: { resume_at: 'now' } });
    const waiting = kit.post<Stripe.Subscription>(`/v1/subscriptions/${id}/resume`);
    expect(waiting.status).toBe('paused');
    expect(kit.invoice(waiting)).toMatchObject({ status: 'open', amount_due: preview.amount_due, attempted: false });
    const tried = kit.post<Stripe.Subscription>(`/v1/subscriptions/${id}/resume`, {
      payment_behavior: 'resume_on_payment_success',
      billing_cycle_anchor: { type: 'now' },
    });
    expect(tried.status).toBe('active');
    expect(tried.status_details).toBeUndefined();
    expect(kit.invoice(waiting).status).toBe('void');
    expect(kit.types()).toContain('customer.subscription.resumed');
  });

  it('A requested pause credits the unused time, so that a resumption at once charges nothing', () => {
    const customer = kit.customer(visa);
    const { id } = kit.subscribe(customer, kit.price(4_900));
    expect(kit.post<Stripe.Subscription>(`/v1/subscriptions/${id}/pause`)).toMatchObject({
      status: 'paused',
      status_details: { paused: { subscription: { type: 'pause_requested' } } },
    });
    const resumed = kit.post<Stripe.Subscription>(`/v1/subscriptions/${id}/resume`);
    expect(resumed.status).toBe('active');
    expect(kit.invoice(resumed)).toMatchObject({ status: 'paid', amount_due: 0, total: 0 });
  });

  it.each([
    ['resume_on_payment_success', 'paused'],
    ['resume_on_payment_attempt', 'past_due'],
  ])('A resumption with %s is %s after a payment that failed', (payment_behavior, status) => {
    const customer = kit.customer();
    const { id } = kit.subscribe(customer, kit.price(4_900), {
      trial_period_days: 1,
      trial_settings: { end_behavior: { missing_payment_method: 'pause' } },
    });
    kit.engine.advance(2 * day);
    kit.save(customer, declinesLater);
    const { latest_invoice } = kit.post<Stripe.Subscription>(`/v1/subscriptions/${id}/resume`, { payment_behavior });
    kit.refused(() => kit.post(`/v1/invoices/${latest_invoice}/pay`));
    expect(kit.subscription(id).status).toBe(status);
    kit.post(`/v1/invoices/${latest_invoice}/pay`, { payment_method: kit.save(customer, visa) });
    expect(kit.subscription(id).status).toBe('active');
  });

  it('The engine cancels at the end of the period unless the cancellation is withdrawn', () => {
    const customer = kit.customer(visa);
    const { id } = kit.subscribe(customer, kit.price(4_900));
    const set = (ends: boolean) =>
      kit.post<Stripe.Subscription>(`/v1/subscriptions/${id}`, { cancel_at_period_end: ends });
    expect(iso(set(true).cancel_at)).toBe('2026-02-28');
    expect(set(false)).toMatchObject({ cancel_at: null, canceled_at: null });
    kit.engine.advance(28 * day);
    expect(kit.subscription(id).status).toBe('active');
    set(true);
    expect(kit.refused(() => kit.preview({ subscription: id })).code).toBe('invoice_upcoming_none');
    kit.engine.advance(31 * day);
    expect(kit.subscription(id)).toMatchObject({ status: 'canceled', ended_at: Date.UTC(2026, 2, 31, 10) / 1_000 });
    expect(invoices(customer)).toHaveLength(2);
    expect(kit.get<Stripe.ApiList<Stripe.Subscription>>('/v1/subscriptions', { customer }).data).toEqual([]);
  });

  it('The engine cancels at once and credits the unused time to the next purchase', () => {
    const customer = kit.customer(visa);
    const price = kit.price(10_000, 'day', { recurring: { interval: 'day', interval_count: 10 } });
    const { id } = kit.subscribe(customer, price);
    kit.engine.advance(5 * day);
    kit.call('DELETE', `/v1/subscriptions/${id}`, { prorate: true, invoice_now: true });
    expect(kit.customerNow(customer).balance).toBe(-5_000);
    const again = kit.invoice(kit.subscribe(customer, price));
    expect(again).toMatchObject({ total: 10_000, starting_balance: -5_000, amount_due: 5_000, ending_balance: 0 });
  });

  it('The engine downgrades at the end of the period by a trial until then', () => {
    const [cheap, dear] = [kit.price(4_900), kit.price(90_000, 'year')];
    const customer = kit.customer(visa);
    const subscription = kit.subscribe(customer, dear);
    const end = subscription.items.data[0]?.current_period_end ?? 0;
    const changed = kit.post<Stripe.Subscription>(`/v1/subscriptions/${subscription.id}`, {
      ...kit.to(subscription, cheap),
      trial_end: end,
      proration_behavior: 'none',
    });
    expect(changed).toMatchObject({ status: 'trialing', billing_cycle_anchor: end });
    expect(kit.invoice(changed)).toMatchObject({
      amount_due: 0,
      status: 'paid',
      billing_reason: 'subscription_update',
    });
    expect(kit.preview({ subscription: subscription.id }).amount_due).toBe(4_900);
    kit.engine.advance(365 * day);
    expect(kit.invoice(kit.subscription(subscription.id))).toMatchObject({
      amount_paid: 4_900,
      billing_reason: 'subscription_cycle',
    });
    expect(kit.customerNow(customer).balance).toBe(0);
  });

  it('The engine ends all subscriptions of a deleted customer', () => {
    const customer = kit.customer(visa);
    const { id } = kit.subscribe(customer, kit.price(4_900));
    expect(kit.call('DELETE', `/v1/customers/${customer}`)).toEqual({
      id: customer,
      object: 'customer',
      deleted: true,
    });
    expect(kit.subscription(id).status).toBe('canceled');
    expect(kit.get(`/v1/customers/${customer}`)).toMatchObject({ deleted: true });
    expect(kit.refused(() => kit.post(`/v1/customers/${customer}`, { name: 'V' }))).toMatchObject({ status: 404 });
    expect(kit.types()).toEqual(
      expect.arrayContaining(['customer.subscription.deleted', 'payment_method.detached', 'customer.deleted']),
    );
  });

  it('The engine refunds and disputes what was charged', () => {
    const customer = kit.customer(visa);
    const invoice = String(kit.subscribe(customer, kit.price(4_900)).latest_invoice);
    kit.engine.refund(invoice, 900);
    kit.engine.refund(invoice);
    expect(kit.refused(() => kit.engine.refund(invoice, 1)).code).toBe('charge_already_refunded');
    kit.engine.dispute(invoice);
    const about = (type: string) => kit.events.filter((event) => event.type === type).map(({ data }) => data.object);
    expect(about('charge.refunded')).toMatchObject([
      { amount_refunded: 900, refunded: false },
      { amount_refunded: 4_900, refunded: true },
    ]);
    expect(about('charge.dispute.created')).toMatchObject([{ amount: 4_900, status: 'needs_response' }]);
    expect(kit.invoice(invoice).status).toBe('paid');
  });
});

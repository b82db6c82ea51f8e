import type Stripe from 'stripe';
import { asksAlways, cardData, day, engineKit, visa } from './stripe-engine-kit.ts';

describe('the stand-in’s engine: sign-up to paid membership', () => {
  const kit = engineKit();
  afterEach(() => expect(kit.faults).toEqual([]));

  it('The engine starts a trial, previews the upgrade and charges what it previewed', () => {
    const [basic, yearly] = [kit.price(4_900), kit.price(90_000, 'year')];
    const customer = kit.customer();
    const trial = kit.subscribe(customer, basic, {
      trial_period_days: 7,
      trial_settings: { end_behavior: { missing_payment_method: 'pause' } },
      payment_settings: { payment_method_types: ['card'], save_default_payment_method: 'on_subscription' },
    });
    expect(trial).toMatchObject({ status: 'trialing', trial_end: trial.created + 7 * 86_400 });
    expect(kit.invoice(trial)).toMatchObject({ status: 'paid', total: 0, billing_reason: 'subscription_create' });

    const change = { ...kit.to(trial, yearly), trial_end: 'now', proration_behavior: 'none' };
    const preview = kit.preview({ customer, subscription: trial.id, subscription_details: change });
    expect(preview).toMatchObject({ amount_due: 90_000, status: 'draft', billing_reason: 'upcoming' });
    const upgrade = () =>
      kit.post<Stripe.Subscription>(`/v1/subscriptions/${trial.id}`, {
        ...change,
        payment_behavior: 'pending_if_incomplete',
      });
    expect(kit.refused(upgrade)).toMatchObject({ status: 400, code: 'resource_missing' });
    expect(kit.subscription(trial.id).status).toBe('trialing');

    kit.save(customer, visa);
    const upgraded = upgrade();
    expect(upgraded).toMatchObject({ status: 'active', pending_update: null });
    expect(kit.invoice(upgraded)).toMatchObject({
      status: 'paid',
      amount_paid: 90_000,
      billing_reason: 'subscription_update',
    });
    expect(new Date((upgraded.items.data[0]?.current_period_end ?? 0) * 1_000).toISOString()).toBe(
      '2027-01-31T10:00:00.000Z',
    );
  });

  it('The engine holds an upgrade until the customer has passed bank authentication', () => {
    const [basic, monthly] = [kit.price(4_900), kit.price(9_900)];
    const customer = kit.customer(asksAlways);
    const trial = kit.subscribe(customer, basic, { trial_period_days: 7 });
    const pending = kit.post<Stripe.Subscription>(`/v1/subscriptions/${trial.id}`, {
      ...kit.to(trial, monthly),
      trial_end: 'now',
      proration_behavior: 'none',
      payment_behavior: 'pending_if_incomplete',
    });
    expect(pending).toMatchObject({ status: 'trialing', items: { data: [{ price: { id: basic } }] } });
    expect(pending.pending_update).toMatchObject({ subscription_items: [{ price: { id: monthly } }] });
    const invoice = kit.invoice(pending);
    expect(invoice).toMatchObject({ status: 'open', amount_due: 9_900 });
    const intent = String(invoice.payments?.data[0]?.payment.payment_intent);
    kit.engine.authenticate(intent, 'succeed');
    expect(kit.subscription(trial.id)).toMatchObject({
      status: 'active',
      pending_update: null,
      items: { data: [{ price: { id: monthly } }] },
    });
    expect(kit.invoice(invoice.id).status).toBe('paid');
    expect(kit.types().filter((type) => type.includes('pending_update'))).toEqual([
      'customer.subscription.pending_update_applied',
    ]);
  });

  it('The engine expires a change that is not paid', () => {
    const [basic, monthly] = [kit.price(4_900), kit.price(9_900)];
    const customer = kit.customer(asksAlways);
    const trial = kit.subscribe(customer, basic, { trial_period_days: 7 });
    const pending = kit.post<Stripe.Subscription>(`/v1/subscriptions/${trial.id}`, {
      ...kit.to(trial, monthly),
      trial_end: 'now',
      payment_behavior: 'pending_if_incomplete',
    });
    kit.engine.advance(day);
    expect(kit.invoice(pending).status).toBe('void');
    expect(kit.subscription(trial.id)).toMatchObject({ status: 'trialing', pending_update: null });
    expect(kit.types()).toContain('customer.subscription.pending_update_expired');
  });

  it('The engine gives the reason why a card is not saved', () => {
    const customer = kit.customer();
    const intent = kit.post<Stripe.SetupIntent>('/v1/setup_intents', { customer });
    const confirm = (number: string) => () =>
      kit.call(
        'POST',
        `/v1/setup_intents/${intent.id}/confirm`,
        {
          client_secret: intent.client_secret,
          payment_method_data: cardData(number),
        },
        'publishable',
      );
    const why = (number: string) => {
      const { code, declineCode, status } = kit.refused(confirm(number));
      return [status, code, declineCode];
    };
    expect(why('4000000000000002')).toEqual([402, 'card_declined', 'generic_decline']);
    expect(why('4000000000009995')).toEqual([402, 'card_declined', 'insufficient_funds']);
    expect(why('4000000000000069')).toEqual([402, 'expired_card', undefined]);
    expect(why('4000000000000127')).toEqual([402, 'incorrect_cvc', undefined]);
    expect(why('4242424242424241')).toEqual([402, 'incorrect_number', undefined]);
    expect(kit.get<Stripe.SetupIntent>(`/v1/setup_intents/${intent.id}`)).toMatchObject({
      status: 'requires_payment_method',
      last_setup_error: { code: 'incorrect_cvc' },
    });
    confirm(visa)();
    expect(kit.get<Stripe.SetupIntent>(`/v1/setup_intents/${intent.id}`).status).toBe('succeeded');
  });
});

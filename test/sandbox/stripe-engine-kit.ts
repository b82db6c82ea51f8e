import type Stripe from 'stripe';
import { createEngine, StandInError, type StripeEvent } from '../../sandbox/stripe/engine/index.ts';
import { stripeReference, withoutStripeReference } from '../support/stripe-reference.ts';

export const day = 86_400_000;
type Params = Record<string, unknown>;
type Method = 'GET' | 'POST' | 'DELETE';

const schemas: Record<string, string> = {
  customer: 'Customer',
  subscription: 'Subscription',
  subscription_schedule: 'SubscriptionSchedule',
  invoice: 'Invoice',
  payment_method: 'PaymentMethod',
  setup_intent: 'SetupIntent',
  payment_intent: 'PaymentIntent',
};

/**
 * An engine on its own clock, which checks every request and answer against the description of Stripe's API, and a few
 * shorthands. Faults are kept in `faults`.
 * @param options.checks without them it is several times as fast; `draftsRenewals`, `retryAfterDays`: as the engine's own options
 */
export function engineKit({
  startMs = Date.UTC(2026, 0, 31, 10),
  checks = true,
  draftsRenewals = false,
  retryAfterDays,
}: {
  startMs?: number;
  checks?: boolean;
  draftsRenewals?: boolean;
  retryAfterDays?: readonly number[];
} = {}) {
  let nowMs = startMs;
  const events: StripeEvent[] = [];
  const faults: string[] = [];
  const reference = !checks || withoutStripeReference() ? undefined : stripeReference();
  const make = () =>
    createEngine({
      now: () => nowMs,
      draftsRenewals,
      ...(retryAfterDays && { retryAfterDays }),
      origin: 'http://stripe.example',
      onEvent(event) {
        events.push(event);
        const schema = schemas[String(event.data.object.object)];
        if (!reference) return;
        faults.push(...reference.objectFaults('Event', event));
        if (schema) faults.push(...reference.objectFaults(schema, event.data.object).map((f) => `${event.type} ${f}`));
      },
    });
  const engine = make();

  function call<T>(method: Method, path: string, params: Params = {}, as: 'secret' | 'publishable' = 'secret'): T {
    if (as === 'secret') faults.push(...(reference?.requestFaults({ method, path, params: asForm(params) }) ?? []));
    const answer = engine.call({ method, path, params, as });
    faults.push(...(reference?.answerFaults({ method, path, status: 200, answer }) ?? []));
    return answer as T;
  }
  const post = <T>(path: string, params: Params = {}) => call<T>('POST', path, params);
  const get = <T>(path: string, params: Params = {}) => call<T>('GET', path, params);

  /** The error that a call is answered with. */
  function refused(act: () => unknown): StandInError {
    try {
      act();
    } catch (error) {
      if (error instanceof StandInError) return error;
      throw error;
    }
    throw new Error('the call was not refused');
  }

  return {
    engine,
    make,
    events,
    faults,
    call,
    post,
    get,
    refused,
    /** Real time passes. */
    pass(ms: number) {
      nowMs += ms;
    },
    types: () => events.map((event) => event.type),
    price(cents: number, interval = 'month', more: Params = {}) {
      return post<Stripe.Price>('/v1/prices', {
        currency: 'usd',
        unit_amount: cents,
        recurring: { interval },
        product: post<Stripe.Product>('/v1/products', { name: `Plan of ${cents}` }).id,
        ...more,
      }).id;
    },
    /** A customer, with a card by its number where one is given. */
    customer(number?: string): string {
      const { id } = post<Stripe.Customer>('/v1/customers', { email: 'vera@example.com' });
      if (number !== undefined) this.save(id, number);
      return id;
    },
    /** Saves a card by a setup intent as a browser does, authenticating where asked, and makes it the default. */
    save(customer: string, number: string): string {
      const intent = post<Stripe.SetupIntent>('/v1/setup_intents', {
        customer,
        usage: 'off_session',
        allowed_payment_method_types: ['card'],
      });
      const confirmed = call<Stripe.SetupIntent>(
        'POST',
        `/v1/setup_intents/${intent.id}/confirm`,
        { client_secret: intent.client_secret, payment_method_data: cardData(number) },
        'publishable',
      );
      if (confirmed.status === 'requires_action') engine.authenticate(intent.id, 'succeed');
      const { payment_method } = get<Stripe.SetupIntent>(`/v1/setup_intents/${intent.id}`);
      post(`/v1/customers/${customer}`, { invoice_settings: { default_payment_method: payment_method } });
      return String(payment_method);
    },
    subscribe(customer: string, price: string, more: Params = {}) {
      return post<Stripe.Subscription>('/v1/subscriptions', { customer, items: [{ price }], ...more });
    },
    subscription: (id: string) => get<Stripe.Subscription>(`/v1/subscriptions/${id}`),
    invoice: (of: string | Stripe.Subscription) =>
      get<Stripe.Invoice>(`/v1/invoices/${typeof of === 'string' ? of : String(of.latest_invoice)}`),
    customerNow: (id: string) => get<Stripe.Customer>(`/v1/customers/${id}`),
    /** Parameters of a change of price. */
    to: (subscription: Stripe.Subscription, price: string) => ({
      items: [{ id: subscription.items.data[0]?.id, price }],
    }),
    preview: (params: Params) => post<Stripe.Invoice>('/v1/invoices/create_preview', params),
  };
}

/** Forms know only text. */
function asForm(value: Params): Params {
  return JSON.parse(JSON.stringify(value));
}

export const cardData = (number: string, more: Params = {}) => ({
  type: 'card',
  card: { number, exp_month: 12, exp_year: 2034, cvc: number.startsWith('37') ? '1234' : '123', ...more },
  billing_details: { name: 'Vera Example', address: { postal_code: '10115' } },
});

export const visa = '4242424242424242';
export const declinesLater = '4000000000000341';
export const asksAtSaving = '4000002500003155';
export const asksAlways = '4000002760003184';
export const asksThenPoor = '4000008260003178';

import type Stripe from 'stripe';
import { sendRequest } from '../support/send-request.ts';
import { startStripe, stripeKeys, type TestStripe } from '../support/stripe.ts';
import { stripeReference, withoutStripeReference } from '../support/stripe-reference.ts';

const dayMs = 24 * 60 * 60_000;
let standIn: TestStripe;
let stripe: Stripe;
let monthly: Stripe.Price;
let yearly: Stripe.Price;
beforeAll(async () => {
  standIn = await startStripe();
  stripe = standIn.client();
  const product = await stripe.products.create({ name: 'Basic' });
  const price = (interval: 'month' | 'year', unit_amount: number) =>
    stripe.prices.create({ product: product.id, currency: 'usd', unit_amount, recurring: { interval } });
  [monthly, yearly] = [await price('month', 9_900), await price('year', 90_000)];
});
afterAll(() => standIn?.close());

/** As the browser's script calls: with the publishable key, from another origin. */
async function fromBrowser(method: 'GET' | 'POST', path: string, params: Record<string, string>) {
  const form = new URLSearchParams(params);
  const response = await sendRequest(`${standIn.url}${path}${method === 'GET' ? `?${form}` : ''}`, {
    method,
    headers: { authorization: `Bearer ${stripeKeys.publishableKey}`, origin: 'http://localhost:3000' },
    ...(method === 'POST' && { body: form }),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/** A card as it is typed into the fields, at this setup intent. */
async function confirmCard(intent: Stripe.SetupIntent, number: string) {
  const made = await fromBrowser('POST', '/v1/payment_methods', {
    type: 'card',
    'card[number]': number,
    'card[exp_month]': '12',
    'card[exp_year]': '2034',
    'card[cvc]': '123',
  });
  expect(made.status).toBe(200);
  return fromBrowser('POST', `/v1/setup_intents/${intent.id}/confirm`, {
    client_secret: intent.client_secret ?? '',
    payment_method: made.body.id,
    use_stripe_sdk: 'true',
  });
}

const newCustomer = () => stripe.customers.create({ email: 'vera@example.com' });
const newIntent = (customer: Stripe.Customer) =>
  stripe.setupIntents.create({ customer: customer.id, usage: 'off_session', allowed_payment_method_types: ['card'] });

async function withCard(number: string): Promise<Stripe.Customer> {
  const customer = await newCustomer();
  const { status, body } = await confirmCard(await newIntent(customer), number);
  expect([status, body.status]).toEqual([200, 'succeeded']);
  return stripe.customers.update(customer.id, { invoice_settings: { default_payment_method: body.payment_method } });
}

const inTrial = (customer: Stripe.Customer) =>
  stripe.subscriptions.create(
    {
      customer: customer.id,
      items: [{ price: monthly.id }],
      trial_period_days: 7,
      trial_settings: { end_behavior: { missing_payment_method: 'pause' } },
      payment_settings: { payment_method_types: ['card'], save_default_payment_method: 'on_subscription' },
    },
    { idempotencyKey: `trial ${customer.id}` },
  );

const upgrade = (subscription: Stripe.Subscription) =>
  stripe.subscriptions.update(subscription.id, {
    items: [{ id: subscription.items.data[0]?.id ?? '', price: yearly.id }],
    trial_end: 'now',
    proration_behavior: 'none',
    payment_behavior: 'pending_if_incomplete',
    expand: ['latest_invoice.confirmation_secret', 'latest_invoice.payments'],
  });

describe('from trial to a plan, over HTTP', () => {
  it('A card that works is charged at once, and fields that need expand are given on request', async () => {
    const subscription = await inTrial(await withCard('4242424242424242'));
    expect(subscription).toMatchObject({ status: 'trialing', latest_invoice: expect.stringMatching(/^in_/) });
    const upgraded = await upgrade(subscription);
    expect(upgraded).toMatchObject({
      status: 'active',
      pending_update: null,
      latest_invoice: { status: 'paid', amount_paid: 90_000, payments: { object: 'list', data: [{ status: 'paid' }] } },
    });
    const invoice = upgraded.latest_invoice as Stripe.Invoice;
    const plain = await stripe.invoices.retrieve(invoice.id);
    expect(plain).not.toHaveProperty('payments');
    expect(plain).not.toHaveProperty('confirmation_secret');
    const deep = await stripe.invoices.retrieve(invoice.id, { expand: ['payments.data.payment.payment_intent'] });
    expect(deep.payments?.data[0]?.payment.payment_intent).toMatchObject({
      object: 'payment_intent',
      status: 'succeeded',
      amount: 90_000,
    });
  });

  it('A card that needs authentication is decided by the bank’s page', async () => {
    const customer = await newCustomer();
    const intent = await newIntent(customer);
    const asked = await confirmCard(intent, '4000002760003184');
    expect(asked.body).toMatchObject({ status: 'requires_action' });
    await answerChallenge(intent.id, 'succeed');
    const saved = await stripe.setupIntents.retrieve(intent.id);
    expect(saved.status).toBe('succeeded');
    await stripe.customers.update(customer.id, {
      invoice_settings: { default_payment_method: saved.payment_method as string },
    });
    const upgraded = await upgrade(await inTrial(customer));
    expect(upgraded).toMatchObject({ status: 'trialing', pending_update: { expires_at: expect.any(Number) } });
    const invoice = upgraded.latest_invoice as Stripe.Invoice;
    const secret = invoice.confirmation_secret?.client_secret ?? '';
    const [payment = ''] = secret.split('_secret_');
    const confirmed = await fromBrowser('POST', `/v1/payment_intents/${payment}/confirm`, { client_secret: secret });
    expect(confirmed.body.status).toBe('requires_action');
    await answerChallenge(payment, 'fail');
    expect(await stripe.subscriptions.retrieve(upgraded.id)).toMatchObject({ status: 'trialing' });
    expect(await stripe.paymentIntents.retrieve(payment)).toMatchObject({
      status: 'requires_payment_method',
      last_payment_error: { code: 'payment_intent_authentication_failure' },
    });
    await fromBrowser('POST', `/v1/payment_intents/${payment}/confirm`, {
      client_secret: secret,
      payment_method: saved.payment_method as string,
    });
    await answerChallenge(payment, 'succeed');
    expect(await stripe.subscriptions.retrieve(upgraded.id)).toMatchObject({ status: 'active', pending_update: null });
    expect(await stripe.invoices.retrieve(invoice.id)).toMatchObject({ status: 'paid', amount_paid: 90_000 });
  });

  it('A card that is declined gives the error of Stripe', async () => {
    const intent = await newIntent(await newCustomer());
    const { status, body } = await confirmCard(intent, '4000000000009995');
    expect(status).toBe(402);
    expect(body.error).toMatchObject({
      type: 'card_error',
      code: 'card_declined',
      decline_code: 'insufficient_funds',
      setup_intent: { id: intent.id, status: 'requires_payment_method' },
    });
    const again = await confirmCard(intent, '4242424242424242');
    expect(again.body.status).toBe('succeeded');
  });
});

async function answerChallenge(intent: string, outcome: string): Promise<void> {
  const address = `${standIn.url}/stand-in/authenticate/${intent}`;
  const page = await sendRequest(address);
  expect([page.status, page.headers.get('x-frame-options')]).toEqual([200, null]);
  expect(await page.text()).toContain('<button name="outcome" value="fail">Fail</button>');
  const answer = await sendRequest(address, { method: 'POST', body: new URLSearchParams({ outcome }) });
  const html = await answer.text();
  expect(html).toContain(`postMessage({"source":"stripe-stand-in","intent":"${intent}","outcome":"${outcome}"}`);
  // Its script is the only one that may run there.
  const [, nonce] = /script-src 'nonce-([^']+)'/.exec(answer.headers.get('content-security-policy') ?? '') ?? [];
  expect(html).toContain(`<script nonce="${nonce}">`);
}

describe('browsers', () => {
  it('A browser may call from every origin, and only what its key may call', async () => {
    const asked = await sendRequest(`${standIn.url}/v1/setup_intents/seti_1/confirm`, {
      method: 'OPTIONS',
      headers: { origin: 'http://localhost:3000', 'access-control-request-headers': 'authorization' },
    });
    expect(asked.status).toBe(204);
    expect(asked.headers.get('access-control-allow-origin')).toBe('*');
    expect(asked.headers.get('access-control-allow-headers')).toBe('authorization');
    const intent = await newIntent(await newCustomer());
    const read = (client_secret: string) => fromBrowser('GET', `/v1/setup_intents/${intent.id}`, { client_secret });
    expect((await read(intent.client_secret ?? '')).status).toBe(200);
    const foreign = await read(`${intent.id}_secret_guessed`);
    expect(foreign.status).toBeGreaterThanOrEqual(400);
    expect(foreign.headers.get('access-control-allow-origin')).toBe('*');
    expect((await fromBrowser('GET', '/v1/customers', {})).status).toBe(401);
  });

  it('A browser sees an invoice on its own page', async () => {
    const upgraded = await upgrade(await inTrial(await withCard('4242424242424242')));
    const { id, hosted_invoice_url, invoice_pdf, number } = upgraded.latest_invoice as Stripe.Invoice;
    expect(hosted_invoice_url).toBe(`${standIn.url}/stand-in/invoices/${id}`);
    for (const address of [hosted_invoice_url, invoice_pdf]) {
      const page = await sendRequest(address ?? '');
      expect(page.status).toBe(200);
      const html = await page.text();
      expect(html).toContain(`<h1>Invoice ${number}</h1>`);
      expect(html).toContain('$900.00');
    }
    expect((await sendRequest(`${standIn.url}/stand-in/invoices/in_none`)).status).toBe(404);
    expect((await sendRequest(`${standIn.url}/stand-in/authenticate/${id}`)).status).toBe(404);
  });
});

describe('requests by proxies', () => {
  it.each(['/v1/customers', '/stripe.js', '/stand-in/control/overview'])(
    'The path %s refuses requests that a proxy forwards',
    async (path) => {
      const answer = await sendRequest(standIn.url + path, { headers: { 'x-forwarded-for': '203.0.113.9' } });
      expect([answer.status, await answer.json()]).toEqual([
        403,
        { error: { type: 'invalid_request_error', message: expect.stringContaining('forwarded: x-forwarded-for') } },
      ]);
    },
  );
});

const schemas: Record<string, string> = {
  customer: 'Customer',
  invoice: 'Invoice',
  payment_intent: 'PaymentIntent',
  payment_method: 'PaymentMethod',
  price: 'Price',
  product: 'Product',
  setup_intent: 'SetupIntent',
  subscription: 'Subscription',
};

// Before the clock moves by a year: events are forgotten after a month.
it('Every event object is as Stripe’s description defines it', async () => {
  const told = new Map<string, Set<string>>();
  for await (const { type, data } of stripe.events.list({ limit: 100 })) {
    const object = data.object as unknown as { object: string };
    const schema = schemas[object.object];
    // What is only given on request is in no event.
    expect(object).not.toHaveProperty('confirmation_secret');
    if (schema === undefined || withoutStripeReference()) continue;
    told.set(schema, (told.get(schema) ?? new Set()).add(type));
    expect([type, stripeReference().objectFaults(schema, object)]).toEqual([type, []]);
  }
  if (withoutStripeReference()) return;
  expect([...told.keys()].sort()).toEqual(Object.values(schemas));
  for (const type of ['customer.subscription.pending_update_applied', 'customer.subscription.updated']) {
    expect(told.get('Subscription')).toContain(type);
  }
});

describe('the controls', () => {
  const control = (path: string, body?: object, key = stripeKeys.secretKey) =>
    sendRequest(`${standIn.url}/stand-in/control/${path}`, {
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });

  it('The controls require the secret key and refuse browsers', async () => {
    expect((await control('overview', undefined, stripeKeys.publishableKey)).status).toBe(401);
    expect((await control('act', { act: 'advance', ms: dayMs }, '')).status).toBe(401);
    for (const header of ['origin', 'sec-fetch-site']) {
      for (const path of ['/stand-in/control/overview', '/v1/customers']) {
        const authorization = `Bearer ${stripeKeys.secretKey}`;
        const asked = await sendRequest(standIn.url + path, { headers: { authorization, [header]: 'null' } });
        expect(asked.status).toBe(401);
      }
    }
    expect((await control('act', { act: 'advance', ms: -1 })).status).toBe(400);
    expect((await control('act', { act: 'erase' })).status).toBe(400);
    expect((await control('act', { act: 'refund', invoice: 'in_none' })).status).toBe(404);
  });

  it('The controls show the objects, advance time, make a card fail and refund', async () => {
    const customer = await withCard('4242424242424242');
    const { latest_invoice, id } = await upgrade(await inTrial(customer));
    const invoice = latest_invoice as Stripe.Invoice;
    const mine = async () => {
      const { customers, ...rest } = (await (await control('overview')).json()) as {
        nowMs: number;
        movedMs: number;
        customers: { id: string }[];
      };
      return { ...rest, customer: customers.find((each) => each.id === customer.id) };
    };
    const before = await mine();
    expect(before.customer).toMatchObject({
      email: 'vera@example.com',
      methods: [{ brand: 'visa', last4: '4242', isDebit: false }],
      subscriptions: [{ id, status: 'active', cents: 90_000, endsThen: false }],
      invoices: [
        { id: invoice.id, status: 'paid', cents: 90_000, refundable: true },
        { cents: 0, refundable: false },
      ],
    });
    expect((await control('act', { act: 'refund', invoice: invoice.id })).status).toBe(200);
    const [card] = (await stripe.paymentMethods.list({ customer: customer.id, type: 'card' })).data;
    await control('act', { act: 'card', paymentMethod: card?.id, number: '4000000000000341' });
    const passed = await control('act', { act: 'advance', ms: 366 * dayMs });
    expect(passed.status).toBe(200);
    const after = await mine();
    expect(after.movedMs - before.movedMs).toBe(366 * dayMs);
    expect(after.customer).toMatchObject({
      subscriptions: [{ status: 'past_due' }],
      invoices: [{ status: 'open' }, {}, {}],
    });
  });
});

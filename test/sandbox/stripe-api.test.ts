import Stripe from 'stripe';
import { sendRequest } from '../support/send-request.ts';
import { startStripe, stripeKeys, type TestStripe, takeStripeFaults } from '../support/stripe.ts';
import { withoutStripeReference } from '../support/stripe-reference.ts';

let standIn: TestStripe;
let stripe: Stripe;
beforeAll(async () => {
  standIn = await startStripe();
  stripe = standIn.client();
});
afterAll(() => standIn?.close());

const refusal = async (call: Promise<unknown>): Promise<Stripe.errors.StripeError> => {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Stripe.errors.StripeError)) throw new Error(`no error of Stripe’s: ${error}`);
  return error;
};

describe('the Stripe library with the stand-in', () => {
  it('The library creates, reads, changes and deletes objects', async () => {
    const made = await stripe.customers.create({ email: 'vera@example.com', metadata: { member: '1' } });
    expect(made).toMatchObject({ object: 'customer', email: 'vera@example.com', metadata: { member: '1' } });
    expect(made.lastResponse).toMatchObject({ statusCode: 200, requestId: expect.stringMatching(/^req_\w{14}$/) });
    await stripe.customers.update(made.id, { name: 'Vera', metadata: { member: '' } });
    expect(await stripe.customers.retrieve(made.id)).toMatchObject({ name: 'Vera', metadata: {} });
    expect(await stripe.customers.del(made.id)).toEqual({ id: made.id, object: 'customer', deleted: true });
    expect(await stripe.customers.retrieve(made.id)).toMatchObject({ deleted: true });
  });

  it('The library reads lists page by page', async () => {
    const made: string[] = [];
    for (let at = 0; at < 12; at += 1) made.unshift((await stripe.customers.create({ email: 'many@example.com' })).id);
    const first = await stripe.customers.list({ email: 'many@example.com' });
    expect(first).toMatchObject({ object: 'list', has_more: true, url: '/v1/customers' });
    expect(first.data.map(({ id }) => id)).toEqual(made.slice(0, 10));
    const second = await stripe.customers.list({ email: 'many@example.com', limit: 5, starting_after: made[9] });
    expect([second.data.map(({ id }) => id), second.has_more]).toEqual([made.slice(10), false]);
    const before = await stripe.customers.list({ email: 'many@example.com', limit: 3, ending_before: made[5] });
    expect([before.data.map(({ id }) => id), before.has_more]).toEqual([made.slice(2, 5), true]);
    const all: string[] = [];
    for await (const { id } of stripe.customers.list({ email: 'many@example.com', limit: 5 })) all.push(id);
    expect(all).toEqual(made);
    expect(await refusal(stripe.customers.list({ limit: 101 }))).toMatchObject({ statusCode: 400, param: 'limit' });
    expect(await refusal(stripe.customers.list({ starting_after: 'cus_none' }))).toMatchObject({
      code: 'resource_missing',
      param: 'starting_after',
    });
  });

  it('The library expands ids, also within lists', async () => {
    const product = await stripe.products.create({ name: 'Basic' });
    const price = await stripe.prices.create({
      product: product.id,
      currency: 'usd',
      unit_amount: 999,
      recurring: { interval: 'month' },
      lookup_key: 'expands',
    });
    expect(price.product).toBe(product.id);
    const whole = await stripe.prices.retrieve(price.id, { expand: ['product'] });
    expect(whole.product).toMatchObject({ object: 'product', name: 'Basic' });
    const { data } = await stripe.prices.list({ lookup_keys: ['expands'], expand: ['data.product'] });
    expect(data).toMatchObject([{ id: price.id, product: { id: product.id, object: 'product' } }]);
    for (const property of ['currency', 'currency.name', 'unit_amount', 'nothing', 'data.product', 'recurring']) {
      expect(await refusal(stripe.prices.retrieve(price.id, { expand: [property] }))).toMatchObject({
        statusCode: 400,
        message: `This property cannot be expanded (${property.split('.')[0]}).`,
      });
    }
    expect(await refusal(stripe.prices.retrieve(price.id, { expand: ['a.b.c.d.e'] }))).toMatchObject({
      message: expect.stringContaining('more than 4 levels'),
    });
  });
});

describe('errors are the library’s classes', () => {
  it('An object that does not exist gives an invalid-request error', async () => {
    const error = await refusal(stripe.customers.retrieve('cus_none'));
    expect(error).toBeInstanceOf(Stripe.errors.StripeInvalidRequestError);
    expect(error).toMatchObject({
      statusCode: 404,
      code: 'resource_missing',
      message: "No such customer: 'cus_none'",
      requestId: expect.stringMatching(/^req_/),
      doc_url: 'https://stripe.com/docs/error-codes/resource-missing',
    });
  });

  it('A wrong key and a missing key are refused', async () => {
    const { hostname, port } = new URL(standIn.url);
    const other = new Stripe('sk_test_other', { host: hostname, port, protocol: 'http', maxNetworkRetries: 0 });
    const error = await refusal(other.customers.list());
    expect(error).toBeInstanceOf(Stripe.errors.StripeAuthenticationError);
    expect(error.message).toBe('Invalid API Key provided: sk_test_****');
    const none = await sendRequest(`${standIn.url}/v1/customers`);
    expect([none.status, await none.json()]).toMatchObject([401, { error: { type: 'invalid_request_error' } }]);
    const basic = await sendRequest(`${standIn.url}/v1/customers`, {
      headers: { authorization: `Basic ${Buffer.from(`${stripeKeys.secretKey}:`).toString('base64')}` },
    });
    expect(basic.status).toBe(200);
  });

  it('A publishable key reads no customers', async () => {
    const response = await sendRequest(`${standIn.url}/v1/customers`, {
      headers: { authorization: `Bearer ${stripeKeys.publishableKey}` },
    });
    expect(response.status).toBe(401);
  });
});

describe('idempotency keys', () => {
  it('The same request with the same key gets the first answer', async () => {
    const once = () => stripe.customers.create({ email: 'once@example.com' }, { idempotencyKey: 'once' });
    const [first, second] = [await once(), await once()];
    expect(second).toEqual(first);
    expect((await stripe.customers.list({ email: 'once@example.com' })).data).toHaveLength(1);
    expect(first.lastResponse.headers).not.toHaveProperty('idempotent-replayed');
    expect(second.lastResponse.headers).toMatchObject({
      'idempotent-replayed': 'true',
      'original-request': first.lastResponse.requestId,
      'idempotency-key': 'once',
    });
  });

  it('Other parameters or another address with the same key are refused', async () => {
    await stripe.customers.create({ email: 'a@example.com' }, { idempotencyKey: 'mine' });
    const other = await refusal(stripe.customers.create({ email: 'b@example.com' }, { idempotencyKey: 'mine' }));
    expect(other).toBeInstanceOf(Stripe.errors.StripeIdempotencyError);
    expect(other).toMatchObject({ statusCode: 400, message: expect.stringContaining('same parameters') });
    const elsewhere = await refusal(stripe.products.create({ name: 'x' }, { idempotencyKey: 'mine' }));
    expect(elsewhere.message).toContain("same endpoint they were first used for ('/v1/products' vs '/v1/customers')");
  });

  it('Errors of executed requests are kept under the key, and errors of parameters are not', async () => {
    const gone = () => stripe.customers.update('cus_none', { name: 'x' }, { idempotencyKey: 'gone' });
    const [first, second] = [await refusal(gone()), await refusal(gone())];
    expect(second).toMatchObject({ code: 'resource_missing', headers: { 'idempotent-replayed': 'true' } });
    expect(first.headers).not.toHaveProperty('idempotent-replayed');
    const nameless = () => stripe.products.create({} as Stripe.ProductCreateParams, { idempotencyKey: 'nameless' });
    expect(await refusal(nameless())).toMatchObject({ code: 'parameter_missing' });
    expect((await refusal(nameless())).headers).not.toHaveProperty('idempotent-replayed');
    // What a test sends is looked at, too.
    const described = withoutStripeReference() ? [] : [expect.stringContaining("must have required property 'name'")];
    expect(takeStripeFaults()).toEqual(described);
    expect(await stripe.products.create({ name: 'named' }, { idempotencyKey: 'nameless' })).toMatchObject({
      name: 'named',
    });
  });

  it('Of requests with one key at the same time one is executed, and the others are replayed or refused as in use', async () => {
    const create = () => stripe.customers.create({ email: 'twins@example.com' }, { idempotencyKey: 'twins' });
    const answers = await Promise.allSettled(Array.from({ length: 6 }, create));
    for (const answer of answers) {
      if (answer.status === 'rejected')
        expect(answer.reason).toMatchObject({ code: 'idempotency_key_in_use', statusCode: 409 });
    }
    expect(answers.some(({ status }) => status === 'fulfilled')).toBe(true);
    expect((await stripe.customers.list({ email: 'twins@example.com' })).data).toHaveLength(1);
    await expect(create()).resolves.toMatchObject({ email: 'twins@example.com' });
  });

  it('A key is forgotten after a day of the stand-in’s clock', async () => {
    const create = () => stripe.customers.create({ email: 'daily@example.com' }, { idempotencyKey: 'daily' });
    const first = await create();
    standIn.engine.advance(24 * 60 * 60_000 - 60_000);
    expect((await create()).id).toBe(first.id);
    standIn.engine.advance(120_000);
    expect((await create()).id).not.toBe(first.id);
  });
});

describe('faults for tests', () => {
  it('A request with a lost answer is executed, and the next try gets the answer', async () => {
    const create = () => stripe.customers.create({ email: 'lost@example.com' }, { idempotencyKey: 'lost' });
    standIn.fault('lost');
    expect(await refusal(create())).toBeInstanceOf(Stripe.errors.StripeConnectionError);
    expect((await stripe.customers.list({ email: 'lost@example.com' })).data).toHaveLength(1);
    expect((await create()).lastResponse.headers).toMatchObject({ 'idempotent-replayed': 'true' });
  });

  it('A request with an unreachable Stripe or a server error is not executed', async () => {
    const create = () => stripe.customers.create({ email: 'away@example.com' }, { idempotencyKey: 'away' });
    standIn.fault('error', (method, path) => method === 'POST' && path === '/v1/customers');
    standIn.fault('unreachable', (method) => method === 'POST');
    expect((await stripe.customers.list({ email: 'away@example.com' })).data).toEqual([]);
    const error = await refusal(create());
    expect(error).toBeInstanceOf(Stripe.errors.StripeAPIError);
    expect(error.statusCode).toBe(500);
    expect(await refusal(create())).toBeInstanceOf(Stripe.errors.StripeConnectionError);
    expect((await stripe.customers.list({ email: 'away@example.com' })).data).toEqual([]);
    expect((await create()).lastResponse.headers).not.toHaveProperty('idempotent-replayed');
  });

  it('A request over the rate limit is answered 429, is not executed, and can be repeated with its key', async () => {
    const create = () => stripe.customers.create({ email: 'busy@example.com' }, { idempotencyKey: 'busy' });
    standIn.fault('rate-limit', (method) => method === 'POST');
    const error = await refusal(create());
    expect(error).toBeInstanceOf(Stripe.errors.StripeRateLimitError);
    expect(error).toMatchObject({ statusCode: 429, code: 'rate_limit' });
    expect((await stripe.customers.list({ email: 'busy@example.com' })).data).toEqual([]);
    expect((await create()).lastResponse.headers).not.toHaveProperty('idempotent-replayed');
  });

  it('A stand-in with a rate of requests answers as many in a second, and 429 to the others', async () => {
    const slow = await startStripe({ requestsPerSecond: 5 });
    const client = slow.client();
    const settled = await Promise.allSettled(Array.from({ length: 20 }, () => client.customers.list()));
    const answered = settled.filter(({ status }) => status === 'fulfilled').length;
    expect(answered).toBeGreaterThanOrEqual(5);
    expect(answered).toBeLessThan(20);
    await slow.close();
  });
});

import Stripe from 'stripe';
import { listOrders } from '../../server/billing/index.ts';
import type { User } from '../../server/users/index.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';
import { stripeKeys } from '../support/stripe.ts';
import { dayMs, from, manyCards, type Shop, startShop } from './steps.ts';

const { webhookSecret } = stripeKeys;
const { webhooks: signer } = new Stripe(stripeKeys.secretKey);
const signed = (payload: string, more: { secret?: string; timestamp?: number } = {}) =>
  signer.generateTestHeaderString({ payload, secret: webhookSecret, ...more });

describe.each(backends)('webhooks of Stripe, on $name', (backend) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(backend, manyCards);
    shop.stripe.tell(shop.foyer.url);
    shop.stripe.webhooks.mode = 'held';
  });
  beforeEach(() => shop.stripe.webhooks.drop());
  afterAll(() => shop?.close());

  const post = (body: string | Buffer, headers: Record<string, string> = {}, path = '/webhooks/stripe') =>
    sendRequest(shop.foyer.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
      body: new Uint8Array(Buffer.from(body)),
    });
  const send = (payload: string, signature = signed(payload)) => post(payload, { 'stripe-signature': signature });
  let made = 0;
  const eventOf = (type: string, object: Record<string, unknown>) => {
    made += 1;
    const rest = { object: 'event', api_version: '2026-10-28.endive', created: 1, livemode: false, request: null };
    return JSON.stringify({ id: `evt_test_${made}`, ...rest, type, data: { object } });
  };
  const rows = () => shop.foyer.deps.database.db.selectFrom('stripeEvents').selectAll().orderBy('id').execute();
  const orders = ({ id }: User) => listOrders(shop.foyer.deps.database.db, id);
  async function buyer(code = 'm-99'): Promise<User> {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    await shop.buy(user, code);
    // The tests do not need the events of the purchase.
    shop.stripe.webhooks.drop();
    return user;
  }
  const subscriptionOf = async ({ id }: User) => (await shop.membership.getMembership(id))?.subscriptionId ?? '';
  const customerOf = async ({ id }: User) => (await shop.membership.getMembership(id))?.customerId ?? '';
  /** Returns the last event of a type about this member and drops all events. */
  async function lastOf(user: User, type: string): Promise<string> {
    const customer = await customerOf(user);
    const event = shop.stripe.webhooks
      .waiting()
      .findLast((one) => one.type === type && one.data.object.customer === customer);
    shop.stripe.webhooks.drop();
    return JSON.stringify(event);
  }
  const asked = () => {
    const calls: string[] = [];
    shop.stripe.observe(({ method, path }) => calls.push(`${method} ${path}`));
    return calls;
  };

  it('A webhook records a renewal that Foyer has not requested', async () => {
    const user = await buyer();
    shop.passTime(30 * dayMs + 60_000);
    expect(await orders(user)).toHaveLength(1);
    const answers = await shop.stripe.webhooks.deliver();
    expect(answers.length).toBeGreaterThan(2);
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(await orders(user)).toMatchObject([{ orderType: 'renewal', paidCents: 9_900 }, {}]);
  });

  it.each([
    ['forged', () => 'wrong', undefined],
    ['signed with another secret', (body: string) => signed(body, { secret: 'whsec_another' }), undefined],
    ['signed for another body', () => signed('{}'), undefined],
    [
      'signed long ago',
      (body: string) => signed(body, { timestamp: Math.floor(Date.now() / 1000) - 3_600 }),
      undefined,
    ],
    ['not signed', () => '', undefined],
  ])('A webhook that is %s gets 400 and leads to no request', async (_what, signature) => {
    const user = await buyer();
    const body = eventOf('customer.subscription.updated', { object: 'subscription', customer: await customerOf(user) });
    const before = await rows();
    const calls = asked();
    const answer = await send(body, signature(body));
    expect(answer.status).toBe(400);
    expect(await answer.text()).not.toContain('evt_test');
    expect(calls).toEqual([]);
    expect(await rows()).toEqual(before);
  });

  it('A webhook with false content changes nothing, because only its customer is read from the body', async () => {
    const user = await buyer();
    const customer = await customerOf(user);
    const gone = { id: await subscriptionOf(user), object: 'subscription', status: 'canceled', customer };
    expect((await send(eventOf('customer.subscription.deleted', gone))).status).toBe(200);
    const paid = { id: 'in_made_up', object: 'invoice', status: 'paid', amount_paid: 800_000, customer };
    expect((await send(eventOf('invoice.paid', paid))).status).toBe(200);
    expect((await send(eventOf('customer.deleted', { id: customer, object: 'customer', deleted: true }))).status).toBe(
      200,
    );
    expect((await shop.userNow(user)).planId).toBe('10');
    expect(await orders(user)).toHaveLength(1);
  });

  it('A webhook that comes a second time is processed once', async () => {
    const user = await buyer();
    const body = eventOf('customer.subscription.updated', { object: 'subscription', customer: await customerOf(user) });
    const signature = signed(body);
    const calls = asked();
    expect((await send(body, signature)).status).toBe(200);
    const first = calls.length;
    expect(first).toBeGreaterThan(0);
    expect((await send(body, signature)).status).toBe(200);
    expect(calls).toHaveLength(first);
  });

  it('Webhooks that come twice and in any order give one order per invoice and the final plan', async () => {
    const user = await buyer();
    shop.passTime(30 * dayMs + 60_000);
    shop.passTime(30 * dayMs + 60_000);
    await shop.stripe.client().subscriptions.cancel(await subscriptionOf(user));
    const answers = await shop.stripe.webhooks.deliver({ order: (events) => events.toReversed(), twice: true });
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await orders(user)).toHaveLength(3);
    expect((await shop.userNow(user)).planId).toBeNull();
  });

  it('A webhook of a purchase whose page still waits gives one order', async () => {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    shop.stripe.webhooks.mode = 'prompt';
    try {
      const { plan } = await shop.membership.choose(user, shop.plan('m-99'));
      const both = await Promise.all([
        shop.membership.confirm(user, { planId: plan.id, dueCents: 9_900 }, from),
        shop.membership.refresh(user.id),
      ]);
      await shop.stripe.webhooks.idle();
      expect(both[0]).toMatchObject({ kind: 'paid' });
    } finally {
      shop.stripe.webhooks.mode = 'held';
    }
    expect(await orders(user)).toHaveLength(1);
    expect((await shop.foyer.mails(user.email)).map(({ template }) => template)).toEqual(['receipt']);
  });

  it('A webhook of an unknown type or customer gets 200 and is recorded', async () => {
    const calls = asked();
    const unknown = [
      eventOf('radar.early_fraud_warning.created', { object: 'radar.early_fraud_warning' }),
      eventOf('invoice.paid', { object: 'invoice', customer: 'cus_of_another_shop' }),
      eventOf('charge.refunded', { object: 'charge', payment_intent: null, customer: 'cus_of_another_shop' }),
    ];
    for (const body of unknown) expect((await send(body)).status).toBe(200);
    expect(calls).toEqual([]);
    const ids = unknown.map((body) => (JSON.parse(body) as { id: string }).id);
    expect((await rows()).filter(({ id, doneAt }) => ids.includes(id) && doneAt !== null)).toHaveLength(3);
  });

  it('A webhook about a payment that Stripe does not know gets 200 each time and changes nothing', async () => {
    const body = eventOf('charge.refunded', { object: 'charge', payment_intent: 'pi_of_another_account' });
    const calls = asked();
    expect((await send(body)).status).toBe(200);
    expect(calls).toContain('GET /v1/payment_intents/pi_of_another_account');
    expect((await send(body)).status).toBe(200);
    const { id } = JSON.parse(body) as { id: string };
    expect((await rows()).filter((row) => row.id === id && row.doneAt !== null)).toHaveLength(1);
  });

  it('A webhook while Stripe does not answer gets 503, and the same event is processed when it comes again', async () => {
    const user = await buyer();
    shop.passTime(30 * dayMs + 60_000);
    const body = await lastOf(user, 'invoice.paid');
    shop.stripe.fault('error', (method, path) => method === 'GET' && path === '/v1/invoices');
    const away = await send(body);
    expect(away.status).toBe(503);
    expect(away.headers.get('retry-after')).toBe('60');
    expect(await orders(user)).toHaveLength(1);
    expect((await send(body)).status).toBe(200);
    expect(await orders(user)).toHaveLength(2);
  });

  it('A webhook that was started and never comes again is completed by the minute job', async () => {
    const user = await buyer();
    shop.passTime(30 * dayMs + 60_000);
    const body = await lastOf(user, 'invoice.paid');
    shop.stripe.fault('error', (method, path) => method === 'GET' && path === '/v1/invoices');
    expect((await send(body)).status).toBe(503);
    // The job leaves a process alone that may still be at it.
    await shop.membership.work();
    expect(await orders(user)).toHaveLength(1);
    shop.passTime(3 * 60_000);
    await shop.membership.work();
    expect(await orders(user)).toHaveLength(2);
    expect((await rows()).filter(({ doneAt }) => doneAt === null)).toEqual([]);
    shop.passTime(31 * dayMs);
    await shop.membership.work();
    expect(await rows()).toEqual([]);
  });

  it('A webhook of a refund or a dispute is recorded on the order of that payment, as Stripe has it', async () => {
    const [user, other] = [await buyer(), await buyer()];
    const [order] = await orders(user);
    shop.stripe.engine.refund(order?.invoiceId ?? '', 2_500);
    shop.stripe.engine.dispute(order?.invoiceId ?? '');
    const twice = await shop.stripe.webhooks.deliver({ twice: true });
    expect(new Set(twice.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await orders(user)).toMatchObject([{ refundedCents: 2_500, disputedAt: expect.any(Number) }]);
    expect(await orders(other)).toMatchObject([{ refundedCents: 0, disputedAt: null }]);
    expect((await shop.userNow(user)).planId).toBe('10');
    expect(shop.foyer.logged()).toContain('payment disputed');
    // Foyer does not trust the amount in the body.
    const [payment] = (await shop.stripe.client().invoicePayments.list({ invoice: order?.invoiceId ?? '' })).data;
    const intent = String(payment?.payment.payment_intent);
    await send(eventOf('charge.refunded', { object: 'charge', payment_intent: intent, amount_refunded: 9_900 }));
    expect(await orders(user)).toMatchObject([{ refundedCents: 2_500 }]);
  });

  it('A webhook of a deleted customer removes the membership, and the member can start again', async () => {
    const user = await buyer();
    await shop.stripe.client().customers.del(await customerOf(user));
    const answers = await shop.stripe.webhooks.deliver();
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await shop.userNow(user)).planId).toBeNull();
    expect(await shop.membership.getMembership(user.id)).toMatchObject({ customerId: null, status: 'none' });
    expect(await orders(user)).toHaveLength(1);
    await shop.saveCard(user);
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'paid' });
    expect(await orders(user)).toHaveLength(2);
  });

  it('A webhook is accepted only by POST, within the size limit and without content encoding', async () => {
    expect((await sendRequest(`${shop.foyer.url}/webhooks/stripe`)).status).toBe(405);
    const large = eventOf('invoice.paid', { object: 'invoice', padding: 'x'.repeat(1_100_000) });
    expect((await send(large)).status).toBe(413);
    const body = eventOf('invoice.paid', { object: 'invoice' });
    const squeezed = await post(body, { 'stripe-signature': signed(body), 'content-encoding': 'gzip' });
    expect(squeezed.status).toBe(415);
    // No browser sends a signature, so headers of a browser refuse nothing.
    const cross = { 'stripe-signature': signed(body), origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    expect((await post(body, cross)).status).toBe(200);
  });
});

import { gzipSync } from 'node:zlib';
import Stripe from 'stripe';
import { listOrders } from '../../server/billing/index.ts';
import type { User } from '../../server/users/index.ts';
import { cards, from, manyCards, type Shop, startShop } from '../billing/steps.ts';
import { toPlanId } from '../support/ids.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';
import { stripeKeys } from '../support/stripe.ts';

const { webhookSecret } = stripeKeys;
const { webhooks: signer } = new Stripe(stripeKeys.secretKey);

describe.each(backends)('attacks on the webhook, on $name', (backend) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(backend, manyCards);
    shop.stripe.tell(shop.foyer.url);
    shop.stripe.webhooks.mode = 'held';
  });
  afterAll(() => shop?.close());

  const signatureOf = (payload: string, secret = webhookSecret) => signer.generateTestHeaderString({ payload, secret });
  const send = (body: string | Buffer, headers: Record<string, string> = {}) =>
    sendRequest(`${shop.foyer.url}/webhooks/stripe`, {
      method: 'POST',
      headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
      body: new Uint8Array(Buffer.from(body)),
    });
  const sendSigned = (body: string) => send(body, { 'stripe-signature': signatureOf(body) });
  const events = async () =>
    (await shop.foyer.deps.database.db.selectFrom('stripeEvents').select('id').execute()).length;
  const orders = ({ id }: User) => listOrders(shop.foyer.deps.database.db, id);
  const planOf = async (user: User) => (await shop.userNow(user)).planId;
  let made = 0;
  const event = (type: string, object: Record<string, unknown>, id = `evt_attack_${++made}`) =>
    JSON.stringify({ id, object: 'event', api_version: '2026-10-28.endive', created: 1, type, data: { object } });
  async function member(number: string = cards.visa): Promise<User> {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user, number);
    return user;
  }

  it('A body that claims an unpaid purchase gives nothing, even if it is signed', async () => {
    const user = await member();
    const { customerId: customer, subscriptionId } = (await shop.membership.getMembership(user.id)) ?? {};
    const price = { id: 'price_1', product: 'prod_1', lookup_key: 'm-899' };
    const objects: [string, Record<string, unknown>][] = [
      [
        'customer.subscription.updated',
        { object: 'subscription', id: subscriptionId, status: 'active', items: { data: [{ price }] } },
      ],
      ['invoice.paid', { object: 'invoice', id: 'in_invented', status: 'paid', amount_paid: 89_900 }],
    ];
    for (const [type, object] of objects) {
      expect((await sendSigned(event(type, { ...object, customer, metadata: { foyer_user: user.id } }))).status).toBe(
        200,
      );
    }
    expect([await planOf(user), await orders(user)]).toEqual([null, []]);
  });

  it('A body that mixes another member’s subscription with the own customer changes neither', async () => {
    const [victim, eve] = [await member(), await member()];
    await shop.buy(victim, 'm-499');
    const own = (await shop.membership.getMembership(eve.id))?.customerId;
    const theirs = (await shop.membership.getMembership(victim.id))?.subscriptionId;
    const body = event('customer.subscription.deleted', {
      object: 'subscription',
      id: theirs,
      customer: own,
      status: 'canceled',
    });
    expect((await sendSigned(body)).status).toBe(200);
    expect([await planOf(victim), await planOf(eve)]).toEqual(['12', null]);
  });

  it('A processed event is not processed again under its id, whatever it says then', async () => {
    const user = await member();
    const customer = (await shop.membership.getMembership(user.id))?.customerId;
    const first = event('invoice.paid', { object: 'invoice', customer }, 'evt_replayed');
    expect((await sendSigned(first)).status).toBe(200);
    const calls: string[] = [];
    shop.stripe.observe(({ path }) => calls.push(path));
    for (const body of [first, event('customer.deleted', { object: 'customer', id: customer }, 'evt_replayed')]) {
      expect((await sendSigned(body)).status).toBe(200);
    }
    expect(calls).toEqual([]);
  });

  it('A flood of forged events is refused before anything is looked up, and members are served meanwhile', async () => {
    const before = await events();
    const calls: string[] = [];
    shop.stripe.observe(({ path }) => calls.push(path));
    const forged = Array.from({ length: 150 }, (_, index) => {
      const body = event('invoice.paid', { object: 'invoice', customer: `cus_${index}` });
      return send(body, {
        'stripe-signature': index % 2 === 0 ? signatureOf(body, 'whsec_guessed') : `t=1,v1=${'0'.repeat(64)}`,
      });
    });
    const page = sendRequest(`${shop.foyer.url}/`, { redirect: 'manual' });
    const statuses = new Set((await Promise.all(forged)).map(({ status }) => status));
    expect([...statuses]).toEqual([400]);
    expect((await page).status).toBeLessThan(400);
    expect([await events(), calls]).toEqual([before, []]);
  });

  it('A signature for one event is refused for another, and so is one among many signatures', async () => {
    const user = await member();
    const customer = (await shop.membership.getMembership(user.id))?.customerId;
    const real = event('invoice.paid', { object: 'invoice', customer });
    const signature = signatureOf(real);
    const other = event('customer.deleted', { object: 'customer', id: customer });
    const before = await events();
    const stale = signer.generateTestHeaderString({ payload: other, secret: webhookSecret, timestamp: 1 });
    for (const header of [
      signature,
      signature.replace(/t=\d+/, (at) => `${at}0`),
      `${stale},t=${Math.floor(Date.now() / 1000)}`,
      'v1=',
      't=,v1=',
      `${signature.split(',')[0]},${Array.from({ length: 100 }, () => `v1=${'f'.repeat(64)}`).join(',')}`,
      `${signature.split(',')[0]},v0=${'f'.repeat(64)}`,
    ]) {
      expect((await send(other, { 'stripe-signature': header })).status).toBe(400);
    }
    expect(await events()).toBe(before);
  });

  it('A body that is too large, compressed or not JSON is refused', async () => {
    const large = event('invoice.paid', { object: 'invoice', note: 'x'.repeat(1_100_000) });
    expect((await sendSigned(large)).status).toBe(413);
    const packed = gzipSync(event('invoice.paid', { object: 'invoice' }));
    expect([400, 415]).toContain((await send(packed, { 'content-encoding': 'gzip', 'stripe-signature': 'x' })).status);
    for (const body of ['', '{', '\u0000']) {
      expect((await send(body, { 'stripe-signature': signatureOf(body, 'whsec_guessed') })).status).toBe(400);
    }
    expect((await sendRequest(`${shop.foyer.url}/webhooks/stripe`)).status).toBe(405);
  });

  it('Events, the page’s own reading and the hourly comparison at once give one order, one plan and one mail', async () => {
    const user = await member();
    shop.stripe.webhooks.drop();
    const { plan } = await shop.membership.choose(user, shop.plan('m-99'));
    const said = { planId: plan.id, dueCents: 9_900 };
    const confirming = [0, 1].map(() => shop.membership.confirm(user, said, from));
    const reading = [0, 1, 2].map(() => shop.membership.refresh(user.id));
    await Promise.all([...confirming, ...reading]);
    await Promise.all([
      shop.stripe.webhooks.deliver({ order: (all) => all.toReversed(), twice: true }),
      shop.membership.refresh(user.id),
      shop.membership.work(),
    ]);
    expect((await orders(user)).map(({ paidCents }) => paidCents)).toEqual([9_900]);
    expect(await planOf(user)).toBe('10');
    const receipts = (await shop.foyer.mails(user.email)).filter(({ text }) => text.includes('99.00'));
    expect(receipts).toHaveLength(1);
  });

  it('An event about a user who has just been erased restores nothing of the user', async () => {
    const user = await member();
    await shop.buy(user, 'm-99');
    shop.stripe.webhooks.drop();
    const { customerId: customer } = (await shop.membership.getMembership(user.id)) ?? {};
    const { database } = shop.foyer.deps;
    await database.db.deleteFrom('memberships').where('userId', '=', user.id).execute();
    const body = event('invoice.paid', { object: 'invoice', customer });
    expect((await sendSigned(body)).status).toBe(200);
    expect(await shop.membership.getMembership(user.id)).toBeUndefined();
  });

  it('A purchase, a free plan and a cancellation at once, in every order, leave a consistent state', async () => {
    for (let turn = 0; turn < 3; turn += 1) {
      const user = await member();
      await shop.membership.choose(user, shop.plan('m-99'));
      const acts = [
        () => shop.membership.confirm(user, { planId: toPlanId('10'), dueCents: 9_900 }, from),
        () => shop.membership.takeFree(user, shop.plan('m-free')),
        () => shop.membership.cancel(user),
      ];
      await Promise.all([...acts.slice(turn), ...acts.slice(0, turn)].map((act) => act()));
      const after = await shop.membership.refresh(user.id);
      const paid = (await orders(user)).length;
      expect(paid).toBeLessThanOrEqual(1);
      expect(await planOf(user)).toBe(paid === 1 ? '10' : '1');
      expect(after?.cancelAtPeriodEnd).toBe(paid === 1);
    }
  });
});

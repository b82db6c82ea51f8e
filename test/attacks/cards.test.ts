import type Stripe from 'stripe';
import type { User } from '../../server/users/index.ts';
import { aBuyer, asClient, chargedTo, starter } from '../billing/api-steps.ts';
import { cards, dayMs, from, type Shop, startShop } from '../billing/steps.ts';
import { anyBackend } from '../support/stores.ts';

const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
const limits = { CARD_LIMIT_MEMBER: '6', CARD_LIMIT_ADDRESS: '1000', CARD_LIMIT_OVERALL: '1000' };

describe('attacks on cards and payments', () => {
  let shop: Shop;
  let stripe: Stripe;
  beforeAll(async () => {
    shop = await startShop(anyBackend, limits);
    stripe = shop.stripe.client();
  });
  afterAll(() => shop?.close());

  const standing = ({ id }: User) => shop.membership.getMembership(id);
  async function member(number: string = cards.visa): Promise<User> {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user, number);
    return user;
  }

  it('A declined card is charged by the same button once it has money', async () => {
    const user = await member(cards.chargeDeclined);
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'declined' });
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'declined' });
    shop.stripe.engine.setCardBehaviour((await standing(user))?.card?.paymentMethodId ?? '', cards.visa);
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'paid' });
    expect(await chargedTo(shop, (await standing(user))?.customerId ?? '')).toEqual([9_900]);
  });

  it('A declined renewal is charged once, even when it is paid repeatedly and from several tabs', async () => {
    const user = await member();
    await shop.buy(user, 'm-99');
    const card = (await standing(user))?.card?.paymentMethodId ?? '';
    shop.stripe.engine.setCardBehaviour(card, cards.chargeDeclined);
    shop.passTime(30 * dayMs + 60_000);
    expect(await shop.membership.payUnpaid(user, from)).toMatchObject({ kind: 'declined' });
    shop.stripe.engine.setCardBehaviour(card, cards.visa);
    const tabs = Array.from({ length: 3 }, () => shop.membership.payUnpaid(user, from));
    expect((await Promise.all(tabs)).map(({ kind }) => kind).sort()).toEqual(['no-change', 'no-change', 'paid']);
    expect(await chargedTo(shop, (await standing(user))?.customerId ?? '')).toEqual([9_900, 9_900]);
  });

  it('An attacker cannot charge, change or see what belongs to another member, whatever id is used', async () => {
    const victim = await aBuyer(shop);
    await shop.buy(victim.user, 'm-99');
    const eve = await aBuyer(shop, null);
    const before = await standing(victim.user);
    const begun = await shop.confirmCard(victim.user, cards.mastercard);
    const charged = await chargedTo(shop, victim.customer);
    const card = before?.card?.paymentMethodId ?? '';
    const invoice = (await stripe.invoices.list({ customer: victim.customer, limit: 1 })).data[0]?.id ?? '';
    const body = { ...starter, plan_name: 'm-499', plan_amount: '499', amount: '400.00' };
    const tries: [string, 'GET' | 'POST' | 'PUT', string, unknown?][] = [
      ['customer', 'GET', `/customer/${victim.customer}`],
      ['upgrade', 'POST', victim.path, body],
      ['mixed', 'POST', `/customer/${eve.customer}/subscription/${victim.subscription}`, body],
      ['mixed again', 'POST', `/customer/${victim.customer}/subscription/${eve.subscription}`, body],
      ['card', 'POST', `/customer/${victim.customer}/paymenttypes`, { source: begun }],
      ['card to oneself', 'POST', `/customer/${eve.customer}/paymenttypes`, { source: begun }],
      ['code', 'PUT', `/customer/signup/${victim.subscription}`, { coupon: 'HALF' }],
      ['order', 'POST', '/user/orderCreation', { invoiceId: invoice, userId: victim.user.id }],
      ['created', 'POST', '/customer/', [{ email: victim.user.email }]],
    ];
    for (const [what, method, path, sent] of tries) {
      const { status, body: answer } = await eve.call(method, path, sent);
      expect([what, [404, 409].includes(status)]).toEqual([what, true]);
      for (const secret of [victim.user.email, card, '4242', victim.subscription])
        if (what !== 'created') expect(JSON.stringify(answer)).not.toContain(secret);
    }
    expect(await shop.membership.makeDefault(eve.user, card)).toEqual({ kind: 'not-confirmed' });
    expect((await standing(eve.user))?.card ?? null).toBeNull();
    expect(await standing(victim.user)).toEqual(before);
    expect(await chargedTo(shop, victim.customer)).toEqual(charged);
  });

  it('The conflict for a foreign e-mail address does not reveal whether the address belongs to a member', async () => {
    const [victim, eve] = [await aBuyer(shop, null), await aBuyer(shop, null)];
    const answer = async (email: string) => {
      const { status, body } = await eve.call('POST', '/customer/', [{ email }]);
      const { instance: _, ...rest } = body;
      return [status, JSON.stringify(rest).replaceAll(email, 'EMAIL')];
    };
    expect(await answer(victim.user.email)).toEqual(await answer('unknown.at.all@example.com'));
  });

  it('An attacker who tests cards is stopped by the same count on every route', async () => {
    const { user, call, customer } = await aBuyer(shop, null);
    const browser = await shop.foyer.signedIn(user);
    const statuses: number[] = [];
    for (let tries = 0; tries < 2; tries += 1) {
      statuses.push((await browser.postJson('/plan-purchase/10/addPayment/setup', {})).status);
      statuses.push((await browser.postJson('/settings/membership/card/setup', {})).status);
      statuses.push(
        (await call('POST', `/customer/${customer}/paymenttypes`, { source: 'tok_chargeDeclined' })).status,
      );
    }
    expect(statuses.some((status) => status === 429)).toBe(false);
    expect((await browser.postJson('/plan-purchase/10/addPayment/setup', {})).status).toBe(429);
    expect((await browser.postJson('/settings/membership/card/setup', {})).status).toBe(429);
    const refused = await call('POST', `/customer/${customer}/paymenttypes`, { source: 'tok_visa' });
    expect(refused.status).toBe(429);
    expect((await standing(user))?.card ?? null).toBeNull();
  });

  it('Charges of a declined card are counted, and none is attempted beyond the limit', async () => {
    const user = await shop.foyer.addUser();
    const intent = await shop.confirmCard(user, cards.chargeDeclined);
    const kinds: string[] = [];
    for (let tries = 0; tries < 8; tries += 1) {
      // Sending the same card again is not a new entry of a card.
      expect(await shop.membership.keepCard(user, intent)).toMatchObject({ kind: 'saved' });
      kinds.push((await shop.buy(user, 'm-99')).kind);
    }
    // Entering and charging a card is one attempt; each later charge is another.
    expect(kinds).toEqual([...Array(6).fill('declined'), 'too-many', 'too-many']);
  });

  it('Adding and charging a card counts as one of the six attempts', async () => {
    const user = await shop.foyer.addUser();
    for (let tries = 0; tries < 6; tries += 1) {
      await shop.saveCard(user, cards.chargeDeclined);
      expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'declined' });
    }
    expect(await shop.membership.beginCard(user, from)).toMatchObject({ kind: 'too-many' });
  });

  it('A setup intent is canceled at the limit when an attacker confirms card after card directly at Stripe', async () => {
    const user = await shop.foyer.addUser();
    const begun = await shop.membership.beginCard(user, from);
    if (begun.kind !== 'begun') throw new Error(begun.kind);
    const { clientSecret: client_secret, setupIntentId } = begun;
    const { webhooks, engine } = shop.stripe;
    shop.stripe.tell(shop.foyer.url);
    const card = { number: cards.declined, exp_month: 12, exp_year: 2040, cvc: '123' };
    const said: unknown[] = [];
    for (let tries = 0; tries < 8; tries += 1) {
      try {
        const confirm = { client_secret, payment_method_data: { type: 'card', card } };
        engine.call({
          method: 'POST',
          path: `/v1/setup_intents/${setupIntentId}/confirm`,
          params: confirm,
          as: 'publishable',
        });
      } catch (error) {
        said.push((error as { code?: unknown }).code);
      }
      await webhooks.idle();
    }
    // The seventh attempt is the last one: the set-up is cancelled, and nothing is left to confirm.
    expect(said).toEqual([...Array(7).fill('card_declined'), 'setup_intent_unexpected_state']);
    expect(await stripe.setupIntents.retrieve(setupIntentId)).toMatchObject({ status: 'canceled' });
    expect(await shop.membership.beginCard(user, from)).toMatchObject({ kind: 'too-many' });
  });

  it('A client app with read scopes cannot pay, and an unauthenticated caller can do nothing', async () => {
    const { user, customer, path } = await aBuyer(shop);
    const reader = await asClient(shop, 'users:read', 'plans:read');
    const stranger = shop.foyer.browser();
    for (const [method, target, sent] of [
      ['POST', path, starter],
      ['POST', `/customer/${customer}/paymenttypes`, { source: 'tok_visa' }],
    ] as const) {
      expect((await reader(method, target, sent)).status).toBe(403);
      expect((await stranger.postJson(target, sent)).status).toBe(401);
    }
    expect([await chargedTo(shop, customer), (await shop.userNow(user)).planId]).toEqual([[], null]);
  });

  it('A cross-site post pays for nothing and chooses no plan', async () => {
    const { user, customer } = await aBuyer(shop);
    const browser = await shop.foyer.signedIn(user);
    const forms: [string, Record<string, string>][] = [
      ['/plan-purchase/10', { act: '', planId: '10', dueCents: '9900', laterCents: '9900' }],
      ['/plan-purchase/1', { act: 'free', planId: '1' }],
      ['/plan-purchase', { act: 'choose', planId: '12' }],
      ['/plan-purchase/10/addPayment', { act: '', planId: '10', dueCents: '9900', laterCents: '9900' }],
      ['/signup/verifiedCode', { act: '', planId: '10', dueCents: '9900', laterCents: '9900' }],
      ['/post-signup/plan', { act: '', planId: '10', dueCents: '9900', laterCents: '9900' }],
      ['/plan-purchase-appsumo/', { planId: '101' }],
    ];
    for (const [path, form] of forms)
      expect([path, (await browser.post(path, form, foreign)).status]).toEqual([path, 403]);
    expect(await shop.membership.purchase(user.id)).toBeUndefined();
    expect(await chargedTo(shop, customer)).toEqual([]);
  });

  it('A payment never redirects the member to another site', async () => {
    const user = await member();
    const browser = await shop.foyer.signedIn(user);
    const address = `/plan-purchase/10?${new URLSearchParams({ redirect: 'https://evil.example/', authorization: 'https://evil.example' })}`;
    const paid = await browser.post(address, { act: '', planId: '10', dueCents: '9900', laterCents: '9900' });
    expect(paid.status).toBe(303);
    const done = paid.headers.get('location') ?? '';
    expect(new URL(done, shop.foyer.url).origin).toBe(new URL(shop.foyer.url).origin);
    expect(await (await browser.get(done)).text()).not.toMatch(/(?:href|url)="?[^">]*evil\.example/);
  });

  it.each(['-9900', '9900.0', '1e3', '', '0', '99', '9900 ', '٩٩٠٠', '9900,9900'])(
    'A page that states %j as the amount due charges nothing',
    async (dueCents) => {
      const { user, customer } = await aBuyer(shop);
      const browser = await shop.foyer.signedIn(user);
      const answer = await browser.post('/plan-purchase/10', { act: '', planId: '10', dueCents });
      expect([answer.status, await chargedTo(shop, customer)]).toEqual([409, []]);
      expect((await shop.userNow(user)).planId).toBeNull();
    },
  );

  it('No log line contains a card, a payment secret or a key, whatever goes wrong', async () => {
    const user = await member(cards.authenticatesAlways);
    const browser = await shop.foyer.signedIn(user);
    shop.stripe.fault('error', (method, path) => method === 'POST' && path.startsWith('/v1/setup_intents'));
    expect((await browser.postJson('/plan-purchase/10/addPayment/setup', {})).status).toBe(503);
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'action' });
    shop.stripe.fault('error', (_method, path) => path.startsWith('/v1/invoices'));
    expect((await browser.post('/plan-purchase/10/addPayment', { act: 'outcome' })).status).toBe(503);
    expect(shop.foyer.logged()).toContain('Stripe does not answer');
    expect(shop.foyer.logged()).not.toMatch(/_secret_\w|sk_test_\w|40000027600031|"cvc"|"?postal_code/);
  });
});

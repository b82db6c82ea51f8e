import type { User } from '../../server/users/index.ts';
import { anyBackend } from '../support/stores.ts';
import { aBuyer, asClient, asMember, type Buyer, type Call } from './api-steps.ts';
import { type Shop, startShop } from './steps.ts';

const dayMs = 24 * 60 * 60_000;

// One pair of stores is enough: test/api/matrix.test.ts makes each of these calls on all.
describe('customers and promotion codes in the JSON API', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(anyBackend, { CARD_LIMIT_ADDRESS: '100000' });
    const stripe = shop.stripe.client();
    const promotion = async (code: string, coupon: string, more: object = {}) =>
      stripe.promotionCodes.create({ code, promotion: { type: 'coupon', coupon }, ...more });
    await stripe.coupons.create({ id: 'fifth', percent_off: 20, duration: 'forever' });
    await stripe.coupons.create({ id: 'bare', percent_off: 20, duration: 'forever' });
    await stripe.coupons.create({ id: 'hundred', amount_off: 10_000, currency: 'usd', duration: 'once' });
    await stripe.coupons.create({ id: 'euros', amount_off: 1_000, currency: 'eur', duration: 'once' });
    await promotion('SPRING20', 'fifth');
    await promotion('OVER', 'fifth', { active: false });
    await promotion('BIG100', 'hundred');
  });
  afterAll(() => shop?.close());

  const payload = (user: { email: string }, more: object = {}) => [
    {
      first_name: 'Ada',
      last_name: 'Lovelace',
      email: user.email,
      company: '',
      position: '',
      phone: '',
      zip: '10115',
      country: 'DE',
      plan_name: 'Basic-Plan-M',
      currency: 'usd',
      quantity: 1,
      trial_end: 7,
      interval: 'month',
      ...more,
    },
  ];
  const countCustomers = async (email: string) =>
    (await shop.stripe.client().customers.list({ email, limit: 100 })).data.length;

  describe('POST /customer/', () => {
    let user: User;
    let call: Call;
    beforeEach(async () => {
      user = await shop.foyer.addUser();
      call = await asMember(shop, user);
    });

    it('POST /customer/ creates the customer and the subscription with a 7-day trial once, however often it is called', async () => {
      const answers = await Promise.all([1, 2, 3].map(() => call('POST', '/customer/', payload(user))));
      const again = await call('POST', '/customer', payload(user));
      for (const answer of [...answers, again]) {
        expect(answer).toMatchObject({
          status: 200,
          body: {
            customer_id: expect.stringMatching(/^cus_/),
            subscription: [
              { subscription_id: expect.stringMatching(/^sub_/), status: 'trialing', plan_name: 'Basic-Plan-M' },
            ],
          },
        });
        expect(answer.body).toEqual(again.body);
      }
      const [{ trial_end: trialEnd }] = again.body.subscription as [{ trial_end: number }];
      expect(Math.round((trialEnd - shop.foyer.deps.now()) / dayMs)).toBe(7);
      expect(await countCustomers(user.email)).toBe(1);
      expect(await call('GET', `/customer/${again.body.customer_id}`)).toEqual({ status: 200, body: again.body });
    });

    it.each<[string, object, string, string]>([
      ['a paid plan', { plan_name: 'm-99' }, 'plan_name', 'Basic-Plan-M'],
      ['another currency', { currency: 'eur' }, 'currency', 'usd'],
      ['a hundred of them', { quantity: 100 }, 'quantity', '1'],
      ['a year', { interval: 'year' }, 'interval', 'month'],
      ['a longer trial', { trial_end: 30 }, 'trial_end', '7'],
      ['a trial of a year, as text', { trial_end: '365' }, 'trial_end', '7'],
    ])('POST /customer/ with %s gets 409 and creates nothing at Stripe', async (_what, more, name, is) => {
      const answer = await call('POST', '/customer/', payload(user, more));
      expect(answer).toMatchObject({ status: 409, body: { errors: [{ name: `body.0.${name}`, detail: `is ${is}` }] } });
      expect(await countCustomers(user.email)).toBe(0);
    });

    it('POST /customer/ compares words without case, takes numbers as text, and the end of the trial as days or as a time', async () => {
      const words = { currency: 'USD', interval: 'MONTH', quantity: '1', company: null, phone: null, zip: null };
      const begun = await call('POST', '/customer/', payload(user, words));
      expect(begun.status).toBe(200);
      const [{ trial_end: trialEnd }] = begun.body.subscription as [{ trial_end: number }];
      for (const trial_end of [null, 7, '7', trialEnd, Math.floor(trialEnd / 1000), String(trialEnd)]) {
        const again = await call('POST', '/customer/', payload(user, { trial_end }));
        expect([trial_end, again]).toEqual([trial_end, begun]);
      }
    });

    it('POST /customer/ accepts the end of a trial that begins now, and refuses one that is a week longer', async () => {
      const end = shop.foyer.deps.now() + 7 * dayMs;
      const later = payload(user, { trial_end: Math.floor((end + 7 * dayMs) / 1000) });
      expect(await call('POST', '/customer/', later)).toMatchObject({
        status: 409,
        body: { errors: [{ name: 'body.0.trial_end' }] },
      });
      expect(await countCustomers(user.email)).toBe(0);
      expect(await call('POST', '/customer/', payload(user, { trial_end: Math.floor(end / 1000) }))).toMatchObject({
        status: 200,
      });
    });

    it('POST /customer/ for another member’s address gets 409 and creates no customer', async () => {
      const other = await shop.foyer.addUser();
      expect(await call('POST', '/customer/', payload(other))).toMatchObject({ status: 409 });
      expect(await countCustomers(other.email)).toBe(0);
      expect(await call('POST', '/customer/', [...payload(user), ...payload(other)])).toMatchObject({ status: 400 });
    });

    it('POST /customer/ by a client names the user by the address, and unknown, unconfirmed or disabled users get 404', async () => {
      const client = await asClient(shop, 'payments:write');
      expect(await client('POST', '/customer/', payload(user))).toMatchObject({ status: 200 });
      const unconfirmed = await shop.foyer.addUser({ emailVerified: false });
      for (const email of ['unknown@example.com', 'no address', unconfirmed.email]) {
        expect(await client('POST', '/customer/', payload({ email }))).toMatchObject({ status: 404 });
      }
      expect(await (await asClient(shop, 'users:read'))('POST', '/customer/', payload(user))).toMatchObject({
        status: 403,
      });
    });

    it('POST /customer/ while Stripe is away answers in the words of the specification and works afterwards', async () => {
      shop.stripe.fault('unreachable', (_method, path) => path === '/v1/customers');
      expect(await call('POST', '/customer/', payload(user))).toMatchObject({
        status: 503,
        body: { detail: 'stripe customer creation error !' },
      });
      expect(await call('POST', '/customer/', payload(user))).toMatchObject({ status: 200 });
      expect(await countCustomers(user.email)).toBe(1);
    });
  });

  describe('GET /customer/{id}', () => {
    it('GET /customer/{id} of another member is answered like an unknown one', async () => {
      const [own, other] = [await aBuyer(shop, null), await aBuyer(shop, null)];
      const [foreign, unknown] = [
        await own.call('GET', `/customer/${other.customer}`),
        await own.call('GET', '/customer/cus_none'),
      ];
      for (const answer of [foreign, unknown]) {
        expect(answer).toMatchObject({ status: 404, body: { detail: 'Subscription retrieval failed!' } });
      }
      const { instance: _one, ...told } = foreign.body;
      expect(unknown.body).toMatchObject(told);
    });

    it('GET /customer/{id} by a client needs users:read', async () => {
      const { customer, subscription } = await aBuyer(shop, null);
      const path = `/customer/${customer}`;
      expect(await (await asClient(shop, 'users:read'))('GET', path)).toMatchObject({
        status: 200,
        body: { subscription: [{ subscription_id: subscription }] },
      });
      expect(await (await asClient(shop, 'plans:read'))('GET', path)).toMatchObject({ status: 403 });
    });

    it('GET /customer/{id} of a member without a customer gets 404', async () => {
      const call = await asMember(shop, await shop.foyer.addUser());
      expect(await call('GET', '/customer/null')).toMatchObject({ status: 404 });
    });
  });

  describe('GET /customer/coupons/{code}', () => {
    let looking: Buyer;
    beforeAll(async () => {
      looking = await aBuyer(shop, null);
    });

    it.each([
      ['SPRING20', { id: 'SPRING20', percent_off: 20, percent_off_precise: 20, amount_off: null }],
      // Stripe does not mind the case.
      ['spring20', { id: 'SPRING20', percent_off: 20, percent_off_precise: 20, amount_off: null }],
      ['BIG100', { id: 'BIG100', percent_off: null, percent_off_precise: null, amount_off: 10_000 }],
      ['bare', { id: 'bare', percent_off: 20, percent_off_precise: 20, amount_off: null }],
    ])('GET /customer/coupons/%s returns the discount', async (code, data) => {
      const { call } = looking;
      expect(await call('GET', `/customer/coupons/${code}`)).toEqual({ status: 200, body: { ...data, data } });
    });

    it.each(['NONE', 'OVER', 'euros', 'fifth', '..%2Fcustomers', '%F0%9F%8E%81'])(
      'GET /customer/coupons/%s gets 404',
      async (code) => {
        const { call } = looking;
        expect(await call('GET', `/customer/coupons/${code}`)).toMatchObject({
          status: 404,
          body: { detail: 'Enter valid promo code' },
        });
      },
    );

    it('GET /customer/coupons/{code} hides a code that is for another customer', async () => {
      const [own, other] = [await aBuyer(shop, null), await aBuyer(shop, null)];
      await shop.stripe.client().promotionCodes.create({
        code: `FOR${own.user.id.slice(-6)}`,
        customer: own.customer,
        promotion: { type: 'coupon', coupon: 'fifth' },
      });
      const path = `/customer/coupons/FOR${own.user.id.slice(-6)}`;
      expect(await own.call('GET', path)).toMatchObject({ status: 200 });
      expect(await other.call('GET', path)).toMatchObject({ status: 404 });
      expect(await (await asClient(shop, 'plans:read'))('GET', path)).toMatchObject({ status: 404 });
    });

    it('GET /customer/coupons/{code} limits the guesses of codes', async () => {
      const { call } = await aBuyer(shop, null);
      const tries = await Promise.all(
        Array.from({ length: 25 }, (_, at) => call('GET', `/customer/coupons/WORD${at}`)),
      );
      expect(tries.filter(({ status }) => status === 429)).toHaveLength(5);
    });
  });

  describe('PUT /customer/signup/{subscription}', () => {
    it('PUT /customer/signup/{subscription} applies a code to the purchase once', async () => {
      const { call, subscription } = await aBuyer(shop, null);
      const path = `/customer/signup/${subscription}`;
      expect(await call('PUT', path, { coupon: 'spring20', planId: '10' })).toEqual({
        status: 200,
        body: {
          subscription_id: subscription,
          planId: '10',
          coupon: 'SPRING20',
          currency: 'usd',
          amount: '79.20',
          usedCredits: '0.00',
          amount_owed: '0.00',
          next_charge: {
            at: expect.any(Number),
            amount: '79.20',
            amount_owed: '0.00',
            credit_used: '0.00',
            tax: '0.00',
            discount_ends_at: null,
            regular_amount: '99.00',
          },
        },
      });
      expect(await call('PUT', path, { coupon: 'BIG100' })).toMatchObject({
        status: 409,
        body: { detail: 'Cannot apply more than one coupon code' },
      });
    });

    it('PUT /customer/signup/{subscription} answers the same when it is repeated, also twice at once', async () => {
      const { call, subscription } = await aBuyer(shop, null);
      const path = `/customer/signup/${subscription}`;
      const sent = { coupon: 'spring20', planId: '10' };
      // The first period begins with the purchase, so the next charge moves on with the time of asking.
      const ask = async (body: object) =>
        JSON.stringify(await call('PUT', path, body)).replace(/"at":\d{13}/, '"at":0');
      const [one, other] = await Promise.all([ask(sent), ask({ ...sent, planId: 10 })]);
      expect(JSON.parse(one)).toMatchObject({ status: 200, body: { coupon: 'SPRING20', amount: '79.20' } });
      expect([other, await ask({ coupon: ' SPRING20 ' })]).toEqual([one, one]);
    });

    it.each([
      ['NONE', 404, 'Enter valid promo code'],
      ['OVER', 404, 'Enter valid promo code'],
      ['BIG100', 409, 'Minimum order amount should be greater than $100'],
    ])('PUT /customer/signup/{subscription} with %s gets %i', async (coupon, status, detail) => {
      const { call, subscription } = await aBuyer(shop, null);
      expect(await call('PUT', `/customer/signup/${subscription}`, { coupon })).toMatchObject({
        status,
        body: { detail },
      });
    });

    it('PUT /customer/signup/{subscription} does not stack two codes that are sent at once', async () => {
      const { call, subscription, user } = await aBuyer(shop, null);
      await shop.membership.choose(user, shop.plan('m-499'));
      const answers = await Promise.all(
        ['SPRING20', 'BIG100', 'bare'].map((coupon) => call('PUT', `/customer/signup/${subscription}`, { coupon })),
      );
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
    });

    it('PUT /customer/signup/{subscription} gets 404 for another member’s subscription or a plan that is not sold', async () => {
      const [own, other] = [await aBuyer(shop, null), await aBuyer(shop, null)];
      expect(await own.call('PUT', `/customer/signup/${other.subscription}`, { coupon: 'SPRING20' })).toMatchObject({
        status: 404,
        body: { detail: 'Subscription retrieval failed!' },
      });
      expect(await shop.membership.purchase(other.user.id)).toBeUndefined();
      for (const planId of ['1', '101', '99']) {
        const said = { coupon: 'SPRING20', planId };
        expect(await own.call('PUT', `/customer/signup/${own.subscription}`, said)).toMatchObject({ status: 404 });
      }
    });
  });
});

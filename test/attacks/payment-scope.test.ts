import { insertUserRecord, type User } from '../../server/users/index.ts';
import { makePromotionCode, promotionCode } from '../api/examples.ts';
import { aBuyer, type Buyer, chargedTo, starter } from '../billing/api-steps.ts';
import { type Shop, startShop } from '../billing/steps.ts';
import { relyingParty, tokensFor } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';

describe.each(backends)('purchases by a client app with the scope account, on $name', (backend) => {
  let shop: Shop;
  /** The requests of Foyer to Stripe with its secret key. */
  const asked: string[] = [];
  beforeAll(async () => {
    shop = await startShop(backend, { CARD_LIMIT_ADDRESS: '100000' });
    shop.stripe.observe(({ as, method, path }) => {
      if (as !== 'publishable') asked.push(`${method} ${path}`);
    });
    await makePromotionCode(shop);
  });
  afterAll(() => shop?.close());

  const tokenOf = async (user: User, scope: string, thirdParty = false) => {
    const client = await shop.foyer.addClient({ thirdParty, scopes: scope.split(' ') });
    const app = await relyingParty(shop.foyer, client, scope);
    return (await tokensFor(app, shop.foyer.browser(), user)).access_token;
  };
  const call = (token: string, [method, path, body]: [string, string, object]) =>
    sendRequest(shop.foyer.url + path, {
      method,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    });
  /** The five calls that charge the card or change the plan. */
  const charging = (buyer: Buyer, recordId: string, source: string): [string, string, object][] => [
    ['POST', buyer.path, starter],
    ['POST', `/customer/${buyer.customer}/paymenttypes/`, { source }],
    ['PUT', `/customer/signup/${buyer.subscription}`, { coupon: promotionCode, planId: '10' }],
    ['POST', '/user/orderCreation', { invoiceId: 'in_unknown' }],
    ['POST', '/user/updateUser', { id: recordId, planId: '1' }],
  ];
  /** Every row of the buyer and every request to Stripe. */
  const state = async ({ user }: Buyer) => {
    const { db } = shop.foyer.deps.database;
    return [
      await db.selectFrom('users').selectAll().where('id', '=', user.id).execute(),
      await db.selectFrom('memberships').selectAll().where('userId', '=', user.id).execute(),
      await db.selectFrom('orders').selectAll().where('userId', '=', user.id).execute(),
      asked.length,
    ];
  };

  it.each([
    ['third-party app with consent', true],
    ['app of the marketplace', false],
  ])(
    'A %s gets 403 at each of the five calls, Stripe gets no request and no row changes',
    async (_name, thirdParty) => {
      const buyer = await aBuyer(shop);
      const { database, now } = shop.foyer.deps;
      const record = await database.transaction((trx) => insertUserRecord(trx, buyer.user.id, now()));
      const token = await tokenOf(buyer.user, 'openid account', thirdParty);
      const source = await shop.confirmCard(buyer.user);
      const before = await state(buyer);
      for (const one of charging(buyer, record.id, source)) {
        const answer = await call(token, one);
        expect([one[1], answer.status, answer.headers.get('www-authenticate')]).toEqual([
          one[1],
          403,
          'Bearer realm="api", error="insufficient_scope", scope="account:payments"',
        ]);
      }
      expect(await state(buyer)).toEqual(before);
      expect(await chargedTo(shop, buyer.customer)).toEqual([]);
    },
  );

  it('A marketplace app with account:payments buys, and replaces the card only after a recent sign-in', async () => {
    const buyer = await aBuyer(shop);
    const token = await tokenOf(buyer.user, 'openid account:payments');
    expect((await call(token, ['POST', buyer.path, starter])).status).toBe(200);
    expect(await chargedTo(shop, buyer.customer)).toEqual([9_900]);
    const source = await shop.confirmCard(buyer.user);
    const replace = () => call(token, ['POST', `/customer/${buyer.customer}/paymenttypes/`, { source }]);
    shop.foyer.passTime(11 * 60_000);
    const late = await replace();
    expect([late.status, late.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringMatching(/error="insufficient_user_authentication".*max_age=600$/),
    ]);
    const fresh = await tokenOf(buyer.user, 'openid account:payments');
    const answer = await call(fresh, ['POST', `/customer/${buyer.customer}/paymenttypes/`, { source }]);
    expect(answer.status).toBe(200);
  });

  it('A user’s old session does not replace the card without a recent sign-in', async () => {
    const buyer = await aBuyer(shop);
    const source = await shop.confirmCard(buyer.user);
    shop.foyer.passTime(11 * 60_000);
    const late = await buyer.call('POST', `/customer/${buyer.customer}/paymenttypes/`, { source });
    expect(late.status).toBe(401);
  });
});

import { insertUserRecord, type User } from '../../server/users/index.ts';
import { anyBackend } from '../support/stores.ts';
import { aBuyer, chargedTo } from './api-steps.ts';
import { type Shop, startShop } from './steps.ts';

// One pair of stores is enough: test/api/matrix.test.ts makes each of these calls on all.
describe('plans in the JSON API', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(anyBackend, { CARD_LIMIT_ADDRESS: '100000' });
  });
  afterAll(() => shop?.close());

  describe('plans', () => {
    const items = (body: unknown) => (body as { data: { Items: Record<string, unknown>[] } }).data.Items;
    const ask = async (path: string, body: object) => {
      const answer = await shop.foyer.browser().postJson(path, body);
      return { status: answer.status, items: items(await answer.json()) };
    };

    it('The list of plans is public, the cheapest first, without the partner’s plans', async () => {
      const { items: plans } = await ask('/user/listPlans', { tableName: 'plans' });
      expect(plans.map(({ id, planAmount }) => [id, planAmount])).toEqual([
        ['1', 0],
        ['2', 0],
        ['10', 99],
        ['12', 499],
        ['14', 899],
        ['11', 900],
        ['13', 5000],
        ['15', 8000],
      ]);
    });

    it('A plan is found by handle and by id', async () => {
      const growth = {
        id: '12',
        code: 'm-499',
        planName: 'Growth',
        planType: '1',
        planAmount: 499,
        planHash: 'growth-monthly',
      };
      expect((await ask('/user/listplanWithHash', { planHash: 'growth-monthly' })).items).toEqual([growth]);
      expect((await ask('/user/listplanWithId', { planId: '12' })).items).toEqual([growth]);
      expect((await ask('/user/listplanWithHash', { planHash: 'hollyfy_tier1' })).items).toMatchObject([
        { id: '101', planType: null },
      ]);
      for (const none of ['', '__proto__', 'Basic-Plan-M']) {
        expect(await ask('/user/listplanWithHash', { planHash: none })).toEqual({ status: 200, items: [] });
        expect(await ask('/user/listplanWithId', { planId: none })).toEqual({ status: 200, items: [] });
      }
    });
  });

  describe('POST /user/updateUser', () => {
    const recordOf = (user: User) =>
      shop.foyer.deps.database.transaction((trx) => insertUserRecord(trx, user.id, shop.foyer.deps.now()));

    it('POST /user/updateUser to a paid or a partner’s plan without a payment gets 409 and gives nothing', async () => {
      const { user, call, customer } = await aBuyer(shop);
      const { id } = await recordOf(user);
      for (const planId of ['10', '15', '101', '99', '']) {
        expect(await call('POST', '/user/updateUser', { id, planId })).toMatchObject({
          status: 409,
          body: { errors: [{ name: 'body.planId' }] },
        });
        expect(await shop.userNow(user)).toMatchObject({ planId: null });
      }
      expect(await chargedTo(shop, customer)).toEqual([]);
    });

    it('POST /user/updateUser to a free plan works, also twice, and takes nothing from a paying member until the period ends', async () => {
      const { user, call } = await aBuyer(shop);
      const { id } = await recordOf(user);
      for (const _time of [1, 2]) {
        expect(await call('POST', '/user/updateUser', { id, planId: '1' })).toMatchObject({
          status: 200,
          body: { data: { planId: '1' } },
        });
      }
      expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'paid' });
      expect(await call('POST', '/user/updateUser', { id, planId: '2' })).toMatchObject({
        status: 200,
        body: { data: { planId: '10' } },
      });
      expect(await shop.membership.getMembership(user.id)).toMatchObject({ cancelAtPeriodEnd: true, basePlanId: '2' });
    });

    it('POST /user/updateUser confirms the stored plan, and no plan or another source gets 409 and changes nothing', async () => {
      const { user, call } = await aBuyer(shop);
      const { id } = await recordOf(user);
      await shop.buy(user, 'm-99');
      expect(await call('POST', '/user/updateUser', { id, planId: '10', source: 'general' })).toMatchObject({
        status: 200,
        body: { data: { planId: '10' } },
      });
      expect(await call('POST', '/user/updateUser', { id, planId: null })).toMatchObject({ status: 409 });
      expect(await call('POST', '/user/updateUser', { id, planId: '1', source: 'appsumo' })).toMatchObject({
        status: 409,
      });
      expect(await shop.membership.getMembership(user.id)).toMatchObject({
        cancelAtPeriodEnd: false,
        basePlanId: null,
      });
    });

    it('POST /user/updateUser of another member gets 404, whatever the plan', async () => {
      const [own, other] = [await aBuyer(shop, null), await aBuyer(shop, null)];
      const { id } = await recordOf(other.user);
      expect(await own.call('POST', '/user/updateUser', { id, planId: '1' })).toMatchObject({ status: 404 });
      expect(await shop.userNow(other.user)).toMatchObject({ planId: null });
    });
  });
});

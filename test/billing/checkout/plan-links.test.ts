import { importPartnerDeals } from '../../../server/users/index.ts';
import { toPlanId } from '../../support/ids.ts';
import { pathOf } from './plan-step.ts';
import { openShop, type Shop, wordsOf } from './shop.ts';

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop?.close());

const go = async (planId: string, path: string) => {
  const browser = await shop.foyer.signedIn(await shop.foyer.addUser({ planId: toPlanId(planId) }));
  return { browser, to: pathOf(shop, await browser.get(path)) };
};

describe('a link to a plan that a member opens', () => {
  it.each([
    ['a free plan', '1'],
    ['a paid plan', '10'],
  ])('A member with %s comes to the page on which they change to the plan of the link', async (_what, planId) => {
    expect((await go(planId, '/signup/plan/growth-yearly')).to).toBe('/plan-purchase/13');
    // The request of a client app is kept.
    expect((await go(planId, '/signup/plan/scale-monthly?redirect=/tos&client_id=web')).to).toBe(
      '/plan-purchase/14?client_id=web&redirect=%2Ftos',
    );
  });

  it('A link to the own plan says that the member has it', async () => {
    const { browser, to } = await go('1', '/signup/plan/free-monthly');
    expect(to).toBe('/plan-purchase/1');
    const words = wordsOf(await (await browser.get(to)).text());
    expect(words).toContain('You already have this plan.');
    // The trial is over for a member with a plan.
    expect(words).not.toContain('trial');
  });

  it('A partner’s link leads to the waiting deal, and without one to a sentence and the plans', async () => {
    const { browser, to } = await go('1', '/signup/plan/hollyfy_tier2');
    expect(to).toBe('/plan-purchase-appsumo/?plan=102');
    const words = wordsOf(await (await browser.get(to)).text());
    expect(words).toMatch(/No partner deal is waiting for your account\. See our plans/);
    const user = await shop.foyer.addUser({ planId: toPlanId('1') });
    await shop.foyer.stores.database.transaction((trx) =>
      importPartnerDeals(trx, [{ email: user.email, tier: 3 }], Date.now()),
    );
    const buyer = await shop.foyer.signedIn(user);
    const waiting = pathOf(shop, await buyer.get(pathOf(shop, await buyer.get('/signup/plan/hollyfy_tier2'))));
    expect(waiting).toBe('/plan-purchase-appsumo/?plan=103');
  });

  it('A signed-out visitor of the link begins a sign-up, and a link without a plan leads a member on as before', async () => {
    expect((await shop.foyer.browser().get('/signup/plan/growth-yearly')).status).toBe(200);
    expect((await go('1', '/signup')).to).toBe('/sandbox/search');
  });
});

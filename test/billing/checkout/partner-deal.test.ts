import { findUserByIdentifier, importPartnerDeals, type PartnerTier, type User } from '../../../server/users/index.ts';
import { codeFor, newAddress, profile } from '../../sign-up/steps.ts';
import { locationOf } from '../../support/browser.ts';
import { password } from '../../support/foyer.ts';
import { toNormalisedEmail, toPlanId } from '../../support/ids.ts';
import { mainForm, openShop, press, type Shop, wordsOf } from './shop.ts';

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});
afterAll(() => shop?.close());

const pathOf = (answer: Response) => locationOf(answer).slice(shop.foyer.url.length);

const sell = (email: string, tier: PartnerTier) =>
  shop.foyer.stores.database.transaction((trx) =>
    importPartnerDeals(trx, [{ email: toNormalisedEmail(email), tier }], Date.now()),
  );

/** The operator has noted that a member has bought from the partner. */
async function offered(planId: string | null, tier: PartnerTier): Promise<User> {
  const user = await shop.foyer.addUser({
    source: 'appsumo_update',
    planId: planId === null ? null : toPlanId(planId),
  });
  await sell(user.email, tier);
  await shop.foyer.stores.database.transaction((trx) =>
    trx
      .updateTable('users')
      .set({ offeredPlanId: toPlanId(`10${tier}`) })
      .where('id', '=', user.id)
      .execute(),
  );
  return user;
}

describe('the partner’s deal', () => {
  it('A sign-up from the partner ends with the tier that was bought, without a card and without a call to Stripe', async () => {
    const { foyer } = shop;
    const [browser, email] = [foyer.browser(), newAddress()];
    await sell(email, 2);
    const calls: string[] = [];
    shop.standIn.observe(({ method, path }) => calls.push(`${method} ${path}`));
    await browser.post('/signup/plan/hollyfy_tier2', profile(email, { from: 'appsumo' }));
    const code = await codeFor(foyer, email);
    const step = pathOf(await browser.post('/signup/plan/hollyfy_tier2/emailCaptured', { code }));
    expect(step).toBe('/signup/plan/hollyfy_tier2/verifiedCode');
    const html = await (await browser.get(step)).text();
    expect(wordsOf(html)).toContain('It’s paid for, for life. You don’t need a card.');
    expect(html).toMatch(/<button[^>]*>Confirm<\/button>/);
    for (const words of ['Change plan', 'Promo code', 'Due today']) expect(wordsOf(html)).not.toContain(words);
    for (const other of ['changePlan', 'addPayment']) {
      expect(pathOf(await browser.get(`/signup/plan/hollyfy_tier2/${other}`))).toBe(step);
    }
    expect(pathOf(await press(browser, step))).toBe('/signup/completed/plan/hollyfy_tier2/Appsumo-Tier-2');
    const user = await findUserByIdentifier(foyer.stores.database.db, { email });
    expect([user?.planId, user?.source]).toEqual(['102', 'appsumo']);
    expect(calls).toEqual([]);
  });

  it('A higher tier than was bought cannot be had by address or form', async () => {
    const { foyer } = shop;
    const [browser, email] = [foyer.browser(), newAddress()];
    await sell(email, 1);
    await browser.post('/signup/plan/hollyfy_tier3', profile(email, { from: 'appsumo' }));
    await browser.post('/signup/plan/hollyfy_tier3/emailCaptured', { code: await codeFor(foyer, email) });
    await press(browser, '/signup/plan/hollyfy_tier3/verifiedCode', { planId: '103' });
    expect((await findUserByIdentifier(foyer.stores.database.db, { email }))?.planId).toBe('101');
  });

  it('A user who left the deal page gets the deal again at the next sign-in', async () => {
    const { foyer } = shop;
    const [browser, email] = [foyer.browser(), newAddress()];
    await sell(email, 3);
    await browser.post('/signup', profile(email, { from: 'appsumo' }));
    await browser.post('/signup/emailCaptured', { code: await codeFor(foyer, email) });
    expect(pathOf(await browser.get('/'))).toBe('/plan-purchase');
    expect(pathOf(await browser.get('/plan-purchase'))).toBe('/plan-purchase-appsumo/?plan=103');
  });

  it('A member who has bought a deal is redirected to it after sign-in and gets it with one Confirm', async () => {
    const user = await offered('1', 2);
    const browser = shop.foyer.browser();
    const signIn = await browser.post('/sign-in', { username: user.email, password });
    expect(pathOf(signIn)).toBe('/plan-purchase-appsumo/?plan=102');
    const html = await (await browser.get('/plan-purchase-appsumo/?plan=102')).text();
    expect(wordsOf(html)).toContain('AppSumo Tier 2 replaces Free today.');
    const confirm = (planId: string) => browser.post('/plan-purchase-appsumo/?plan=102', { planId });
    const answers = [await confirm('102'), await confirm('102')];
    expect(answers.map(pathOf)).toEqual(Array(2).fill('/signup/completed/plan/hollyfy_tier2/Appsumo-Tier-2'));
    expect(await shop.planOf(user)).toBe('102');
    // The deal leads no user there again.
    expect(pathOf(await browser.get('/'))).toBe('/sandbox/search');
    expect(wordsOf(await (await browser.get('/plan-purchase-appsumo/?plan=102')).text())).toContain('No partner deal');
  });

  it('The plan in the address only names the deal that waits and cannot select another', async () => {
    const user = await offered(null, 1);
    const browser = await shop.foyer.signedIn(user);
    for (const path of ['/plan-purchase-appsumo/?plan=103', '/plan-purchase-appsumo/102', '/plan-purchase-appsumo/']) {
      expect([path, pathOf(await browser.get(path))]).toEqual([path, '/plan-purchase-appsumo/?plan=101']);
    }
    expect((await browser.get('/plan-purchase-appsumo/101')).status).toBe(200);
    for (const planId of ['103', '10', '']) {
      const answer = await browser.post('/plan-purchase-appsumo/101', { planId });
      expect([planId, answer.status]).toEqual([planId, 409]);
    }
    expect(await shop.planOf(user)).toBeNull();
    for (const path of [
      '/plan-purchase-appsumo/10',
      '/plan-purchase-appsumo/nothing',
      '/plan-purchase-appsumo/?plan=x',
    ]) {
      expect([path, (await browser.get(path)).status]).toEqual([path, 404]);
    }
  });

  it('A member who bought no deal gets none, and never another member’s deal', async () => {
    const { foyer } = shop;
    const owner = await offered(null, 3);
    const other = await foyer.addUser({ source: 'appsumo' });
    const browser = await foyer.signedIn(other);
    expect(wordsOf(await (await browser.get('/plan-purchase-appsumo/?plan=103')).text())).toContain(
      'No partner deal is waiting for your account. See our plans',
    );
    expect((await browser.post('/plan-purchase-appsumo/?plan=103', { planId: '103' })).status).toBe(409);
    expect([await shop.planOf(other), await shop.planOf(owner)]).toEqual([null, null]);
    const visitor = foyer.browser();
    expect(pathOf(await visitor.post('/plan-purchase-appsumo/103', { planId: '103' }))).toMatch(/^\/\?redirect=/);
  });

  it('A free plan does not replace a plan of the partner', async () => {
    const user = await offered(null, 1);
    const browser = await shop.foyer.signedIn(user);
    await browser.post('/plan-purchase-appsumo/101', { planId: '101' });
    const html = await (await browser.get('/plan-purchase/1')).text();
    expect(wordsOf(html)).toContain('Your partner plan gives you this already.');
    expect(mainForm(html).fields).toEqual({});
    await browser.post('/plan-purchase/1', { act: 'free', planId: '1' });
    expect(await shop.planOf(user)).toBe('101');
  });
});

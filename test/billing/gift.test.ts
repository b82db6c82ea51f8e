import { billingDataSource, membershipClaims } from '../../server/billing/index.ts';
import { addMonths } from '../../server/shared/index.ts';
import { importPartnerDeals, type User } from '../../server/users/index.ts';
import { day, onTrial, page, standing, withPlan } from '../account/membership-steps.ts';
import { codeFor, newAddress, profile } from '../sign-up/steps.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { password } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';
import { wordsOf } from './checkout/shop.ts';
import { giftPath, makeGift, readRefusal, redeem, redeemed, startGiftShop } from './gift-steps.ts';
import { pass } from './pause-steps.ts';
import { dayMs, type Shop, startShop } from './steps.ts';

describe('a gift code', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startGiftShop();
  });
  afterAll(() => shop?.close());

  const now = () => shop.stripe.engine.nowMs();
  const gift = (given: Parameters<typeof makeGift>[2] = {}) => makeGift(shop, now(), given);
  /** The words of the page with which a code is refused for now. */
  const refusal = (browser: Browser, code: string) => readRefusal(browser, code, 409);
  const planOf = async (user: User) => (await shop.userNow(user)).planId;
  const mailsOf = async (user: { email: string }) =>
    (await shop.foyer.mails(user.email)).filter(({ template }) => /^(gift|plan)-/.test(template));
  const entitled = async (user: User) => {
    return membershipClaims(shop.membership.catalogue, now)(await shop.userNow(user)).entitlements;
  };

  it('A member on trial redeems a code, has its plan for its months, and none afterwards', async () => {
    const user = await onTrial(shop);
    const browser = await shop.foyer.signedIn(user);
    expect(await page(browser)).toContain('Redeem a gift code');
    const { code } = await gift({ months: 3 });
    const before = now();
    expect(await redeem(browser, code.toLowerCase().replaceAll('-', ' '))).toBe(redeemed);
    const until = (await standing(shop, user)).giftUntil ?? 0;
    expect(until).toBeGreaterThanOrEqual(addMonths(before, 3));
    expect(until).toBeLessThanOrEqual(addMonths(now(), 3));
    expect(await planOf(user)).toBe('11');
    expect(await entitled(user)).toEqual(expect.arrayContaining([...shop.plan('y-900').entitlements]));
    const shown = await page(browser);
    expect(shown).toContain(`Gift until ${day(until)}`);
    expect(shown).toContain(`Ends on ${day(until)}`);
    expect(shown).toContain('A gift, nothing is charged');
    expect(await mailsOf(user)).toMatchObject([
      { template: 'gift-redeemed', values: { planName: 'Starter', endsAt: until } },
    ]);

    await pass(shop, until - 8 * dayMs);
    expect(await mailsOf(user)).toHaveLength(1);
    await pass(shop, until - 6 * dayMs);
    await pass(shop, until - 5 * dayMs);
    expect((await mailsOf(user)).slice(1)).toMatchObject([{ template: 'gift-ends', values: { endsAt: until } }]);
    expect(await planOf(user)).toBe('11');

    await pass(shop, until + 60_000);
    expect(await planOf(user)).toBeNull();
    expect(await entitled(user)).toEqual([]);
    expect(await standing(shop, user)).toMatchObject({ giftPlanId: null, giftUntil: null, status: 'paused' });
    expect((await mailsOf(user)).slice(2)).toMatchObject([{ template: 'plan-ended', values: { why: 'gift' } }]);
    expect(await page(await shop.foyer.signedIn(user))).toContain('Your trial is over');
    expect(await shop.membership.reconcile()).toMatchObject({ repaired: [], left: [] });
    expect(
      (await shop.stripe.client().invoices.list({ limit: 100 })).data.filter(({ amount_paid: paid }) => paid > 0),
    ).toEqual([]);
  });

  it('A visitor with the link signs in, finds the code filled in, and redeems it', async () => {
    const user = await shop.foyer.addUser();
    const { code } = await gift();
    const browser = shop.foyer.browser();
    const link = `${giftPath}?code=${code}`;
    const asked = locationOf(await browser.get(link));
    expect(new URL(asked).searchParams.get('redirect')).toBe(link);
    const search = new URL(asked).search;
    const back = locationOf(await browser.post(`/sign-in${search}`, { username: user.email, password }));
    expect(back).toBe(shop.foyer.url + link);
    expect(await (await browser.get(link)).text()).toContain(`value="${code}"`);
    expect(await planOf(user)).toBeNull();
    expect(await redeem(browser, code)).toBe(redeemed);
    expect(await planOf(user)).toBe('11');
  });

  it('A visitor with the link signs up, and comes to the code in place of the step PLAN', async () => {
    const { foyer } = shop;
    const [browser, email] = [foyer.browser(), newAddress()];
    const { code } = await gift();
    const link = `${giftPath}?code=${code}`;
    const search = `?${new URLSearchParams({ redirect: link })}`;
    await browser.post(`/signup${search}`, profile(email));
    const step = locationOf(
      await browser.post(`/signup/emailCaptured${search}`, { code: await codeFor(foyer, email) }),
    );
    expect(locationOf(await browser.get(step.slice(foyer.url.length)))).toBe(foyer.url + link);
    expect(await redeem(browser, code)).toBe(redeemed);
  });

  it('The step PLAN of a sign-up leads to the page for codes and from there to the page that the visitor was going to', async () => {
    const { foyer } = shop;
    const [browser, email] = [foyer.browser(), newAddress()];
    const search = `?${new URLSearchParams({ redirect: '/settings/name' })}`;
    await browser.post(`/signup${search}`, profile(email));
    const step = locationOf(
      await browser.post(`/signup/emailCaptured${search}`, { code: await codeFor(foyer, email) }),
    );
    const html = await (await browser.get(step.slice(foyer.url.length))).text();
    expect(wordsOf(html)).toContain('I have a gift code');
    const href = `${giftPath}${search}`;
    expect(html).toContain(`href="${href}"`);
    const done = await redeem(browser, (await gift()).code, search);
    expect(done).toBe(`/signup/completed/y-900${search}`);
    expect(wordsOf(await (await browser.get(done)).text())).toContain('Starter');
  });

  it('A member with a paid plan is refused with what they can do, and the code is not used up', async () => {
    const { user, browser } = await withPlan(shop);
    const { code } = await gift();
    expect(await page(browser)).not.toContain('Redeem a gift code');
    const words = await refusal(browser, code);
    expect(words).toContain('You have a paid plan: Starter.');
    expect(words).toContain('It stays valid until');
    expect(await planOf(user)).toBe('10');
    await shop.membership.cancel(await shop.userNow(user));
    const end = (await standing(shop, user)).periodEnd ?? 0;
    expect(await refusal(browser, code)).toContain(`You have Starter until ${day(end)}.`);
    expect(await redeem(await shop.foyer.signedIn(await shop.foyer.addUser()), code)).toBe(redeemed);
  });

  it('A member with a partner’s plan for life is refused, and the code is not used up', async () => {
    const user = await shop.foyer.addUser();
    await shop.foyer.stores.database.transaction((trx) =>
      importPartnerDeals(trx, [{ email: user.email, tier: 2 }], now()),
    );
    await shop.membership.takeDeal(user);
    const browser = await shop.foyer.signedIn(user);
    const { code } = await gift();
    expect(await refusal(browser, code)).toContain('for life, so we haven’t used the code');
    expect(await redeem(await shop.foyer.signedIn(await shop.foyer.addUser()), code)).toBe(redeemed);
  });

  it('A partner’s deal that is taken during a gift begins after it, and its page says so', async () => {
    const user = await shop.foyer.addUser();
    const browser = await shop.foyer.signedIn(user);
    await redeem(browser, (await gift({ months: 3 })).code);
    const until = (await standing(shop, user)).giftUntil ?? 0;
    await shop.foyer.stores.database.transaction((trx) =>
      importPartnerDeals(trx, [{ email: user.email, tier: 2 }], now()),
    );
    expect(await page(browser, '/plan-purchase-appsumo/?plan=102')).toContain(`Until ${day(until)}`);
    await browser.post('/plan-purchase-appsumo/?plan=102', { planId: '102' });
    expect(await planOf(user)).toBe('11');
    await pass(shop, until + 60_000);
    expect(await planOf(user)).toBe('102');
  });

  it('A second code of the same plan adds its months, and one of another plan waits', async () => {
    const user = await shop.foyer.addUser();
    const browser = await shop.foyer.signedIn(user);
    expect(await redeem(browser, (await gift({ months: 3 })).code)).toBe(redeemed);
    const first = (await standing(shop, user)).giftUntil ?? 0;
    expect(await redeem(browser, (await gift({ months: 12 })).code)).toBe(redeemed);
    expect((await standing(shop, user)).giftUntil).toBe(addMonths(first, 12));
    const other = await gift({ planId: '13' });
    expect(await refusal(browser, other.code)).toContain(`by a gift until ${day(addMonths(first, 12))}`);
    expect(await planOf(user)).toBe('11');
  });

  it('The same form sent twice redeems once, and both answers are the same', async () => {
    const user = await shop.foyer.addUser();
    const browser = await shop.foyer.signedIn(user);
    const { code } = await gift({ months: 3 });
    const answers = await Promise.all([redeem(browser, code), redeem(browser, code)]);
    expect(answers).toEqual([redeemed, redeemed]);
    expect((await standing(shop, user)).giftUntil).toBeLessThanOrEqual(addMonths(now(), 3));
    expect((await mailsOf(user)).map(({ template }) => template)).toEqual(['gift-redeemed']);
  });

  it('A member buys another plan while a gift lasts, and has the gift again when that ends before', async () => {
    const user = await onTrial(shop);
    const browser = await shop.foyer.signedIn(user);
    await redeem(browser, (await gift({ planId: '11', months: 12 })).code);
    const until = (await standing(shop, user)).giftUntil ?? 0;
    await shop.saveCard(user);
    const offer = await page(browser, '/plan-purchase/12');
    expect(offer).toContain(`You have Starter by a gift until ${day(until)}. A plan you choose here starts today`);
    expect(offer).toContain('Due today $499.00');
    for (const text of [offer, await page(browser, '/plan-purchase/12/addPayment')]) {
      expect(text).not.toContain('free trial');
      expect(text).toContain('on your membership page');
    }
    expect(await shop.buy(await shop.userNow(user), 'm-499')).toMatchObject({ kind: 'paid' });
    expect(await planOf(user)).toBe('12');
    await shop.membership.cancel(await shop.userNow(user));
    await pass(shop, ((await standing(shop, user)).periodEnd ?? 0) + dayMs);
    expect(await planOf(user)).toBe('11');
    expect(await page(await shop.foyer.signedIn(user))).toContain(`Gift until ${day(until)}`);
  });

  it('A free plan that is chosen before or during a gift follows it', async () => {
    const user = await shop.foyer.addUser();
    const browser = await shop.foyer.signedIn(user);
    await shop.membership.takeFree(user, shop.plan('m-free'));
    await redeem(browser, (await gift({ months: 3 })).code);
    expect(await planOf(user)).toBe('11');
    await pass(shop, ((await standing(shop, user)).giftUntil ?? 0) + 60_000);
    expect(await planOf(user)).toBe('1');
  });

  it('The export of a member names the gift, and the erasure keeps the code used and forgets the member', async () => {
    const user = await shop.foyer.addUser();
    const { id, code } = await gift();
    await redeem(await shop.foyer.signedIn(user), code);
    const source = billingDataSource(shop.foyer.deps.database);
    expect(await source.exportData(user)).toMatchObject({ gifts: [{ planId: '11', months: 3 }] });
    await shop.foyer.stores.database.transaction((trx) => source.erase(trx, user, now()));
    const row = await shop.foyer.stores.database.db
      .selectFrom('gifts')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
    expect(row).toMatchObject({ userId: null, redeemedAt: expect.any(Number) });
  });
});

describe('without gifts in the catalogue', () => {
  it('There is no page for codes, and no link to it', async () => {
    const shop = await startShop(anyBackend);
    try {
      const browser = await shop.foyer.signedIn(await onTrial(shop));
      expect((await browser.get(giftPath)).status).toBe(404);
      expect(await page(browser)).not.toContain('gift');
    } finally {
      await shop.close();
    }
  });
});

import { revokeGift } from '../../server/billing/index.ts';
import { standing } from '../account/membership-steps.ts';
import { giftPath, makeGift, readRefusal, redeem, redeemed, startGiftShop } from '../billing/gift-steps.ts';
import { dayMs, type Shop } from '../billing/steps.ts';
import type { Browser } from '../support/browser.ts';

describe('attacks on gift codes', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startGiftShop();
  });
  afterAll(() => shop?.close());

  const now = () => shop.stripe.engine.nowMs();
  const gift = (given: Parameters<typeof makeGift>[2] = {}) => makeGift(shop, now(), given);
  async function member() {
    const user = await shop.foyer.addUser();
    return { user, browser: await shop.foyer.signedIn(user) };
  }
  const planOf = async ({ id }: { id: string }) =>
    (await shop.foyer.stores.database.db.selectFrom('users').select(['id', 'planId']).execute()).find(
      (one) => one.id === id,
    )?.planId;
  const refused = (browser: Browser, code: string) => readRefusal(browser, code, 400);

  it('Attack: of six members who redeem one code at once, one gets the plan', async () => {
    const { code, id } = await gift();
    const members: Awaited<ReturnType<typeof member>>[] = [];
    while (members.length < 6) members.push(await member());
    const answers = await Promise.all(members.map(({ browser }) => redeem(browser, code)));
    expect(answers.filter((answer) => answer === redeemed)).toHaveLength(1);
    const plans = await Promise.all(members.map(({ user }) => planOf(user)));
    expect(plans.filter((plan) => plan === '11')).toHaveLength(1);
    const row = await shop.foyer.stores.database.db
      .selectFrom('gifts')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
    expect(row?.userId).toBe(members[answers.indexOf(redeemed)]?.user.id);
  });

  it('Attack: one member who redeems two codes of different plans at once gets one, and the other stays valid', async () => {
    const { user, browser } = await member();
    const codes = [(await gift()).code, (await gift({ planId: '13' })).code];
    const answers = await Promise.all(codes.map((code) => redeem(browser, code)));
    expect(answers.filter((answer) => answer === redeemed)).toHaveLength(1);
    const left = codes[answers.findIndex((answer) => answer !== redeemed)] ?? '';
    expect(await redeem((await member()).browser, left)).toBe(redeemed);
    expect((await standing(shop, user)).giftPlanId).toBe(answers[0] === redeemed ? '11' : '13');
  });

  it('Attack: a code that another member has used, or that is revoked or expired, gives nothing', async () => {
    const { user, browser } = await member();
    const used = await gift();
    await redeem((await member()).browser, used.code);
    expect(await refused(browser, used.code)).toContain('This code has been redeemed already.');
    const revoked = await gift();
    await shop.foyer.stores.database.transaction((trx) => revokeGift(trx, revoked.id, now()));
    expect(await refused(browser, revoked.code)).toContain('This code isn’t valid any more.');
    const expired = await gift({ validMs: 2 * dayMs });
    shop.passTime(2 * dayMs);
    const later = await shop.foyer.signedIn(user);
    expect(await refused(later, expired.code)).toContain('This code has expired.');
    expect(await planOf(user)).toBeNull();
  });

  it('Attack: opening a link with a code, also by a picture on another site, redeems nothing', async () => {
    const { user, browser } = await member();
    const { code } = await gift();
    for (const from of ['same-origin', 'cross-site'] as const) {
      expect((await browser.get(`${giftPath}?code=${code}`, { from })).status).toBe(200);
    }
    expect(await planOf(user)).toBeNull();
    expect(await redeem(browser, code)).toBe(redeemed);
  });

  it('Attack: a form on another site cannot redeem a code for a member (CSRF)', async () => {
    const { user, browser } = await member();
    const { code } = await gift();
    const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    expect((await browser.post(giftPath, { code }, headers)).status).toBe(403);
    expect(await planOf(user)).toBeNull();
  });

  it('Attack: a visitor cannot redeem a code without an account', async () => {
    const { code, id } = await gift();
    const answer = await shop.foyer.browser().post(giftPath, { code });
    expect(answer.headers.get('location')).toMatch(/^\/\?redirect=%2Fgift/);
    const row = await shop.foyer.stores.database.db
      .selectFrom('gifts')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
    expect(row?.redeemedAt).toBeNull();
  });

  it('Attack: of twelve guesses at codes ten are checked, and then not even a right code is', async () => {
    const { user, browser } = await member();
    const { code } = await gift();
    const guesses = Array.from(
      { length: 12 },
      async () => (await browser.post(giftPath, { code: (await gift({ validMs: -1 })).code })).status,
    );
    const statuses = await Promise.all(guesses);
    expect(statuses.toSorted()).toEqual([...Array.from({ length: 10 }, () => 400), 429, 429]);
    const answer = await browser.post(giftPath, { code });
    expect(answer.status).toBe(429);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await planOf(user)).toBeNull();
    expect(await redeem((await member()).browser, code)).toBe(redeemed);
  });

  it('Attack: neither the page nor the stored row nor the log has a code of another member', async () => {
    const { browser } = await member();
    const { code, id } = await gift();
    await redeem(browser, code);
    const row = await shop.foyer.stores.database.db
      .selectFrom('gifts')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
    expect(JSON.stringify(row)).not.toContain(code.replaceAll('-', ''));
    expect(JSON.stringify(row)).not.toContain(code);
  });

  it('Attack: a code in the link is a text in the field, whatever it contains', async () => {
    const { browser } = await member();
    const evil = '"><script>alert(1)</script>';
    const html = await (await browser.get(`${giftPath}?${new URLSearchParams({ code: evil })}`)).text();
    expect(html).not.toContain('<script>alert(1)');
    const long = await browser.get(`${giftPath}?code=${'A'.repeat(5_000)}`);
    expect(await long.text()).toContain(`value="${'A'.repeat(60)}"`);
  });
});

import { languages } from '../../../server/http/index.ts';
import { importPartnerDeals, setSource, type User } from '../../../server/users/index.ts';
import { formatPlainDate } from '../../../views/format.ts';
import { type Browser, locationOf } from '../../support/browser.ts';
import { password } from '../../support/foyer.ts';
import { toPlanId } from '../../support/ids.ts';
import { backends } from '../../support/stores.ts';
import { isWrite } from '../pause-steps.ts';
import { cards, dayMs, type Shop, startShop } from '../steps.ts';
import { wordsOf } from './shop.ts';

const dealPath = '/plan-purchase-appsumo/?plan=101';
const membershipPath = '/settings/membership';

describe.each(backends)('the page of a partner’s deal, on $name', (backend) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(backend);
    shop.stripe.tell(shop.foyer.url);
  });
  afterAll(() => shop?.close());

  const pathOf = (answer: Response) => locationOf(answer).slice(shop.foyer.url.length);
  const words = async (browser: Browser, path = dealPath) => wordsOf(await (await browser.get(path)).text());
  const decide = (browser: Browser, act: Record<string, string>) => browser.post(dealPath, act);
  const date = (atMs: number) => formatPlainDate('en', atMs);

  /** Tier 1 was sold to the member. */
  async function offer(user: User): Promise<void> {
    await shop.foyer.stores.database.transaction(async (trx) => {
      await importPartnerDeals(trx, [{ email: user.email, tier: 1 }], Date.now());
      const offered = { source: 'appsumo_update', offeredPlanId: toPlanId('101') } as const;
      await trx.updateTable('users').set(offered).where('id', '=', user.id).execute();
    });
  }
  async function offered(planId: string | null): Promise<{ user: User; browser: Browser }> {
    const user = await shop.foyer.addUser({ planId: planId === null ? null : toPlanId(planId) });
    await offer(user);
    return { user, browser: await shop.foyer.signedIn(user) };
  }
  /** With Starter, which is paid. */
  async function paying() {
    const user = await shop.foyer.addUser();
    await shop.membership.ensure(user, 7);
    await shop.saveCard(user, cards.visa);
    await shop.buy(user, 'm-99');
    await offer(user);
    const until = (await shop.membership.getMembership(user.id))?.periodEnd ?? 0;
    return { user, browser: await shop.foyer.signedIn(user), until };
  }

  it('The deal page shows a member without a plan one plan and its terms, and replaces nothing', async () => {
    const { browser } = await offered(null);
    const page = await words(browser);
    expect(page).toContain('You bought AppSumo Tier 1 from our partner. Confirm to start it: no card, no end date.');
    expect(page).toContain('From our partner AppSumo Tier 1 Lifetime From today');
    expect(page).not.toContain('Your plan now');
  });

  it('The deal page shows a member with the free plan both plans with price and day', async () => {
    const page = await words((await offered('1')).browser);
    expect(page).toContain('AppSumo Tier 1 replaces Free today.');
    expect(page).toContain('Your plan now Free Free of charge Until today');
    expect(page).toContain('From our partner AppSumo Tier 1 Lifetime From today');
  });

  it('The deal page names the trial that the deal replaces', async () => {
    const { user, browser } = await offered(null);
    await shop.membership.ensure(user, 7);
    const page = await words(browser);
    expect(page).toContain('AppSumo Tier 1 replaces your trial of Basic today.');
    expect(page).toContain('Your plan now Basic Free of charge Until today');
  });

  it('The deal page keeps a paid plan until its end and names the plan, the price and the day', async () => {
    const { browser, until } = await paying();
    const page = await words(browser);
    const day = date(until);
    expect(page).toContain(`You keep Starter until ${day}. Then AppSumo Tier 1 begins, and Starter doesn’t renew.`);
    // Both have the short date, and the partner's card its features.
    const short = formatPlainDate('en', until, 'short');
    expect(page).toContain(`Your plan now Starter, every 30 days $99 every 30 days Until ${short}`);
    expect(page).toContain(`From our partner AppSumo Tier 1 Lifetime From ${short}`);
    const cards = [
      ...(await (await browser.get(dealPath)).text()).matchAll(/<section class="card">(.*?)<\/section>/gs),
    ];
    expect(cards.map(([, card]) => card?.includes('<ul class="ticks">'))).toEqual([false, true]);
  });

  it('Confirming a deal over a paid plan names plan and day at once, also while Stripe does not answer, and in one mail', async () => {
    const { user, browser, until } = await paying();
    await shop.foyer.mails(user.email);
    const day = date(until);
    shop.stripe.fault('unreachable', isWrite);
    const done = pathOf(await decide(browser, { planId: '101' }));
    expect(await words(browser, done)).toContain(`From ${day} your plan is AppSumo Tier 1.`);
    const before = await shop.membership.getMembership(user.id);
    expect([before?.noted, before?.basePlanId]).toEqual(['cancel', '101']);
    const waiting = await words(browser, membershipPath);
    expect(waiting).toContain(`Changes On ${day} to AppSumo Tier 1`);
    expect(waiting).not.toContain('Ends on');
    expect(waiting).toContain(`From ${day} you have AppSumo Tier 1.`);
    expect(waiting).not.toContain('Renews on');
    // It can be taken back at once: that is noted, too.
    expect(waiting).toContain('Keep Starter instead');
    // The second of two presses.
    expect(pathOf(await decide(browser, { planId: '101' }))).toBe(done);

    // A task that has failed is tried again after a minute.
    shop.passTime(60_000);
    await shop.membership.work();
    await shop.stripe.webhooks.idle();
    const after = await words(browser, membershipPath);
    expect(after).toContain(`Changes On ${day} to AppSumo Tier 1`);
    expect(after).not.toContain('Ends on');
    expect(after).toContain('Keep Starter instead');
    expect(after).toMatch(/Until .* you have Starter.* After that you have AppSumo Tier 1\./);
    expect(after).not.toContain('Your membership ends on');
    const told = (await shop.foyer.mails(user.email)).map(({ template }) => template);
    expect(told.filter((template) => template.startsWith('plan-'))).toEqual(['plan-changes']);
    const [mail] = (await shop.foyer.mails(user.email)).filter(({ template }) => template === 'plan-changes');
    expect(mail?.text).toContain('Starter');
    expect(mail?.text).toContain('AppSumo Tier 1');
    expect(mail?.text).toContain(day);
    shop.passTime(until - shop.stripe.engine.nowMs() + dayMs);
    await shop.stripe.webhooks.idle();
    await shop.membership.work();
    expect((await shop.userNow(user)).planId).toBe('101');
  });

  it('Not now lets the member continue, asks again after 7 days and keeps the deal in the membership until then', async () => {
    const { user, browser } = await offered('1');
    const signIn = () => shop.foyer.browser().post('/sign-in', { username: user.email, password });
    expect(pathOf(await signIn())).toBe(dealPath);
    expect(await words(browser)).toContain('We ask again in 7 days.');
    expect(pathOf(await decide(browser, { act: 'not-now' }))).toBe('/sandbox/search');
    expect(pathOf(await browser.get('/'))).toBe('/sandbox/search');
    expect(pathOf(await signIn())).toBe('/sandbox/search');
    const settings = await (await browser.get(membershipPath)).text();
    expect(wordsOf(settings)).toContain('Your partner deal is waiting');
    expect(settings).toContain(`href="${dealPath}"`);
    expect(await words(browser)).toContain('AppSumo Tier 1 replaces Free today.');
    shop.passTime(7 * dayMs - 60_000);
    expect(pathOf(await signIn())).toBe('/sandbox/search');
    shop.passTime(60_000);
    expect(pathOf(await signIn())).toBe(dealPath);
    // It is not lost by having been put off.
    const again = await shop.foyer.signedIn(user);
    expect(pathOf(await decide(again, { planId: '101' }))).toContain('/signup/completed/');
    expect((await shop.userNow(user)).planId).toBe('101');
    expect(await words(again, membershipPath)).not.toContain('Your partner deal is waiting');
  });

  it('Not now without any plan opens the list of plans and is not interrupted by the deal', async () => {
    const { browser } = await offered(null);
    expect(pathOf(await browser.get('/plan-purchase'))).toBe(dealPath);
    expect(pathOf(await decide(browser, { act: 'not-now' }))).toBe('/plan-purchase');
    expect((await browser.get('/plan-purchase')).status).toBe(200);
  });

  it('Not now keeps the page that the member wanted to open', async () => {
    const { browser } = await offered('1');
    const answer = await browser.post(`${dealPath}&redirect=/settings/name`, { act: 'not-now' });
    expect(pathOf(answer)).toBe('/settings/name');
  });

  it('A different deal is offered at once although the last one was postponed', async () => {
    const { user, browser } = await offered('1');
    await decide(browser, { act: 'not-now' });
    const { db } = shop.foyer.deps.database;
    await db.updateTable('partnerDeals').set({ tier: 2 }).where('email', '=', user.email).execute();
    await shop.foyer.deps.database.transaction((trx) =>
      setSource(trx, user.id, { source: 'appsumo_update', offeredPlanId: toPlanId('102'), nowMs: Date.now() }),
    );
    expect(pathOf(await browser.get('/'))).toBe('/plan-purchase-appsumo/?plan=102');
  });

  it('The deal page has Sign out and refuses a change by GET, by another member or by an unknown action', async () => {
    const { user, browser } = await offered('1');
    const html = await (await browser.get(dealPath)).text();
    expect(html).toMatch(/<form action="\/logout" method="post">/);
    expect((await decide(browser, { act: 'later' })).status).toBe(400);
    for (const act of ['not-now', '']) await browser.get(`${dealPath}&act=${act}&planId=101`);
    const stranger = await shop.foyer.browser().post(dealPath, { act: 'not-now' });
    expect(pathOf(stranger)).toMatch(/^\/\?redirect=/);
    const { planId, dealAgainAt } = await shop.userNow(user);
    expect([planId, dealAgainAt]).toEqual(['1', null]);
    await browser.post('/logout');
    expect(pathOf(await browser.get(dealPath))).toMatch(/^\/\?redirect=/);
  });

  it('The deal page names both plans and the day in every language', async () => {
    const { user } = await paying();
    for (const lang of languages) {
      const browser = await shop.foyer.signedIn(user);
      browser.headers['accept-language'] = lang;
      const until = (await shop.membership.getMembership(user.id))?.periodEnd ?? 0;
      const page = await words(browser);
      for (const part of ['Starter', 'AppSumo Tier 1', formatPlainDate(lang, until), '99'])
        expect(page).toContain(part);
    }
  });
});

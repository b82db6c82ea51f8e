import { page, path, standing } from '../account/membership-steps.ts';
import { wordsOf } from './checkout/shop.ts';
import { atStripe, charges, hourMs, isWrite, openAct, pass } from './pause-steps.ts';
import { type Member, member, order, planPage, startTrialShop, templates, trier } from './plan-trial-steps.ts';
import { dayMs, type Shop } from './steps.ts';

const dayIn = (text: string) => new Date(text).toISOString().slice(0, 10);

describe('around the first charge of a plan that was tried', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startTrialShop({ draftsRenewals: true });
    const library = shop.stripe.client();
    await library.coupons.create({ id: 'half', percent_off: 50, duration: 'once' });
    await library.promotionCodes.create({ code: 'HALF', promotion: { type: 'coupon', coupon: 'half' } });
  });
  afterAll(() => shop?.close());

  const endOf = async ({ user }: Member) => (await standing(shop, user)).triedUntil ?? 0;

  /** The member signs in again: acts on the membership ask for that after an hour. */
  const back = async ({ user }: Member): Promise<Member> => ({ user, browser: await shop.foyer.signedIn(user) });

  /** In the hour in which the first invoice is a draft. */
  async function inDraftHour(who: Member): Promise<Member> {
    await pass(shop, (await endOf(who)) + hourMs / 2);
    await shop.membership.refresh(who.user.id);
    return back(who);
  }

  it('While the first charge is under way, the page names the next one with its own amount', async () => {
    const begun = await member(shop);
    await begun.browser.post('/plan-purchase/10', { act: 'promo', planId: '10', promo: 'HALF' });
    await order(begun.browser);
    const who = await inDraftHour(begun);
    const shown = await page(who.browser);
    const [, day = '', amount] = /Renews on (\w+ \d+, \d{4}) at (\$\S+\d)/.exec(shown) ?? [];
    expect(amount).toBe('$99.00');
    const { periodEnd } = await standing(shop, who.user);
    expect(dayIn(`${day} UTC`)).toBe(new Date(periodEnd ?? 0).toISOString().slice(0, 10));
    expect(shown).not.toContain('nothing is ever charged');
    await pass(shop, (await endOf(who)) + 2 * hourMs);
    expect(await charges(shop, who.user)).toEqual([4_950]);
  });

  it('Canceled then, the charged period is kept, a mail says so, and a resumption names no first payment', async () => {
    const who = await inDraftHour(await trier(shop));
    const { html, fields } = await openAct(who.browser, 'cancel');
    expect(wordsOf(html)).toContain('Your renewal of $99.00');
    expect(wordsOf(html)).not.toContain('nothing will be');
    await who.browser.post(`${path}/cancel`, fields);
    const { periodEnd } = await standing(shop, who.user);
    const mails = (await shop.foyer.mails(who.user.email)).filter(({ template }) => template === 'plan-cancelled');
    expect(mails.map(({ values }) => values)).toMatchObject([{ endsAt: periodEnd }]);
    expect(wordsOf((await openAct(who.browser, 'resume')).html)).not.toContain('first payment');
    await pass(shop, (await endOf(who)) + 2 * hourMs);
    expect(await charges(shop, who.user)).toEqual([9_900]);
    expect(await templates(shop, who.user)).not.toContain('plan-ended');
  });

  it.each([
    ['in the hour of the draft', 0.5],
    ['after it', 2],
  ])(
    'Canceled before the end while Stripe is away, and Stripe is back %s: nothing is charged',
    async (_when, hours) => {
      const begun = await trier(shop);
      const end = await endOf(begun);
      await pass(shop, end - hourMs / 2);
      const who = await back(begun);
      let isAway = true;
      shop.stripe.fault('unreachable', (method, at) => isAway && isWrite(method, at));
      const { fields } = await openAct(who.browser, 'cancel');
      await who.browser.post(`${path}/cancel`, fields);
      shop.passTime(end + hours * hourMs - shop.stripe.engine.nowMs());
      isAway = false;
      await shop.stripe.webhooks.idle();
      await shop.membership.work();
      await pass(shop, end + 5 * hourMs);
      await pass(shop, end + 6 * hourMs);
      const { data } = await shop.stripe
        .client()
        .invoices.list({ customer: (await standing(shop, who.user)).customerId ?? '' });
      const kept = data.map(({ amount_paid: paid, post_payment_credit_notes_amount: back }) => paid - back);
      expect(kept.filter((cents) => cents !== 0)).toEqual([]);
      expect((await atStripe(shop, who.user)).status).toBe('canceled');
      expect((await shop.userNow(who.user)).planId).toBeNull();
      const refunds = await shop.stripe.client().refunds.list({});
      const own = refunds.data.filter(({ created }) => created * 1_000 > end);
      expect(own.map(({ amount }) => amount)).toEqual(hours > 1 ? [9_900] : []);
    },
  );

  it('After a long first trial, five free days have one notice, three days before their end', async () => {
    const begun = await member(shop, { days: 30 });
    await pass(shop, shop.stripe.engine.nowMs() + 20 * dayMs);
    await order(begun.browser, '12');
    const end = await endOf(begun);
    await pass(shop, end - 3.5 * dayMs);
    expect(await templates(shop, begun.user)).not.toContain('plan-trial-ends');
    await pass(shop, end - 2.4 * dayMs);
    expect((await templates(shop, begun.user)).filter((one) => one === 'plan-trial-ends')).toHaveLength(1);
  });

  it('Begun again after an answer was lost, it is charged on no other day than the page names', async () => {
    const who = await member(shop, { days: 30 });
    const now = shop.stripe.engine.nowMs();
    await pass(shop, now - (now % dayMs) + 2 * dayMs - 10 * 60_000);
    const { browser } = await back(who);
    const { fields } = await planPage(browser);
    let isAway = true;
    shop.stripe.fault('unreachable', (method, at) => isAway && isWrite(method, at));
    expect((await browser.post('/plan-purchase/10', fields)).status).toBe(503);
    isAway = false;
    shop.passTime(20 * 60_000);
    const { fields: later } = await planPage(browser);
    const answer = await browser.post('/plan-purchase/10', later);
    expect(answer.status).toBe(409);
    const [first] = (await shop.foyer.mails(who.user.email)).filter(({ template }) => template === 'plan-trial-began');
    const { chargedAt = Number(later.trialEnd) } = (first?.values ?? {}) as { chargedAt?: number };
    expect(new Date(chargedAt).toISOString().slice(0, 10)).toBe(
      new Date(Number(later.trialEnd)).toISOString().slice(0, 10),
    );
  });

  it.each(['period-end', 'at-once'])(
    'The deletion of the account names no paid period, and %s charges nothing',
    async (membership) => {
      const who = await trier(shop);
      const words = wordsOf(await (await who.browser.get('/settings/delete-account')).text());
      expect(words).toContain('It ends with the free trial Nothing is charged. You keep it until');
      expect(words).not.toMatch(/period that is paid|It’s paid until|paid back/);
      await who.browser.post('/settings/delete-account', { confirm: '1', membership });
      await pass(shop, (await endOf(who)) + 3 * hourMs);
      expect(await charges(shop, who.user)).toEqual([]);
      expect((await atStripe(shop, who.user)).status).toBe('canceled');
    },
  );
});

describe('free days that last longer than a discount', () => {
  it('A code of a month is over at the first charge, and the page names that without it', async () => {
    const shop = await startTrialShop({}, { days: { 'm-99': 40 } });
    try {
      const library = shop.stripe.client();
      const coupon = { id: 'month', percent_off: 50, duration: 'repeating', duration_in_months: 1 } as const;
      await library.coupons.create(coupon);
      await library.promotionCodes.create({ code: 'MONTH', promotion: { type: 'coupon', coupon: 'month' } });
      const who = await member(shop);
      await who.browser.post('/plan-purchase/10', { act: 'promo', planId: '10', promo: 'MONTH' });
      const { words } = await planPage(who.browser);
      expect(words).toMatch(/First payment on \w+ \d+, \d{4} \$99\.00 /);
      expect(words).not.toContain('$49.50');
      await order(who.browser);
      await pass(shop, ((await standing(shop, who.user)).triedUntil ?? 0) + 2 * hourMs);
      expect(await charges(shop, who.user)).toEqual([9_900]);
    } finally {
      await shop.close();
    }
  });
});

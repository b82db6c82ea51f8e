import type Stripe from 'stripe';
import { page, path, standing } from '../account/membership-steps.ts';
import { aBuyer, type Buyer } from './api-steps.ts';
import { mainForm, wordsOf } from './checkout/shop.ts';
import { charges, hourMs, openAct, pass } from './pause-steps.ts';
import { member, order, planPage, startTrialShop, trier } from './plan-trial-steps.ts';
import type { Shop } from './steps.ts';
import { buyByPage } from './tax-steps.ts';

/**
 * Stripe charges at least 50 cents: it adds a smaller amount to the charge after it. The amounts in these tests are worked
 * out by hand: of 99 dollars 99.95 % leave 5 cents, 99.7 % leave 30.
 */
describe('charges that are too small', () => {
  let shop: Shop;
  let stripe: Stripe;
  beforeAll(async () => {
    shop = await startTrialShop({}, { periods: 'calendar' });
    stripe = shop.stripe.client();
    // Their card has had its free days: those who have it after them buy without any.
    await trier(shop);
    const coupons: Stripe.CouponCreateParams[] = [
      { id: 'ALMOSTONCE', percent_off: 99.95, duration: 'once' },
      { id: 'TINYTHREE', percent_off: 99.95, duration: 'repeating', duration_in_months: 3 },
      { id: 'ALMOSTFOUR', percent_off: 99.7, duration: 'repeating', duration_in_months: 4 },
      { id: 'ALMOSTTHREE', percent_off: 99.7, duration: 'repeating', duration_in_months: 3 },
      { id: 'ALMOSTALWAYS', percent_off: 99.7, duration: 'forever' },
    ];
    for (const { id = '', ...coupon } of coupons) {
      await stripe.coupons.create({ id, ...coupon });
      await stripe.promotionCodes.create({ code: id, promotion: { type: 'coupon', coupon: id } });
    }
  });
  afterAll(() => shop?.close());

  type Who = Pick<Buyer, 'user'>;
  const membershipPage = async ({ user }: Who) => page(await shop.foyer.signedIn(user));

  /** Lets a period pass. @returns all that was charged until then */
  async function renew({ user }: Who): Promise<number[]> {
    await pass(shop, ((await standing(shop, user)).periodEnd ?? 0) + 2 * hourMs);
    return charges(shop, user);
  }

  /** The page of a plan with a code. */
  async function openWithCode({ user }: Who, code: string) {
    const browser = await shop.foyer.signedIn(user);
    await browser.get('/plan-purchase/10');
    await browser.post('/plan-purchase/10', { act: 'promo', planId: '10', promo: code });
    return (await browser.get('/plan-purchase/10')).text();
  }

  it('A first charge after free days that is too small is named with the charge that it is added to', async () => {
    const who = await member(shop);
    await who.browser.post('/plan-purchase/10', { act: 'promo', planId: '10', promo: 'ALMOSTONCE' });
    const { words } = await planPage(who.browser);
    expect(words).toMatch(/First payment on \w+ \d+, \d{4} \$0\.00 .* Another \$0\.05 is too small/);
    expect(words).toMatch(/The discount ends on \w+ \d+, \d{4}; \$99\.05 is charged then, and \$99\.00 after that\./);
    expect(words).toMatch(/Start free trial – then pay \$99\.05 on \w+ \d+, \d{4}/);
    await order(who.browser);
    expect(await membershipPage(who)).toContain('$99.05 is charged then, and $99.00 after that.');
    await pass(shop, ((await standing(shop, who.user)).triedUntil ?? 0) + 2 * hourMs);
    expect(await charges(shop, who.user)).toEqual([0]);
    expect(await membershipPage(who)).toMatch(/at \$99\.05\. After that, \$99\.00 is charged\./);
    expect(await renew(who)).toEqual([0, 9_905]);
    expect(await renew(who)).toEqual([0, 9_905, 9_900]);
  });

  /** Moves the clock to a day of the year that comes next. */
  const goTo = (month: number, day: number) => {
    const nowMs = shop.stripe.engine.nowMs();
    shop.passTime(Date.UTC(new Date(nowMs).getUTCFullYear() + 1, month - 1, day, 12) - nowMs);
  };

  it('A discount that ends between two charges is said with the day on which the first amount without it is charged', async () => {
    goTo(1, 5);
    const who = await member(shop);
    await who.browser.post('/plan-purchase/10', { act: 'promo', planId: '10', promo: 'ALMOSTTHREE' });
    const { words } = await planPage(who.browser);
    const sentence = /ends on April \d, (\d{4}); \$99\.30 is charged on April 19, \1, and \$99\.00 after that/;
    expect(words).toMatch(sentence);
    expect(words).toMatch(/Start free trial – then pay \$99\.30 on April 19, \d{4}/);
    await order(who.browser);
    expect(await membershipPage(who)).toMatch(sentence);
    for (const amounts of [[0], [0, 60], [0, 60, 0]]) expect(await renew(who)).toEqual(amounts);
    const { periodEnd } = await standing(shop, who.user);
    expect(new Date(periodEnd ?? 0).toISOString()).toMatch(/-04-19T/);
    expect(await renew(who)).toEqual([0, 60, 0, 9_930]);
  });

  it('Discounted charges are counted from the day on which the plan began, after a short month too', async () => {
    goTo(1, 31);
    const who = await aBuyer(shop);
    // 30 cents in January make 60 in February, and those of March are left for April, when the discount has ended.
    const sentence = /The discount ends on April 30, \d{4}; \$99\.30 is charged then, and \$99\.00 after that/;
    expect(await buyByPage(shop, who, '10', 'ALMOSTTHREE')).toMatch(sentence);
    expect(await membershipPage(who)).toMatch(sentence);
    expect(await renew(who)).toEqual([0, 60]);
    expect(await membershipPage(who)).toMatch(sentence);
    expect(await renew(who)).toEqual([0, 60, 0]);
    expect(await renew(who)).toEqual([0, 60, 0, 9_930]);
  });

  it('A member who takes an end back after a short month is told the amount that follows the discount', async () => {
    goTo(1, 31);
    const who = await aBuyer(shop);
    await buyByPage(shop, who, '10', 'ALMOSTTHREE');
    const browser = await shop.foyer.signedIn(who.user);
    await browser.post(`${path}/cancel`, (await openAct(browser, 'cancel')).fields);
    expect(await standing(shop, who.user)).toMatchObject({ cancelAtPeriodEnd: true });
    // 60 cents in February, and 30 of March are left for the last day of April.
    const { html, fields } = await openAct(browser, 'resume');
    expect(wordsOf(html)).toMatch(/The discount ends on April 30, \d{4}; \$99\.30 is charged then/);
    await browser.post(`${path}/resume`, fields);
    for (const amounts of [
      [0, 60],
      [0, 60, 0],
      [0, 60, 0, 9_930],
    ])
      expect(await renew(who)).toEqual(amounts);
  });

  it('An upgrade with a code counts the discounted charges from the day on which the plan before began', async () => {
    goTo(1, 31);
    const who = await aBuyer(shop);
    await buyByPage(shop, who, '10', 'ALMOSTONCE');
    await pass(shop, shop.stripe.engine.nowMs() + (7 * 24 + 4) * hourMs);
    // 5 cents owed, 4 back and 19 for the rest of February; then 25 each time: 45 are too small, 70 are charged.
    const sentence = /ends on May 8, (\d{4}); \$499\.25 is charged on May 31, \1, and \$499\.00 after that/;
    expect(await buyByPage(shop, who, '12', 'TINYTHREE')).toMatch(sentence);
    expect(await membershipPage(who)).toMatch(sentence);
    for (const amounts of [[0], [0, 70], [0, 70, 0], [0, 70, 0, 49_925]])
      expect((await renew(who)).slice(2)).toEqual(amounts);
  });

  it('Several charges that are too small together are charged as soon as they are large enough, as announced', async () => {
    const who = await aBuyer(shop);
    // 30 cents each: none now, 60 with the second, none with the third, 60 with the fourth.
    const words = await buyByPage(shop, who, '10', 'ALMOSTFOUR');
    expect(words).toMatch(/Too small to charge, added to your next payment −\$0\.30/);
    expect(words).toMatch(
      /Renews on \w+ \d+, \d{4} at \$0\.60\. After that, \$0\.30 is due each time\. .+ The discount ends on [^;]+; after that, \$99\.00/,
    );
    expect(await renew(who)).toEqual([0, 60]);
    expect(await membershipPage(who)).toMatch(
      /at \$0\.00 Another \$0\.30 is too small|at \$0\.00\. Another \$0\.30 is too/,
    );
    expect(await renew(who)).toEqual([0, 60, 0]);
    expect(await membershipPage(who)).toMatch(/at \$0\.60\. The discount ends on/);
    expect(await renew(who)).toEqual([0, 60, 0, 60]);
    expect(await renew(who)).toEqual([0, 60, 0, 60, 9_900]);
  });

  it('The charge after a discount of an odd number of small charges has what they have left', async () => {
    const who = await aBuyer(shop);
    await buyByPage(shop, who, '10');
    // The discount ends an hour after the third renewal, which therefore has it.
    await pass(shop, shop.stripe.engine.nowMs() + hourMs);
    await stripe.subscriptions.update(who.subscription, { discounts: [{ coupon: 'ALMOSTTHREE' }] });
    await shop.membership.refresh(who.user.id);
    // 30 cents each: none with the first, 60 with the second, none with the third.
    const sentence = /; \$99\.30 is charged on \w+ \d+, \d{4}, and \$99\.00 after that/;
    expect(await membershipPage(who)).toMatch(sentence);
    expect(await renew(who)).toEqual([9_900, 0]);
    expect(await membershipPage(who)).toMatch(sentence);
    expect(await renew(who)).toEqual([9_900, 0, 60]);
    expect(await renew(who)).toEqual([9_900, 0, 60, 0]);
    expect(await membershipPage(who)).toMatch(/at \$99\.30\. After that, \$99\.00 is charged/);
    expect(await renew(who)).toEqual([9_900, 0, 60, 0, 9_930]);
    expect(await renew(who)).toEqual([9_900, 0, 60, 0, 9_930, 9_900]);
  });

  it('A code without an end says that small amounts are added, with the smallest that is charged', async () => {
    const who = await aBuyer(shop);
    const words = await buyByPage(shop, who, '10', 'ALMOSTALWAYS');
    expect(words).toContain('at $0.60. After that, $0.30 is due each time. Amounts below $0.50 are added to the next');
    expect(await renew(who)).toEqual([0, 60]);
    expect(await membershipPage(who)).toMatch(
      /at \$0\.00\. Another \$0\.30 is too small .+ After that, \$0\.30 is due each time\. Amounts below \$0\.50/,
    );
    expect(await renew(who)).toEqual([0, 60, 0]);
    expect(await membershipPage(who)).toContain('at $0.60.');
    expect(await renew(who)).toEqual([0, 60, 0, 60]);
  });

  it('Credit that leaves too little, and credit that is left after a discount, are in the announced amounts', async () => {
    const little = await aBuyer(shop);
    await buyByPage(shop, little, '10');
    await stripe.customers.update(little.customer, { balance: -9_880 });
    await shop.membership.refresh(little.user.id);
    expect(await membershipPage(little)).toMatch(
      /at \$0\.00\. Another \$98\.80 is paid from your credit\. Another \$0\.20 is too small to be charged/,
    );
    expect(await renew(little)).toEqual([9_900, 0]);
    expect(await renew(little)).toEqual([9_900, 0, 9_920]);

    const rich = await aBuyer(shop);
    await stripe.customers.update(rich.customer, { balance: -1_000 });
    const html = await openWithCode(rich, 'ALMOSTONCE');
    const { action, fields } = mainForm(html);
    expect(wordsOf(html)).toMatch(/Renews on \w+ \d+, \d{4} at \$89\.05\./);
    expect((await (await shop.foyer.signedIn(rich.user)).post(action, fields)).status).toBe(303);
    expect(await renew(rich)).toEqual([0, 8_905]);
  });

  it('The JSON API sells for nothing only if the caller has named what is owed or paid from the credit', async () => {
    const buyer = await aBuyer(shop);
    const body = { plan_name: 'm-99', amount: '0.00', discountCoupon: 'ALMOSTONCE' };
    const refusal = (name: string, is: string) => ({
      status: 409,
      body: { errors: [{ name: `body.${name}`, detail: `is ${is}` }] },
    });
    expect(await buyer.call('POST', buyer.path, body)).toMatchObject(refusal('amount_owed', '0.05'));
    const other = { ...body, amount_owed: '0.04' };
    expect(await buyer.call('POST', buyer.path, other)).toMatchObject(refusal('amount_owed', '0.05'));
    expect(await charges(shop, buyer.user)).toEqual([]);
    const named = { ...body, amount_owed: '0.05' };
    expect(await buyer.call('POST', buyer.path, named)).toMatchObject({ status: 200, body: { amount: '0.00' } });
    expect(await renew(buyer)).toEqual([0, 9_905]);

    const rich = await aBuyer(shop);
    await stripe.customers.update(rich.customer, { balance: -20_000 });
    const paid = { plan_name: 'm-99', amount: '0.00' };
    expect(await rich.call('POST', rich.path, paid)).toMatchObject(refusal('usedCredits', '99.00'));
    const all = { ...paid, usedCredits: '99.00' };
    expect(await rich.call('POST', rich.path, all)).toMatchObject({ status: 200, body: { amount: '0.00' } });
  });
});

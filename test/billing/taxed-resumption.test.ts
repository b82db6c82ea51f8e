import { page, path, standing } from '../account/membership-steps.ts';
import type { Buyer } from './api-steps.ts';
import { wordsOf } from './checkout/shop.ts';
import { charges, hourMs, openAct, pass, pauseFor, startPauseShop } from './pause-steps.ts';
import { dayMs, type Shop } from './steps.ts';
import { aBuyerIn, buyByPage } from './tax-steps.ts';

/** Half of 99 dollars are 58.91 with 19 % of tax, and all of them 117.81; of 99.7 % off 36 cents are left. */
describe('a pause that its member ends, with tax that is added', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startPauseShop({}, { tax: { automatic: true, behaviour: 'exclusive' } });
    const stripe = shop.stripe.client();
    const months = { duration: 'repeating', duration_in_months: 3 } as const;
    for (const coupon of [
      { id: 'HALFTHREE', percent_off: 50, ...months },
      { id: 'TINYTHREE', percent_off: 99.7, ...months },
    ]) {
      await stripe.coupons.create(coupon);
      await stripe.promotionCodes.create({ code: coupon.id, promotion: { type: 'coupon', coupon: coupon.id } });
    }
  });
  afterAll(() => shop?.close());

  async function renew({ user }: Buyer): Promise<number[]> {
    await pass(shop, ((await standing(shop, user)).periodEnd ?? 0) + 2 * hourMs);
    return charges(shop, user);
  }

  /** Ends the pause on its second day. @returns the words of the page whose button was pressed */
  async function resumeAfter(who: Buyer, code: string): Promise<string> {
    await buyByPage(shop, who, '10', code);
    await pauseFor(await shop.foyer.signedIn(who.user), 1);
    await pass(shop, ((await standing(shop, who.user)).periodEnd ?? 0) + dayMs);
    const browser = await shop.foyer.signedIn(who.user);
    const { html, fields } = await openAct(browser, 'resume');
    expect((await browser.post(`${path}/resume`, fields)).status).toBe(303);
    return wordsOf(html);
  }

  it('The page names the end of the code and the whole amount with its tax, as it is charged then', async () => {
    const who = await aBuyerIn(shop);
    const words = await resumeAfter(who, 'HALFTHREE');
    expect(words).toContain('$58.91 is charged today');
    const sentence = /The discount ends on (\w+ \d+, \d{4}); after that, \$117\.81 is charged\./;
    expect(words).toMatch(sentence);
    expect(await page(await shop.foyer.signedIn(who.user))).toContain(sentence.exec(words)?.[0]);
    expect(await charges(shop, who.user)).toEqual([5_891, 5_891]);
    expect(await renew(who)).toEqual([5_891, 5_891, 5_891]);
    expect(await renew(who)).toEqual([5_891, 5_891, 5_891, 11_781]);
  });

  it('A code that leaves less than Stripe charges is said with the first whole amount, which has the rest in it', async () => {
    const who = await aBuyerIn(shop);
    const words = await resumeAfter(who, 'TINYTHREE');
    expect(words).toContain('$0.72 is charged today');
    expect(words).toMatch(/; \$118\.17 is charged on \w+ \d+, \d{4}, and \$117\.81 after that/);
    expect(await charges(shop, who.user)).toEqual([0, 72]);
    expect(await renew(who)).toEqual([0, 72, 0]);
    expect(await renew(who)).toEqual([0, 72, 0, 11_817]);
  });
});

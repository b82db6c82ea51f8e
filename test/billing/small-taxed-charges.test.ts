import { page, standing } from '../account/membership-steps.ts';
import type { Buyer } from './api-steps.ts';
import { mainForm, wordsOf } from './checkout/shop.ts';
import { charges, hourMs, pass } from './pause-steps.ts';
import type { Shop } from './steps.ts';
import { aBuyerIn, buyByPage, startTaxedShop } from './tax-steps.ts';

/** Of 99 dollars 99.7 % leave 30 cents, which are 36 with 19 % of tax: Stripe charges at least 50. */
describe('charges that are too small, with tax that is added', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startTaxedShop('exclusive');
    shop.stripe.tell(shop.foyer.url);
    const stripe = shop.stripe.client();
    await stripe.coupons.create({ id: 'ALMOSTALWAYS', percent_off: 99.7, duration: 'forever' });
    const three = { duration: 'repeating', duration_in_months: 3 } as const;
    await stripe.coupons.create({ id: 'THREEFREE', percent_off: 100, ...three });
    await stripe.coupons.create({ id: 'THREEHALF', percent_off: 50, ...three });
  });
  afterAll(() => shop?.close());

  const membershipPage = async ({ user }: Buyer) => page(await shop.foyer.signedIn(user));

  async function renew({ user }: Buyer): Promise<number[]> {
    await pass(shop, ((await standing(shop, user)).periodEnd ?? 0) + 2 * hourMs);
    return charges(shop, user);
  }

  /** Three months have three or four periods of thirty days. @returns the first charge of another amount */
  async function renewWhile(who: Buyer, cents: number): Promise<number | undefined> {
    let all = await charges(shop, who.user);
    expect(all).toEqual([cents]);
    while (all.at(-1) === cents && all.length < 6) all = await renew(who);
    expect(all.length).toBeGreaterThan(3);
    return all.at(-1);
  }

  it('A charge with a debt is not said to be that of every period, and the amount of each is named', async () => {
    const who = await aBuyerIn(shop);
    const each = 'After that, $0.36 is due each time. Amounts below $0.50 are added to the next payment.';
    const words = await buyByPage(shop, who, '10', 'ALMOSTALWAYS');
    expect(words).toMatch(/Renews on \w+ \d+, \d{4} at \$0\.72, VAT included\./);
    expect(words).toContain(each);
    expect(words).toMatch(/Pay \$0\.72 on \w+ \d+, \d{4}/);
    expect(await renew(who)).toEqual([0, 72]);
    expect(await membershipPage(who)).toContain(
      `at $0.00. Another $0.36 is too small to be charged. It’s added to the payment after it. ${each}`,
    );
    expect(await renew(who)).toEqual([0, 72, 0]);
    expect(await membershipPage(who)).toContain(each);
    expect(await renew(who)).toEqual([0, 72, 0, 72]);
  });

  it('A code that pays the first periods is followed by the whole amount with its tax, as the page says', async () => {
    const who = await aBuyerIn(shop);
    const words = await buyByPage(shop, who, '10', 'THREEFREE');
    expect(words).toMatch(/at \$0\.00\. The discount ends on \w+ \d+, \d{4}; after that, \$117\.81 is charged\./);
    expect(words).toMatch(/ Pay \$117\.81 every 30 days from \w+ \d+, \d{4} /);
    expect(await membershipPage(who)).toContain('after that, $117.81 is charged.');
    expect(await renewWhile(who, 0)).toBe(11_781);
  });

  it('After half of the price for some periods the amount with the tax of the whole price is named', async () => {
    const who = await aBuyerIn(shop);
    const words = await buyByPage(shop, who, '10', 'THREEHALF');
    expect(words).toMatch(/Renews on [^$]+ at \$58\.91, VAT included\./);
    expect(words).toContain('after that, $117.81 is charged.');
    expect(await renewWhile(who, 5_891)).toBe(11_781);
  });

  it('A later plan names the whole amount after the code, on the page that changes and on that of the membership', async () => {
    const who = await aBuyerIn(shop);
    await buyByPage(shop, who, '12', 'THREEHALF');
    const browser = await shop.foyer.signedIn(who.user);
    await browser.get('/plan-purchase/10');
    const html = await (await browser.get('/plan-purchase/10')).text();
    const { action, fields } = mainForm(html);
    expect((await browser.post(action, fields)).status).toBe(303);
    const after = 'after that, $117.81 is charged.';
    expect(wordsOf(html)).toContain(after);
    expect(await membershipPage(who)).toContain(after);
    expect(await renew(who)).toEqual([29_691, 5_891]);
    expect(await membershipPage(who)).toContain(after);
  });
});

import { listOrders } from '../../../server/billing/index.ts';
import { locationOf } from '../../support/browser.ts';
import { openShop, press, type Shop, wordsOf } from './shop.ts';

const page = '/plan-purchase/10';

describe('promotion codes whose part of 99 dollars is no whole number of cents', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop();
  });
  afterAll(() => shop?.close());

  // Worked by hand: the discount is rounded half up to the cent, as Stripe does (12.375 to 12.38).
  it.each([
    { percent: 33.33, discount: '33.00', due: '66.00', discountCents: 3_300, paidCents: 6_600 },
    { percent: 12.5, discount: '12.38', due: '86.62', discountCents: 1_238, paidCents: 8_662 },
    { percent: 0.05, discount: '0.05', due: '98.95', discountCents: 5, paidCents: 9_895 },
  ])(
    '$percent % of 99.00 are $$due on the page, on the button, in the charge and in the order',
    async ({ percent, discount, due, discountCents, paidCents }) => {
      const code = `PART${Math.round(percent * 100)}`;
      await shop.promotion(code, { percent_off: percent, duration: 'once' });
      const user = await shop.foyer.addUser();
      await shop.saveCard(user);
      const browser = await shop.foyer.signedIn(user);
      expect((await browser.post(page, { act: 'promo', planId: '10', promo: code })).status).toBe(303);
      const html = await (await browser.get(page)).text();
      const words = wordsOf(html);
      expect(words).toContain('Starter, monthly $99.00 ');
      expect(words).toMatch(new RegExp(`Promo code ${code} Remove ${code} −\\$${discount} `));
      expect(words).toContain(`Due today $${due} `);
      expect(words).toContain(`Pay $${due} `);
      const answer = await press(browser, page);
      expect(locationOf(answer)).toBe(`${shop.foyer.url}/signup/completed/m-99`);
      const customer = await shop.customerOf(user);
      const payments = await shop.stripe.paymentIntents.list({ customer });
      expect(payments.data.map(({ amount_received, status }) => [amount_received, status])).toEqual([
        [paidCents, 'succeeded'],
      ]);
      expect(await listOrders(shop.foyer.stores.database.db, user.id)).toMatchObject([
        { planAmountCents: 9_900, discountCents, paidCents, voucher: code },
      ]);
      expect(wordsOf(await (await browser.get(locationOf(answer).slice(shop.foyer.url.length))).text())).toContain(
        `$${due}`,
      );
    },
  );
});

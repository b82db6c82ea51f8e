import type Stripe from 'stripe';
import { toLaterCharge } from '../../server/billing/stripe/next-charge.ts';
import type { User } from '../../server/users/index.ts';
import { page, path, standing } from '../account/membership-steps.ts';
import { engineKit, visa } from '../sandbox/stripe-engine-kit.ts';
import { plansWith } from '../support/plans.ts';
import { anyBackend } from '../support/stores.ts';
import { aBuyer } from './api-steps.ts';
import { mainForm, wordsOf } from './checkout/shop.ts';
import { dayMs, type Shop, startShop } from './steps.ts';

let shop: Shop;
beforeAll(async () => {
  shop = await startShop(anyBackend, { PLANS_FILE: plansWith({ currency: 'eur' }) });
});
afterAll(() => shop?.close());

it('A catalogue in euros is charged and shown in euros', async () => {
  const { user } = await aBuyer(shop);
  expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'paid' });
  const [paid] = (await shop.stripe.client().invoices.list({ limit: 1 })).data;
  expect(paid).toMatchObject({ currency: 'eur', amount_paid: 9_900 });
  expect(await page(await shop.foyer.signedIn(user))).toContain('€99');
});

it('A refusal of a code names the least amount in the currency of the catalogue', async () => {
  const stripe = shop.stripe.client();
  const { id } = await stripe.coupons.create({ amount_off: 10_000, currency: 'eur', duration: 'once' });
  await stripe.promotionCodes.create({ code: 'BIG100', promotion: { type: 'coupon', coupon: id } });
  const { call, subscription } = await aBuyer(shop);
  expect(await call('PUT', `/customer/signup/${subscription}`, { coupon: 'BIG100', planId: '10' })).toMatchObject({
    status: 409,
    body: { detail: 'Minimum order amount should be greater than €100' },
  });
});

it('A code that takes off another currency is unknown', async () => {
  const stripe = shop.stripe.client();
  const { id } = await stripe.coupons.create({ amount_off: 1_000, currency: 'usd', duration: 'once' });
  await stripe.promotionCodes.create({ code: 'TENDOLLARS', promotion: { type: 'coupon', coupon: id } });
  const { call, subscription } = await aBuyer(shop);
  expect(await call('PUT', `/customer/signup/${subscription}`, { coupon: 'TENDOLLARS', planId: '10' })).toMatchObject({
    status: 404,
    body: { detail: 'Enter valid promo code' },
  });
});

describe('the smallest charge of a currency', () => {
  const cents = { usd: 50, eur: 50, chf: 50, aud: 50, zar: 50, gbp: 30, bgn: 100, aed: 200, myr: 200, pln: 200 };
  const more = { ron: 200, dkk: 250, nok: 300, sek: 300, hkd: 400, mxn: 1_000, thb: 1_000, czk: 1_500 };

  /** The first invoice of a subscription at this price. */
  function soldAt(price: number, currency: string): Stripe.Invoice {
    const kit = engineKit({ checks: false });
    return kit.invoice(kit.subscribe(kit.customer(visa), kit.price(price, 'month', { currency })));
  }

  it.each(Object.entries({ ...cents, ...more }))(
    'One cent less than the least that Stripe charges in %s is announced at 0 and owed, and %i cents are charged',
    async (currency, least) => {
      for (const [price, due] of [
        [least - 1, 0],
        [least, least],
      ] as const) {
        const invoice = soldAt(price, currency);
        expect(invoice).toMatchObject({ total: price, amount_due: due, status: 'paid', ending_balance: price - due });
        const discounts = { discount: null, customerDiscount: null, at: null, period: null };
        expect(await toLaterCharge(invoice, { balanceCents: 0, ...discounts })).toMatchObject({
          amountCents: due,
          ...(due === 0 && { carriedCents: price }),
          currency,
        });
      }
    },
  );

  describe('in a catalogue in Czech crowns', () => {
    let crowns: Shop;
    beforeAll(async () => {
      crowns = await startShop(anyBackend, { PLANS_FILE: plansWith({ currency: 'czk', periods: 'days' }) });
    });
    afterAll(() => crowns?.close());

    /** The amount of the newest invoice, after the period has passed. */
    async function renewal({ id }: User, customer: string) {
      crowns.passTime(30 * dayMs + 3 * 60 * 60_000);
      await crowns.membership.work();
      await crowns.membership.refresh(id);
      return (await crowns.stripe.client().invoices.list({ customer, limit: 1 })).data[0];
    }

    it('A first purchase of less than 15 crowns is announced as nothing due today and paid with the renewal', async () => {
      const stripe = crowns.stripe.client();
      const { id } = await stripe.coupons.create({ amount_off: 8_401, currency: 'czk', duration: 'once' });
      await stripe.promotionCodes.create({ code: 'NEARLY', promotion: { type: 'coupon', coupon: id } });
      const { user, customer } = await aBuyer(crowns);
      const browser = await crowns.foyer.signedIn(user);
      await browser.get('/plan-purchase/10');
      await browser.post('/plan-purchase/10', { act: 'promo', planId: '10', promo: 'NEARLY' });
      const html = await (await browser.get('/plan-purchase/10')).text();
      const words = wordsOf(html);
      expect(words).toContain('Too small to charge, added to your next payment −Kč 14.99');
      expect(words).toContain('Due today Kč 0.00');
      expect(words).toMatch(/Renews on \w+ \d+, \d{4} at Kč 113\.99/);
      const { action, fields } = mainForm(html);
      expect((await browser.post(action, fields)).status).toBe(303);
      expect(await standing(crowns, user)).toMatchObject({ paidPlanId: '10', balanceCents: 1_499 });
      expect(await renewal(user, customer)).toMatchObject({ currency: 'czk', amount_paid: 11_399, status: 'paid' });
    });

    it('A kept plan of which the credit leaves less than 15 crowns is announced at 0, and costs that', async () => {
      const { user, customer } = await aBuyer(crowns);
      await crowns.buy(user, 'm-99');
      await crowns.stripe.client().customers.update(customer, { balance: -8_401 });
      await crowns.membership.cancel(user);
      const browser = await crowns.foyer.signedIn(user);
      expect(await page(browser, `${path}/resume`)).toMatch(
        /at Kč 0\.00, as it did before\. Another Kč 84\.01 is paid from your credit\./,
      );
      await crowns.membership.resume(user);
      expect(await renewal(user, customer)).toMatchObject({ amount_paid: 0, ending_balance: 1_499 });
      expect(await standing(crowns, user)).toMatchObject({ nextCharge: { amountCents: 11_399 } });
    });
  });
});

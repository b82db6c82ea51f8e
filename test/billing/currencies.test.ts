import { page } from '../account/membership-steps.ts';
import { plansWith } from '../support/plans.ts';
import { anyBackend } from '../support/stores.ts';
import { aBuyer } from './api-steps.ts';
import { type Shop, startShop } from './steps.ts';

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

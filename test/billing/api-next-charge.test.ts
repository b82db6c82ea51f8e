import { listOrders } from '../../server/billing/index.ts';
import { standing } from '../account/membership-steps.ts';
import { aBuyer, type Buyer, chargedTo, starter } from './api-steps.ts';
import { wordsOf } from './checkout/shop.ts';
import { charges, hourMs, pass } from './pause-steps.ts';
import { forgetCards, startTrialShop } from './plan-trial-steps.ts';
import type { Shop } from './steps.ts';

/** Of 99 dollars 99.95 % leave 5 cents, and 99.7 % leave 30: Stripe charges at least 50. */
describe('what the JSON API says of later charges', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startTrialShop();
    const stripe = shop.stripe.client();
    await stripe.coupons.create({ id: 'ALMOST', percent_off: 99.95, duration: 'once' });
    await stripe.promotionCodes.create({ code: 'ALMOST', promotion: { type: 'coupon', coupon: 'ALMOST' } });
  });
  afterAll(() => shop?.close());

  const almost = {
    ...starter,
    amount: '0.00',
    discountCoupon: 'ALMOST',
    planDiscountVoucher: '98.95',
    amount_owed: '0.05',
  };

  /** A member to whom the page of the plan offers free days, with the code. */
  async function offeredFreeDays(): Promise<Buyer> {
    const buyer = await aBuyer(shop);
    await forgetCards(shop);
    await buyer.call('PUT', `/customer/signup/${buyer.subscription}`, { coupon: 'ALMOST', planId: '10' });
    const browser = await shop.foyer.signedIn(buyer.user);
    const words = wordsOf(await (await browser.get('/plan-purchase/10')).text());
    expect(words).toMatch(/14 days free/);
    return buyer;
  }

  async function renew({ user }: Buyer): Promise<number[]> {
    await pass(shop, ((await standing(shop, user)).periodEnd ?? 0) + 2 * hourMs);
    return charges(shop, user);
  }

  it('A code that leaves too little answers with what is owed and with the charge after it', async () => {
    const buyer = await aBuyer(shop);
    const path = `/customer/signup/${buyer.subscription}`;
    const { status, body } = await buyer.call('PUT', path, { coupon: 'ALMOST', planId: '10' });
    const next = { amount: '99.05', amount_owed: '0.00', credit_used: '0.00', tax: '0.00', regular_amount: '99.00' };
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { amount: '0.00', usedCredits: '0.00', amount_owed: '0.05', next_charge: next },
    });
    const bought = await buyer.call('POST', buyer.path, { ...almost, next_amount: '99.05' });
    expect(bought).toMatchObject({
      status: 200,
      body: { status: 'paid', amount: '0.00', amount_owed: '0.05', next_charge: next },
    });
    const { periodEnd } = await standing(shop, buyer.user);
    expect(bought.body.next_charge).toMatchObject({ at: periodEnd, discount_ends_at: null });
    expect(await buyer.call('POST', buyer.path, { ...almost, next_amount: '99.05' })).toEqual(bought);
    expect(await renew(buyer)).toEqual([0, 9_905]);
  });

  it('A next amount that is another gets 409 with the true one, and nothing is bought', async () => {
    const buyer = await offeredFreeDays();
    expect(await buyer.call('POST', buyer.path, { ...almost, next_amount: '99.00' })).toMatchObject({
      status: 409,
      body: { errors: [{ name: 'body.next_amount', detail: 'is 99.05', stored: '99.05' }] },
    });
    expect(await listOrders(shop.foyer.deps.database.db, buyer.user.id)).toEqual([]);
    expect(await chargedTo(shop, buyer.customer)).toEqual([]);
  });

  it('A plan that begins later answers with its first charge', async () => {
    const buyer = await aBuyer(shop);
    expect(await buyer.call('POST', buyer.path, { plan_name: 'm-499', amount: '499.00' })).toMatchObject({
      status: 200,
      body: { amount_owed: '0.00', next_charge: { amount: '499.00', regular_amount: '499.00' } },
    });
    const later = { plan_name: 'm-99', amount: '0.00' };
    expect(await buyer.call('POST', buyer.path, { ...later, next_amount: '98.00' })).toMatchObject({
      status: 409,
      body: { errors: [{ name: 'body.next_amount', detail: 'is 99.00' }] },
    });
    expect(await buyer.call('POST', buyer.path, { ...later, next_amount: 99 })).toMatchObject({
      status: 200,
      body: { status: 'scheduled', amount: '0.00', next_charge: { amount: '99.00' } },
    });
    expect(await renew(buyer)).toEqual([49_900, 9_900]);
  });
});

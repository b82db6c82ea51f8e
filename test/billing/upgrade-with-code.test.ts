import { diffWithStripe, listOrders } from '../../server/billing/index.ts';
import { anyBackend } from '../support/stores.ts';
import { aBuyer, type Buyer } from './api-steps.ts';
import { type ModeName, setBillingMode } from './billing-modes.ts';
import { mainForm, wordsOf } from './checkout/shop.ts';
import { type Shop, startShop } from './steps.ts';

describe('an upgrade with a promotion code', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(anyBackend, { CARD_LIMIT_ADDRESS: '100000', CARD_LIMIT_OVERALL: '100000' });
    const stripe = shop.stripe.client();
    for (const [code, percent_off] of [
      ['WELCOME20', 20],
      ['ALLOFF', 100],
    ] as const) {
      await stripe.coupons.create({ id: `off-${code}`, percent_off, duration: 'once' });
      await stripe.promotionCodes.create({ code, promotion: { type: 'coupon', coupon: `off-${code}` } });
    }
  });
  afterAll(() => shop?.close());

  const ordersOf = ({ user }: Buyer) => listOrders(shop.foyer.deps.database.db, user.id);

  /** A member with Starter, paid a moment ago. */
  async function starterMember(mode: ModeName): Promise<Buyer> {
    const buyer = await aBuyer(shop);
    setBillingMode(shop.stripe, buyer.subscription, mode);
    await shop.buy(buyer.user, 'm-99');
    return buyer;
  }

  /** What `billing diff` says of the buyer, without the billing mode. */
  async function differencesOf({ user }: Buyer) {
    const { left } = await diffWithStripe(shop.membership.deps, { pauseMs: 0 });
    return left.filter(({ userId, kind }) => userId === user.id && kind !== 'billing mode');
  }

  it.each<ModeName>(['itemized', 'included'])(
    'A code of 100 %% gives the plan, one order of 0.00 and the credit that the page names (%s)',
    async (mode) => {
      const buyer = await starterMember(mode);
      const browser = await shop.foyer.signedIn(buyer.user);
      await browser.get('/plan-purchase/12');
      const applied = await browser.post('/plan-purchase/12', { act: 'promo', planId: '12', promo: 'ALLOFF' });
      expect(applied.status).toBe(303);
      const html = await (await browser.get('/plan-purchase/12')).text();
      expect(wordsOf(html)).toMatch(/Kept as your credit \$99\.00 Due today \$0\.00/);
      const { action, fields } = mainForm(html);
      expect((await browser.post(action, fields)).status).toBe(303);
      expect((await shop.userNow(buyer.user)).planId).toBe('12');
      const [order, ...before] = await ordersOf(buyer);
      expect(before).toHaveLength(1);
      expect(order).toMatchObject({ planId: '12', paidCents: 0, voucher: 'ALLOFF' });
      if (mode === 'itemized') expect(order?.discountCents).toBe(49_900);
      expect((await shop.stripe.client().customers.retrieve(buyer.customer)) as unknown).toMatchObject({
        balance: -9_900,
      });
      expect(await differencesOf(buyer)).toEqual([]);
    },
  );

  it.each<ModeName>(['itemized', 'included'])(
    'An upgrade with a code of 20 %% is charged as its page announces, to the cent (%s)',
    async (mode) => {
      const buyer = await starterMember(mode);
      // A part of the period is used, so that the credit has cents to round.
      shop.passTime(7 * 24 * 60 * 60_000 + 61 * 60_000);
      const browser = await shop.foyer.signedIn(buyer.user);
      await browser.get('/plan-purchase/12');
      await browser.post('/plan-purchase/12', { act: 'promo', planId: '12', promo: 'WELCOME20' });
      const { action, fields } = mainForm(await (await browser.get('/plan-purchase/12')).text());
      const dueCents = Number(fields.dueCents);
      expect(dueCents).toBeGreaterThan(22_900);
      expect(dueCents).toBeLessThan(23_100);
      expect((await browser.post(action, fields)).status).toBe(303);
      const { data } = await shop.stripe.client().invoices.list({ customer: buyer.customer, limit: 1 });
      expect(data[0]).toMatchObject({ status: 'paid', amount_paid: dueCents });
      const [order] = await ordersOf(buyer);
      expect(order).toMatchObject({ paidCents: dueCents, voucher: 'WELCOME20' });
      expect(await differencesOf(buyer)).toEqual([]);
    },
  );

  it('A code of 100 % is shown by the JSON API as in the order', async () => {
    const buyer = await starterMember('itemized');
    const body = {
      plan_name: 'm-499',
      amount: '0.00',
      planDiscountVoucher: '499.00',
      recurDiscount: '0.00',
      discountCoupon: 'ALLOFF',
    };
    expect(await buyer.call('POST', buyer.path, body)).toMatchObject({
      status: 200,
      body: { status: 'paid', planId: '12', amount: '0.00' },
    });
    const [order] = await ordersOf(buyer);
    const { body: answer } = await buyer.call('POST', '/user/orderCreation', { invoiceId: order?.invoiceId });
    expect(answer).toMatchObject({
      data: { totalAmountPaid: '0.00', planDiscountVoucher: '499.00', discountCoupon: 'ALLOFF' },
    });
  });

  it('The page, the order, the receipt and the JSON API name the code and its discount', async () => {
    const buyer = await starterMember('itemized');
    const browser = await shop.foyer.signedIn(buyer.user);
    await browser.get('/plan-purchase/12');
    await browser.post('/plan-purchase/12', { act: 'promo', planId: '12', promo: 'WELCOME20' });
    const html = await (await browser.get('/plan-purchase/12')).text();
    expect(wordsOf(html)).toMatch(
      /Growth, every 30 days, until \w+ \d+, \d{4} \$499\.00 Promo code WELCOME20 Remove WELCOME20 −\$99\.80 Unused time of your plan −\$99\.00 Due today \$300\.20/,
    );
    const { action, fields } = mainForm(html);
    expect((await browser.post(action, fields)).status).toBe(303);
    const [order] = await ordersOf(buyer);
    expect(order).toMatchObject({ paidCents: 30_020, discountCents: 9_980, voucher: 'WELCOME20' });
    const { body } = await buyer.call('POST', '/user/orderCreation', { invoiceId: order?.invoiceId });
    expect(body).toMatchObject({ data: { planDiscountVoucher: '99.80', discountCoupon: 'WELCOME20' } });
    const receipts = (await shop.foyer.mails(buyer.user.email)).filter(({ template }) => template === 'receipt');
    expect(receipts.at(-1)?.values).toMatchObject({ discount: 9_980, totalAmount: 30_020 });
  });

  it('A credit is used by what is due, and the rest of it is not called kept', async () => {
    const buyer = await aBuyer(shop);
    await shop.stripe.client().customers.update(buyer.customer, { balance: -50_000 });
    const browser = await shop.foyer.signedIn(buyer.user);
    const words = wordsOf(await (await browser.get('/plan-purchase/10')).text());
    expect(words).toContain('Starter, every 30 days $99.00 Your credit −$99.00 Due today $0.00');
    expect(words).not.toContain('Kept as your credit');
  });
});

import type Stripe from 'stripe';
import { StripeUnavailableError } from '../../server/billing/index.ts';
import { quotePlan } from '../../server/billing/purchase/quote-plan.ts';
import { anyBackend } from '../support/stores.ts';
import { aBuyer, chargedTo } from './api-steps.ts';
import { mainForm, wordsOf } from './checkout/shop.ts';
import { type Shop, startShop } from './steps.ts';

describe('the lines of a purchase', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(anyBackend);
  });
  afterAll(() => shop?.close());

  it('An amount that is too small to charge is named, and the next purchase names it as owed', async () => {
    const stripe = shop.stripe.client();
    await stripe.coupons.create({ id: 'NEARLY', amount_off: 9_875, currency: 'usd', duration: 'once' });
    const buyer = await aBuyer(shop);
    const browser = await shop.foyer.signedIn(buyer.user);
    await browser.get('/plan-purchase/10');
    await browser.post('/plan-purchase/10', { act: 'promo', planId: '10', promo: 'NEARLY' });
    const html = await (await browser.get('/plan-purchase/10')).text();
    expect(wordsOf(html)).toContain(
      'Starter, every 30 days $99.00 Promo code NEARLY Remove NEARLY −$98.75 Too small to charge, added to your next payment −$0.25 Due today $0.00',
    );
    await browser.post('/plan-purchase/10', mainForm(html).fields);
    expect((await shop.userNow(buyer.user)).planId).toBe('10');
    const words = wordsOf(await (await browser.get('/plan-purchase/12')).text());
    expect(words).toMatch(
      /Growth, every 30 days, until \w+ \d+, \d{4} \$499\.00 Unused time of your plan −\$0\.25 Owed from before \$0\.25 Due today \$499\.00/,
    );
    expect(await chargedTo(shop, buyer.customer)).toEqual([]);
  });

  it('Nothing is announced, and nothing can be confirmed, while Stripe’s amounts do not add up', async () => {
    const { user } = await aBuyer(shop);
    const { deps } = shop.membership;
    const stripe = shop.stripe.client();
    const createPreview = stripe.invoices.createPreview.bind(stripe.invoices);
    stripe.invoices.createPreview = async (...args: Parameters<typeof createPreview>) => {
      const invoice: Stripe.Response<Stripe.Invoice> = await createPreview(...args);
      return Object.assign(invoice, { total: invoice.total - 100, amount_due: invoice.amount_due - 100 });
    };
    const wrong = { ...deps, stripe: async () => stripe };
    await expect(quotePlan(wrong, user, { plan: shop.plan('m-99'), promotion: null })).rejects.toThrow(
      StripeUnavailableError,
    );
    expect(await quotePlan(deps, user, { plan: shop.plan('m-99'), promotion: null })).toMatchObject({
      dueCents: 9_900,
    });
  });
});

import { plansByDays } from '../support/plans.ts';
import { anyBackend } from '../support/stores.ts';
import { aBuyer, type Buyer, chargedTo, starter } from './api-steps.ts';
import { wordsOf } from './checkout/shop.ts';
import { from, type Shop, startShop } from './steps.ts';
import { aBuyerIn, buyByPage, germany, lastSale, pageOf, startTaxedShop } from './tax-steps.ts';

describe('a place that Stripe does not know', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startTaxedShop('exclusive');
  });
  afterAll(() => shop?.close());

  const expectNothingSold = async (buyer: Buyer, planId: string | null = null) => {
    expect((await shop.userNow(buyer.user)).planId).toBe(planId);
    if (planId === null) expect(await chargedTo(shop, buyer.customer)).toEqual([]);
  };

  it('The page asks for the address and announces nothing', async () => {
    const buyer = await aBuyer(shop);
    const html = await pageOf(shop, buyer, '/plan-purchase/10');
    expect(wordsOf(html)).toContain('We need your address');
    expect(html).toContain('href="/plan-purchase/10/billingDetails"');
    expect(wordsOf(html)).not.toContain('Pay $');
    await expectNothingSold(buyer);
  });

  it('The field for a promotion code appears with the amounts, after the address', async () => {
    const buyer = await aBuyer(shop);
    expect(await pageOf(shop, buyer, '/plan-purchase/10')).not.toContain('name="promo"');
    await shop.stripe.client().customers.update(buyer.customer, { address: germany });
    expect(await pageOf(shop, buyer, '/plan-purchase/10')).toContain('name="promo"');
  });

  it.each([
    ['a page that was open', '/plan-purchase/10'],
    ['the payment page', '/plan-purchase/10/addPayment'],
  ])('A confirmation from %s asks for the address and charges nothing', async (_, path) => {
    const buyer = await aBuyer(shop);
    const browser = await shop.foyer.signedIn(buyer.user);
    await browser.get(path);
    const answer = await browser.post(path, { planId: '10', dueCents: '9900' });
    expect(answer.status).toBe(409);
    expect(wordsOf(await answer.text())).toContain('We need your address');
    await expectNothingSold(buyer);
  });

  it('The JSON API answers 409 and charges nothing', async () => {
    const buyer = await aBuyer(shop);
    const answer = await buyer.call('POST', buyer.path, starter);
    expect(answer).toMatchObject({ status: 409, body: { detail: 'A billing address is needed to calculate the tax' } });
    await expectNothingSold(buyer);
  });

  it('A place that becomes unknown after the page was shown charges nothing', async () => {
    const buyer = await aBuyerIn(shop);
    const { plan } = await shop.membership.choose(buyer.user, shop.plan('m-99'));
    const { dueCents } = await shop.membership.quote(buyer.user, plan, null);
    await shop.stripe.client().customers.update(buyer.customer, { address: '' });
    await expect(shop.membership.confirm(buyer.user, { planId: plan.id, dueCents }, from)).rejects.toThrow(
      'place of the user',
    );
    await expectNothingSold(buyer);
  });

  it('A change to a cheaper plan is refused, and the running plan stays as it is', async () => {
    const buyer = await aBuyerIn(shop);
    await buyByPage(shop, buyer, '12');
    await shop.stripe.client().customers.update(buyer.customer, { address: '' });
    const html = await pageOf(shop, buyer, '/plan-purchase/10');
    expect(wordsOf(html)).toContain('We need your address');
    const { schedule } = await shop.stripe.client().subscriptions.retrieve(buyer.subscription);
    expect(schedule).toBeNull();
    await expectNothingSold(buyer, '12');
  });
});

describe('tax rates that an operator has set by hand', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(anyBackend, { PLANS_FILE: plansByDays() });
  });
  afterAll(() => shop?.close());

  it('Their tax has a line, and never stands as kept credit', async () => {
    const buyer = await aBuyer(shop);
    const stripe = shop.stripe.client();
    const { id } = await stripe.taxRates.create({ display_name: 'VAT', percentage: 19, inclusive: false });
    await stripe.subscriptions.update(buyer.subscription, { default_tax_rates: [id] });
    const words = await buyByPage(shop, buyer, '10');
    expect(words).toContain('Starter, every 30 days $99.00 VAT 19% $18.81 Due today $117.81');
    expect(words).not.toContain('Kept as your credit');
    expect((await lastSale(shop, buyer)).order).toMatchObject({ paidCents: 11_781, taxCents: 1_881 });
  });
});

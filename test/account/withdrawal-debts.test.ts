import type Stripe from 'stripe';
import { aBuyer, type Buyer } from '../billing/api-steps.ts';
import { wordsOf } from '../billing/checkout/shop.ts';
import { fieldsWith } from '../billing/order-form.ts';
import { manyCards, type Shop, startShop } from '../billing/steps.ts';
import { buyByPage } from '../billing/tax-steps.ts';
import { plansWith } from '../support/plans.ts';
import { anyBackend } from '../support/stores.ts';

const path = '/settings/membership/withdraw';

/** Stripe charges at least 50 cents, and adds a smaller amount to the next charge: a debt until then. */
describe('a withdrawal around a debt', () => {
  let shop: Shop;
  let stripe: Stripe;
  beforeAll(async () => {
    const consumers = { withdrawalDays: 14 };
    shop = await startShop(anyBackend, { ...manyCards, PLANS_FILE: plansWith({ periods: 'days', consumers }) });
    stripe = shop.stripe.client();
    await stripe.coupons.create({ id: 'ALMOST', percent_off: 99.95, duration: 'once' });
    await stripe.promotionCodes.create({ code: 'ALMOST', promotion: { type: 'coupon', coupon: 'ALMOST' } });
  });
  afterAll(() => shop?.close());

  /** A member with this balance at Stripe: below 0 credit, above 0 owed. */
  async function withBalance(balance: number): Promise<Buyer> {
    const buyer = await aBuyer(shop);
    await (await shop.foyer.signedIn(buyer.user)).post('/plan-purchase/10/billingDetails', {
      country: 'DE',
      postal_code: '10115',
    });
    await stripe.customers.update(buyer.customer, { balance });
    return buyer;
  }

  async function balanceOf({ customer }: Buyer) {
    const found = await stripe.customers.retrieve(customer);
    return found.deleted ? undefined : found.balance;
  }

  /** @returns the words of the page, and the mail that confirms the receipt */
  async function withdraw({ user }: Buyer) {
    const browser = await shop.foyer.signedIn(user);
    const html = await (await browser.get(path)).text();
    const answer = await browser.post(path, fieldsWith(html, 'days'));
    expect(answer.headers.get('location')).toMatch(/withdrawn(\/9900\/usd)?$/);
    const mails = await shop.foyer.mails(user.email);
    const mail = mails.find(({ template }) => template === 'withdrawal-received')?.text ?? '';
    return { words: wordsOf(html), mail };
  }

  it('What the credit has paid is credit again, and the rest that was too small to be charged is not owed', async () => {
    const buyer = await withBalance(-9_880);
    expect(await buyByPage(shop, buyer, '10')).toContain('Too small to charge, added to your next payment −$0.20');
    expect(await balanceOf(buyer)).toBe(20);
    const { words, mail } = await withdraw(buyer);
    expect(words).toContain('$98.80 that was paid from your credit becomes your credit again.');
    expect(words).toContain('$0.20 that was to be added to your next payment isn’t charged.');
    expect(mail).toContain('Your credit again: $98.80');
    expect(mail).toContain('Isn’t charged: $0.20');
    expect(await balanceOf(buyer)).toBe(-9_880);
  });

  it('A purchase that was too small to be charged can be withdrawn from as its page says, and is not owed', async () => {
    const buyer = await withBalance(0);
    const page = await buyByPage(shop, buyer, '10', 'ALMOST');
    expect(page).toContain('Too small to charge, added to your next payment −$0.05');
    expect(page).toContain('You can withdraw within 14 days and get everything back.');
    const { words } = await withdraw(buyer);
    expect(words).toContain('$0.05 that was to be added to your next payment isn’t charged.');
    expect(words).not.toContain('credit');
    expect(await balanceOf(buyer)).toBe(0);
    expect((await shop.userNow(buyer.user)).planId).toBeNull();
  });

  it('A debt from before that the purchase has charged is not said to be given back, and the rest is', async () => {
    const buyer = await withBalance(20);
    const page = await buyByPage(shop, buyer, '10');
    expect(page).toContain('Owed from before $0.20');
    expect(page).toContain('Due today $99.20');
    const { words, mail } = await withdraw(buyer);
    expect(words).toContain('We give $99.00 back to your card.');
    expect(mail).toContain('We give back: $99.00');
    const { data } = await stripe.refunds.list({ limit: 1 });
    expect(data[0]).toMatchObject({ amount: 9_900, status: 'succeeded' });
    expect(await balanceOf(buyer)).toBe(0);
  });
});

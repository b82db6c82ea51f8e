import { aBuyer, type Buyer } from '../billing/api-steps.ts';
import { wordsOf } from '../billing/checkout/shop.ts';
import { manyCards, type Shop, startShop } from '../billing/steps.ts';
import { buyByPage } from '../billing/tax-steps.ts';
import { fieldsIn } from '../billing/year-with-refund-steps.ts';
import { plansWith } from '../support/plans.ts';
import { anyBackend } from '../support/stores.ts';

const path = '/settings/membership/cancel';

/** Stripe charges at least 50 cents, and adds a smaller amount to the next charge: a debt that outlasts the plan. */
describe.each(['prorated', 'period-end'] as const)('a cancellation around a debt, with %s', (cancel) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(anyBackend, { ...manyCards, PLANS_FILE: plansWith({ periods: 'days', cancel }) });
  });
  afterAll(() => shop?.close());

  async function balanceOf({ customer }: Buyer): Promise<number> {
    const found = await shop.stripe.client().customers.retrieve(customer);
    return found.deleted ? Number.NaN : found.balance;
  }

  /** Buys with this balance at Stripe, which is below 0 for credit, and cancels by the page. */
  async function cancelAfter(balance: number) {
    const who = await aBuyer(shop);
    await shop.stripe.client().customers.update(who.customer, { balance });
    await buyByPage(shop, who, '10');
    const before = await balanceOf(who);
    const browser = await shop.foyer.signedIn(who.user);
    const html = await (await browser.get(path)).text();
    expect((await browser.post(path, fieldsIn(html))).status).toBe(303);
    return { who, before, after: await balanceOf(who), words: wordsOf(html) };
  }

  const cents = (text = 'none') => Math.round(Number(text.replace(',', '')) * 100);

  it('The page says what becomes of a rest that was too small to be charged, and the balance is as it says', async () => {
    const { who, before, after, words } = await cancelAfter(-9_880);
    expect(before).toBe(20);
    expect(words).not.toContain('$0.00');
    if (cancel === 'prorated') {
      const credit = /\$(\d+\.\d\d) that was paid from your credit becomes your credit again\./.exec(words)?.[1];
      expect(words).toContain('$0.20 of it pays what was to be added to your next payment.');
      expect(after).toBe(20 - cents(credit));
      return;
    }
    expect(words).toContain(
      '$0.20 that was to be added to your next payment isn’t charged now. It’s added to a later purchase.',
    );
    expect(after).toBe(20);
    shop.passTime(31 * 24 * 60 * 60_000);
    await shop.membership.work();
    await shop.membership.refresh(who.user.id);
    expect(await buyByPage(shop, who, '10')).toContain('Owed from before $0.20');
  });

  it('Without a debt the page names none', async () => {
    const { words, after } = await cancelAfter(0);
    expect(words).not.toMatch(/was to be added/);
    expect(after).toBe(0);
  });
});

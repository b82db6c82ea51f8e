import type Stripe from 'stripe';
import { listOrders } from '../../server/billing/index.ts';
import { anyBackend } from '../support/stores.ts';
import { aBuyer, type Buyer } from './api-steps.ts';
import { wordsOf } from './checkout/shop.ts';
import { cards, dayMs, type Shop, startShop } from './steps.ts';
import { buyByPage } from './tax-steps.ts';

/** Three hours after the period's end: Stripe charges a renewal about an hour later. */
const laterMs = 3 * 60 * 60_000;

/** The announced renewal of a page. */
function announcedIn(words: string): string | undefined {
  return /Renews on (?:\w+ \d+, \d{4}) at (\$[\d,]+\.\d\d)/.exec(words)?.[1];
}

describe('the announced renewal', () => {
  let shop: Shop;
  let stripe: Stripe;
  beforeAll(async () => {
    shop = await startShop(anyBackend, { CARD_LIMIT_ADDRESS: '100000', CARD_LIMIT_OVERALL: '100000' });
    stripe = shop.stripe.client();
    const starter = (await stripe.prices.list({ lookup_keys: ['m-99'] })).data[0]?.product;
    const half = { percent_off: 50 };
    const coupons: Stripe.CouponCreateParams[] = [
      { id: 'THREE', ...half, duration: 'repeating', duration_in_months: 3 },
      { id: 'ONE', ...half, duration: 'repeating', duration_in_months: 1 },
      { id: 'STARTERHALF', ...half, duration: 'forever', applies_to: { products: [String(starter)] } },
      { id: 'ALWAYS', ...half, duration: 'forever' },
      { id: 'NEARLY', amount_off: 9_875, currency: 'usd', duration: 'once' },
      { id: 'FREEMONTH', percent_off: 100, duration: 'once' },
      { id: 'FREETHREE', percent_off: 100, duration: 'repeating', duration_in_months: 3 },
    ];
    for (const coupon of coupons) await stripe.coupons.create(coupon);
  });
  afterAll(() => shop?.close());

  const textOf = async (buyer: Buyer, path: string) =>
    wordsOf(await (await (await shop.foyer.signedIn(buyer.user)).get(path)).text());
  const membershipOf = async ({ user }: Buyer) => shop.membership.getMembership(user.id);

  /** The amount of the renewal, when the period has passed. */
  async function renewalOf(buyer: Buyer): Promise<number | undefined> {
    const end = (await membershipOf(buyer))?.periodEnd ?? 0;
    shop.passTime(end - shop.foyer.deps.now() + laterMs);
    await shop.membership.work();
    await shop.membership.refresh(buyer.user.id);
    const { data } = await stripe.invoices.list({ customer: buyer.customer, limit: 1 });
    expect(data[0]).toMatchObject({ billing_reason: 'subscription_cycle', status: 'paid' });
    return data[0]?.amount_paid;
  }

  it.each([
    ['a code for three months on a yearly plan', '11', 'THREE', 90_000],
    ['a code for one month', '10', 'ONE', undefined],
    ['a debt of a first purchase that was too small to charge', '10', 'NEARLY', 9_925],
    ['a code without an end', '10', 'ALWAYS', 4_950],
  ])(
    'The page before and after the purchase announces the renewal that is charged: %s',
    async (_name, planId, code, cents) => {
      const buyer = await aBuyer(shop);
      const announced = announcedIn(await buyByPage(shop, buyer, planId, code));
      expect(announcedIn(await textOf(buyer, '/settings/membership'))).toBe(announced);
      const charged = await renewalOf(buyer);
      expect(announced).toBe(`$${((charged ?? 0) / 100).toFixed(2)}`);
      if (cents !== undefined) expect(charged).toBe(cents);
    },
  );

  it('A code that is for another plan is not announced after an upgrade, and not shown beside the new plan', async () => {
    const buyer = await aBuyer(shop);
    await shop.buy(buyer.user, 'm-99');
    await stripe.subscriptions.update(buyer.subscription, { discounts: [{ coupon: 'STARTERHALF' }] });
    await shop.membership.refresh(buyer.user.id);
    expect(announcedIn(await textOf(buyer, '/settings/membership'))).toBe('$49.50');
    expect(await textOf(buyer, '/settings/membership')).toContain('50% off (STARTERHALF)');
    expect(announcedIn(await buyByPage(shop, buyer, '12'))).toBe('$499.00');
    const words = await textOf(buyer, '/settings/membership');
    expect(announcedIn(words)).toBe('$499.00');
    expect(words).not.toContain('STARTERHALF');
    expect(await renewalOf(buyer)).toBe(49_900);
  });

  it('A credit is announced as a part of the renewal', async () => {
    const buyer = await aBuyer(shop);
    await shop.buy(buyer.user, 'y-900');
    const words = await buyByPage(shop, buyer, '12');
    expect(words).toContain('Kept as your credit $401.00 Due today $0.00');
    expect(announcedIn(words)).toBe('$98.00');
    expect(words).toContain('Another $401.00 is paid from your credit.');
    expect(announcedIn(await textOf(buyer, '/settings/membership'))).toBe('$98.00');
    expect(await renewalOf(buyer)).toBe(9_800);
    expect(announcedIn(await textOf(buyer, '/settings/membership'))).toBe('$499.00');
  });

  it('No charge on or after the announced end of a discount has it, though it was redeemed later that day than the plan', async () => {
    const buyer = await aBuyer(shop);
    await shop.buy(buyer.user, 'm-99');
    shop.passTime(2 * 60 * 60_000);
    const words = await buyByPage(shop, buyer, '12', 'ONE');
    const { nextCharge } = (await membershipOf(buyer)) ?? {};
    expect(nextCharge).toMatchObject({ amountCents: 24_950, regularCents: 49_900 });
    const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
    expect(dayOf(nextCharge?.discountEndsAt ?? 0) > dayOf(nextCharge?.at ?? 0)).toBe(true);
    const shown = { year: 'numeric', month: 'long', day: 'numeric', timeZone: 'UTC' } as const;
    const end = new Date(nextCharge?.discountEndsAt ?? 0).toLocaleDateString('en-US', shown);
    expect(words).toContain(`discount ends on ${end}; after that, $499.00 is charged`);
    expect([await renewalOf(buyer), await renewalOf(buyer)]).toEqual([24_950, 49_900]);
  });

  it('A discount with an end is announced with the amount after it', async () => {
    const buyer = await aBuyer(shop);
    const words = await buyByPage(shop, buyer, '10', 'THREE');
    expect(announcedIn(words)).toBe('$49.50');
    expect(words).toMatch(/The discount ends on \w+ \d+, \d{4}; after that, \$99\.00 is charged\./);
    const [order] = await listOrders(shop.foyer.deps.database.db, buyer.user.id);
    expect(order).toMatchObject({ recurringDiscountCents: 4_950, planAmountCents: 9_900 });
  });

  it('A later plan is announced with what is charged for it then, on the page, in the mail and on the membership page', async () => {
    const buyer = await aBuyer(shop);
    await shop.buy(buyer.user, 'm-499');
    await stripe.customers.update(buyer.customer, { balance: -1_000 });
    await shop.membership.refresh(buyer.user.id);
    expect(await textOf(buyer, '/plan-purchase/10')).toMatch(/from \w+ \d+, \d{4} \$89\.00 .*Until then you keep /);
    expect(await shop.buy(buyer.user, 'm-99')).toMatchObject({ kind: 'scheduled' });
    expect(await membershipOf(buyer)).toMatchObject({ nextCharge: { amountCents: 8_900, creditUsedCents: 1_000 } });
    const mails = await shop.foyer.mails(buyer.user.email);
    expect(mails.findLast(({ template }) => template === 'plan-changes')?.values).toMatchObject({ amountCents: 8_900 });
    for (let day = 0; day < 30; day += 1) {
      shop.passTime(dayMs);
      await shop.membership.work();
    }
    expect(await membershipOf(buyer)).toMatchObject({ nextCharge: { amountCents: expect.any(Number) } });
    shop.passTime(laterMs);
    await shop.membership.refresh(buyer.user.id);
    const { data } = await stripe.invoices.list({ customer: buyer.customer, limit: 1 });
    expect(data[0]).toMatchObject({ amount_paid: 8_900, status: 'paid' });
  });

  it('A later plan of which the credit leaves less than Stripe charges is announced at $0.00, and costs that', async () => {
    const buyer = await aBuyer(shop);
    await shop.buy(buyer.user, 'm-499');
    await stripe.customers.update(buyer.customer, { balance: -9_872 });
    await shop.membership.refresh(buyer.user.id);
    expect(await textOf(buyer, '/plan-purchase/10')).toMatch(/from \w+ \d+, \d{4} \$0\.00 .*Until then you keep /);
    expect(await shop.buy(buyer.user, 'm-99')).toMatchObject({ kind: 'scheduled' });
    expect(await membershipOf(buyer)).toMatchObject({ nextCharge: { amountCents: 0, creditUsedCents: 9_872 } });
    expect(await renewalOf(buyer)).toBe(0);
    expect(await membershipOf(buyer)).toMatchObject({ nextCharge: { amountCents: 9_928 } });
  });

  it('A later plan is announced with the credit that an upgrade holds while it waits for the bank', async () => {
    const buyer = await aBuyer(shop);
    await shop.buy(buyer.user, 'm-499');
    await stripe.customers.update(buyer.customer, { balance: -1_000 });
    await shop.membership.refresh(buyer.user.id);
    await shop.saveCard(buyer.user, cards.authenticatesAlways);
    expect(await shop.buy(buyer.user, 'm-899')).toMatchObject({ kind: 'action' });
    expect(await membershipOf(buyer)).toMatchObject({ balanceCents: 0 });
    expect(await textOf(buyer, '/plan-purchase/10')).toMatch(/from \w+ \d+, \d{4} \$89\.00 .*Until then you keep /);
    expect(await shop.buy(buyer.user, 'm-99')).toMatchObject({ kind: 'scheduled' });
    await shop.saveCard(buyer.user);
    expect(await membershipOf(buyer)).toMatchObject({ nextCharge: { amountCents: 8_900, creditUsedCents: 1_000 } });
    expect(await renewalOf(buyer)).toBe(8_900);
  });

  it.each([
    ['a code for three months', 'm-99', 'THREE', 0, '$49.50'],
    ['a code that ends before the renewal', 'y-900', 'ONE', 0, '$900.00'],
    ['a code without an end', 'm-499', 'ALWAYS', 0, '$249.50'],
    ['a credit', 'm-99', undefined, -1_000, '$89.00'],
  ])(
    'The page that takes an end back announces the renewal that is charged then: %s',
    async (_name, plan, coupon, balance, announced) => {
      const buyer = await aBuyer(shop);
      await shop.buy(buyer.user, plan);
      if (coupon) await stripe.subscriptions.update(buyer.subscription, { discounts: [{ coupon }] });
      await stripe.customers.update(buyer.customer, { balance });
      await shop.membership.cancel(buyer.user);
      const words = await textOf(buyer, '/settings/membership/resume');
      expect(/ at (\$[\d,]+\.\d\d), as it did before/.exec(words)?.[1]).toBe(announced);
      await shop.membership.resume(buyer.user);
      expect(`$${(((await renewalOf(buyer)) ?? 0) / 100).toFixed(2)}`).toBe(announced);
    },
  );

  it('The membership page names day and amount of the first payment of a scheduled plan', async () => {
    const buyer = await aBuyer(shop);
    await shop.buy(buyer.user, 'm-499');
    await stripe.customers.update(buyer.customer, { balance: -1_000 });
    await shop.buy(buyer.user, 'm-99');
    expect(await textOf(buyer, '/settings/membership')).toMatch(
      /Next payment \w+ \d+, \d{4} at \$89\.00\. Another \$10\.00 is paid from your credit\./,
    );
    expect(await renewalOf(buyer)).toBe(8_900);
  });

  it('A button that charges nothing today says “from” only of an amount that each later charge has', async () => {
    const buttonOf = async (code?: string, balance = 0) => {
      const buyer = await aBuyer(shop);
      await stripe.customers.update(buyer.customer, { balance });
      const browser = await shop.foyer.signedIn(buyer.user);
      await browser.get('/plan-purchase/10');
      if (code) await browser.post('/plan-purchase/10', { act: 'promo', planId: '10', promo: code });
      const html = await (await browser.get('/plan-purchase/10')).text();
      const words = wordsOf(html);
      return {
        html,
        words,
        button: /Pay \$[\d.,]+ (?:from|on|every) [\w, ]+?(?= Cancel| Change|$|\d{4}) ?(?:\d{4})?/
          .exec(words)?.[0]
          .trim(),
      };
    };
    // What was too small to charge is owed with the first renewal alone.
    const small = await buttonOf('NEARLY');
    expect(small.button).toMatch(/^Pay \$99\.25 on /);
    expect(small.words).toContain('at $99.25. After that, $99.00 is charged.');
    expect(small.html).not.toMatch(/class="saves"><dt>Too small/);
    expect(small.html).toMatch(/class="saves"><dt>Promo/);
    expect((await buttonOf('FREEMONTH')).button).toMatch(/^Pay \$99\.00 every 30 days from /);
    // A discount on the first charges alone: the amount after it is the one that is owed.
    expect((await buttonOf('FREETHREE')).button).toMatch(/^Pay \$99\.00 every 30 days from /);
    expect((await buttonOf(undefined, -15_000)).button).toMatch(/^Pay \$48\.00 on /);
    expect((await buttonOf(undefined, -40_000)).button).toBe('Pay $99.00 every 30 days');
  });

  it('A sync asks for the next charge again only when something has changed at Stripe', async () => {
    const buyer = await aBuyer(shop);
    await shop.buy(buyer.user, 'm-99');
    let previews = 0;
    shop.stripe.observe(({ path }) => {
      if (path === '/v1/invoices/create_preview') previews += 1;
    });
    await shop.membership.refresh(buyer.user.id);
    await shop.membership.refresh(buyer.user.id);
    expect(previews).toBe(0);
    await stripe.customers.update(buyer.customer, { balance: -500 });
    await shop.membership.refresh(buyer.user.id);
    expect(previews).toBe(1);
    expect(await membershipOf(buyer)).toMatchObject({ nextCharge: { amountCents: 9_400 } });
    await shop.membership.cancel(buyer.user);
    expect(await membershipOf(buyer)).toMatchObject({ nextCharge: null });
  });
});

import type Stripe from 'stripe';
import { anyBackend } from '../support/stores.ts';
import { aBuyer, type Buyer } from './api-steps.ts';
import { wordsOf } from './checkout/shop.ts';
import { type Shop, startShop } from './steps.ts';
import { buyByPage, lastSale, pageOf } from './tax-steps.ts';

/** Three hours after the period's end: Stripe charges a renewal about an hour later. */
const laterMs = 3 * 60 * 60_000;

const dueIn = (words: string) => /Due today (\$[\d,]+\.\d\d)/.exec(words)?.[1];
const renewalIn = (words: string) =>
  /(?:Renews on|Next payment) (?:\w+ \d+, \d{4}) at (\$[\d,]+\.\d\d)/.exec(words)?.[1];
const inDollars = (cents: number | undefined) => `$${((cents ?? Number.NaN) / 100).toFixed(2)}`;

describe('a discount that an operator has given the customer at Stripe', () => {
  let shop: Shop;
  let stripe: Stripe;
  beforeAll(async () => {
    shop = await startShop(anyBackend, { CARD_LIMIT_ADDRESS: '100000', CARD_LIMIT_OVERALL: '100000' });
    stripe = shop.stripe.client();
    const coupons: Stripe.CouponCreateParams[] = [
      { id: 'FRIEND', percent_off: 50, duration: 'forever' },
      { id: 'FRIENDONCE', percent_off: 50, duration: 'once' },
      { id: 'FRIENDTWO', percent_off: 50, duration: 'repeating', duration_in_months: 2 },
      { id: 'TEN', percent_off: 10, duration: 'forever' },
      { id: 'TENONCE', percent_off: 10, duration: 'once' },
      { id: 'TOOMUCH', amount_off: 30_000, currency: 'usd', duration: 'forever' },
    ];
    for (const coupon of coupons) await stripe.coupons.create(coupon);
  });
  afterAll(() => shop?.close());

  /** A member whose customer has a coupon, as the product has read it. */
  async function aFriend(coupon: string): Promise<Buyer> {
    const buyer = await aBuyer(shop);
    await befriend(buyer, coupon);
    return buyer;
  }

  async function befriend({ customer, user }: Buyer, coupon: string | null): Promise<void> {
    shop.stripe.engine.discountCustomer(customer, coupon);
    await shop.membership.refresh(user.id);
  }

  const textOf = async (buyer: Buyer, path: string) => wordsOf(await pageOf(shop, buyer, path));
  const chargedTo = async (buyer: Buyer) => (await lastSale(shop, buyer)).invoice.amount_paid;

  async function renewalOf(buyer: Buyer): Promise<number> {
    const { periodEnd } = (await shop.membership.getMembership(buyer.user.id)) ?? {};
    shop.passTime((periodEnd ?? 0) - shop.foyer.deps.now() + laterMs);
    await shop.membership.work();
    await shop.membership.refresh(buyer.user.id);
    const { invoice } = await lastSale(shop, buyer);
    expect(invoice).toMatchObject({ billing_reason: 'subscription_cycle', status: 'paid' });
    return invoice.amount_paid;
  }

  it.each<[string, string, string | undefined, string | undefined, number[]]>([
    ['for ever', 'FRIEND', undefined, undefined, [4_950, 4_950, 4_950]],
    ['once', 'FRIENDONCE', undefined, undefined, [4_950, 9_900]],
    ['for two months', 'FRIENDTWO', undefined, undefined, [4_950, 4_950, 9_900]],
    ['for ever, beside a lasting code', 'FRIEND', 'TEN', undefined, [8_910, 8_910]],
    ['for ever, beside a code for one charge', 'FRIEND', 'TENONCE', undefined, [8_910, 4_950, 4_950]],
    ['once, beside a code for one charge', 'FRIENDONCE', 'TENONCE', undefined, [8_910, 4_950, 9_900]],
    ['for ever, and a leftover of an earlier attempt on the subscription', 'FRIEND', undefined, 'TEN', [4_950, 4_950]],
    ['once, and a leftover of an earlier attempt on the subscription', 'FRIENDONCE', undefined, 'TEN', [4_950, 9_900]],
  ])(
    'The checkout and the membership page announce the amounts that are charged to a customer with a discount: %s',
    async (_name, coupon, code, leftover, charges) => {
      const buyer = await aFriend(coupon);
      if (leftover) {
        await stripe.subscriptions.update(buyer.subscription, { discounts: [{ coupon: leftover }] });
        await shop.membership.refresh(buyer.user.id);
      }
      const words = await buyByPage(shop, buyer, '10', code);
      expect(dueIn(words)).toBe(inDollars(charges[0]));
      expect(await chargedTo(buyer)).toBe(charges[0]);
      expect(renewalIn(words)).toBe(inDollars(charges[1]));
      for (const cents of charges.slice(1)) {
        expect(renewalIn(await textOf(buyer, '/settings/membership'))).toBe(inDollars(cents));
        expect(await renewalOf(buyer)).toBe(cents);
      }
    },
  );

  it('The plan page and the order name the discount of the customer', async () => {
    const buyer = await aFriend('FRIEND');
    const words = await buyByPage(shop, buyer, '10');
    expect(words).toContain('Promo code FRIEND −$49.50');
    expect((await lastSale(shop, buyer)).order).toMatchObject({
      voucher: 'FRIEND',
      discountCents: 4_950,
      recurringDiscountCents: 4_950,
    });
    expect(await textOf(buyer, '/settings/membership')).toContain('50% off (FRIEND)');
  });

  it('An upgrade of a customer with a discount charges the announced amount, and renews at the announced one', async () => {
    const buyer = await aFriend('FRIEND');
    await shop.buy(buyer.user, 'm-99');
    const words = await buyByPage(shop, buyer, '12');
    expect(dueIn(words)).toBe(inDollars(await chargedTo(buyer)));
    expect(renewalIn(words)).toBe('$249.50');
    expect(await renewalOf(buyer)).toBe(24_950);
  });

  it.each<[string, string, string | undefined, string]>([
    ['the discount of the customer alone', 'FRIEND', undefined, '$49.50'],
    ['a lasting discount of the subscription comes first', 'FRIEND', 'TEN', '$89.10'],
    ['one that is too high for the plan leaves that of the customer', 'FRIEND', 'TOOMUCH', '$49.50'],
    ['one for a single charge that has not come yet', 'FRIENDONCE', undefined, '$49.50'],
  ])(
    'A scheduled change charges a customer with a discount what was announced: %s',
    async (_name, coupon, own, announced) => {
      const buyer = await aBuyer(shop);
      await shop.buy(buyer.user, 'm-499');
      if (own) await stripe.subscriptions.update(buyer.subscription, { discounts: [{ coupon: own }] });
      await befriend(buyer, coupon);
      expect(await textOf(buyer, '/plan-purchase/10')).toMatch(
        new RegExp(`, from \\w+ \\d+, \\d{4} ${announced.replace('$', '\\$')} .*Until then you keep `),
      );
      expect(await shop.buy(buyer.user, 'm-99')).toMatchObject({ kind: 'scheduled' });
      expect(renewalIn(await textOf(buyer, '/settings/membership'))).toBe(announced);
      expect(inDollars(await renewalOf(buyer))).toBe(announced);
    },
  );

  it('A discount that an operator gives or takes later changes the announced renewal by its event alone', async () => {
    const buyer = await aBuyer(shop);
    await shop.buy(buyer.user, 'm-99');
    shop.stripe.tell(shop.foyer.url);
    shop.stripe.webhooks.mode = 'held';
    shop.stripe.webhooks.drop();
    for (const [coupon, announced] of [
      ['FRIEND', '$49.50'],
      [null, '$99.00'],
    ] as const) {
      shop.stripe.engine.discountCustomer(buyer.customer, coupon);
      await shop.stripe.webhooks.deliver();
      await shop.membership.work();
      expect(renewalIn(await textOf(buyer, '/settings/membership'))).toBe(announced);
    }
    expect(await renewalOf(buyer)).toBe(9_900);
  });

  it('A discount of the subscription that ends is not announced with a regular amount if that of the customer follows', async () => {
    const buyer = await aBuyer(shop);
    await shop.buy(buyer.user, 'm-99');
    await stripe.subscriptions.update(buyer.subscription, { discounts: [{ coupon: 'TENONCE' }] });
    await befriend(buyer, 'FRIEND');
    const words = await textOf(buyer, '/settings/membership');
    expect(renewalIn(words)).toBe('$89.10');
    expect(words).not.toContain('$99.00 is charged');
    expect([await renewalOf(buyer), await renewalOf(buyer)]).toEqual([8_910, 4_950]);
  });
});

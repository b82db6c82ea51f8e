import type Stripe from 'stripe';
import type { User } from '../../server/users/index.ts';
import { cards, from, manyCards, type Shop, startShop } from '../billing/steps.ts';
import { anyBackend } from '../support/stores.ts';

/** A shop for the tests of one file, with promotion codes. */
export function setUpPromoCodes() {
  let shop: Shop;
  let stripe: Stripe;
  beforeAll(async () => {
    shop = await startShop(anyBackend, { ...manyCards, CARD_LIMIT_MEMBER: '1000' });
    stripe = shop.stripe.client();
  });
  afterAll(() => shop?.close());

  const standing = ({ id }: User) => shop.membership.getMembership(id);
  const customerOf = async (user: User) => (await shop.membership.ensure(user, 7)).customerId ?? '';
  async function member(number: string = cards.visa): Promise<User> {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user, number);
    return user;
  }
  const taken = async (user: User) => {
    const { data } = await stripe.invoices.list({ customer: await customerOf(user), status: 'paid', limit: 100 });
    return data.flatMap(({ amount_paid: cents }) => (cents > 0 ? [cents] : [])).reverse();
  };
  const discountsOf = async (user: User) =>
    (await stripe.subscriptions.retrieve((await standing(user))?.subscriptionId ?? '')).discounts.length;

  let made = 0;
  async function code(
    coupon: Stripe.CouponCreateParams,
    more: Partial<Stripe.PromotionCodeCreateParams> = {},
  ): Promise<{ word: string; coupon: string }> {
    made += 1;
    const word = more.code ?? `CODE${made}`;
    const { id } = await stripe.coupons.create({ duration: 'once', ...coupon });
    await stripe.promotionCodes.create({ ...more, code: word, promotion: { type: 'coupon', coupon: id } });
    return { word, coupon: id };
  }
  async function apply(user: User, planCode: string, word: string) {
    await shop.membership.choose(user, shop.plan(planCode));
    return shop.membership.applyPromotion(user, word, from);
  }
  async function buyWith(user: User, planCode: string, word: string) {
    expect(await apply(user, planCode, word)).toMatchObject({ kind: 'applied' });
    return shop.buy(user, planCode);
  }
  return {
    get shop() {
      return shop;
    },
    get stripe() {
      return stripe;
    },
    standing,
    customerOf,
    member,
    taken,
    discountsOf,
    code,
    apply,
    buyWith,
  };
}

import type Stripe from 'stripe';
import type { User } from '../../server/users/index.ts';
import { cards, from } from '../billing/steps.ts';
import { setUpPlans } from './plan-steps.ts';

/** A shop for the tests of one file, with promotion codes. */
export function setUpPromoCodes() {
  const plans = setUpPlans();
  const customerOf = async (user: User) => (await plans.shop.membership.ensure(user, 7)).customerId ?? '';
  async function member(number: string = cards.visa): Promise<User> {
    const user = await plans.shop.foyer.addUser();
    await plans.shop.saveCard(user, number);
    return user;
  }
  const taken = async (user: User) => {
    const { data } = await plans.stripe.invoices.list({ customer: await customerOf(user), status: 'paid', limit: 100 });
    return data.flatMap(({ amount_paid: cents }) => (cents > 0 ? [cents] : [])).reverse();
  };
  const discountsOf = async (user: User) =>
    (await plans.stripe.subscriptions.retrieve((await plans.standing(user))?.subscriptionId ?? '')).discounts.length;

  let made = 0;
  async function code(
    coupon: Stripe.CouponCreateParams,
    more: Partial<Stripe.PromotionCodeCreateParams> = {},
  ): Promise<{ word: string; coupon: string }> {
    made += 1;
    const word = more.code ?? `CODE${made}`;
    const { id } = await plans.stripe.coupons.create({ duration: 'once', ...coupon });
    await plans.stripe.promotionCodes.create({ ...more, code: word, promotion: { type: 'coupon', coupon: id } });
    return { word, coupon: id };
  }
  async function apply(user: User, planCode: string, word: string) {
    await plans.shop.membership.choose(user, plans.shop.plan(planCode));
    return plans.shop.membership.applyPromotion(user, word, from);
  }
  async function buyWith(user: User, planCode: string, word: string) {
    expect(await apply(user, planCode, word)).toMatchObject({ kind: 'applied' });
    return plans.shop.buy(user, planCode);
  }
  return {
    get shop() {
      return plans.shop;
    },
    get stripe() {
      return plans.stripe;
    },
    standing: plans.standing,
    customerOf,
    member,
    taken,
    discountsOf,
    code,
    apply,
    buyWith,
  };
}

import { StripeUnavailableError } from '../../server/membership/index.ts';
import { anyBackend } from '../support/stores.ts';
import { dayMs, type Shop, startShop } from './steps.ts';

let shop: Shop;
beforeAll(async () => {
  shop = await startShop(anyBackend);
});
afterAll(() => shop?.close());

const customersOf = async (userId: string) => {
  const { data } = await shop.stripe.client().customers.list({ limit: 100 });
  return data.filter(({ metadata }) => metadata.foyer_user === userId).map(({ id }) => id);
};
const asking = (what: string) => (method: string, path: string) => method === 'POST' && path === `/v1/${what}`;

describe('a 500 of Stripe, which it says again for a day under the same key', () => {
  it('while a customer is made: the next try asks anew, and there is one customer', async () => {
    const user = await shop.foyer.addUser();
    shop.stripe.fault('kept-error', asking('customers'));
    await expect(shop.membership.ensure(user, 7)).rejects.toThrow(StripeUnavailableError);
    const { customerId } = await shop.membership.ensure(user, 7);
    expect(await customersOf(user.id)).toEqual([customerId]);
  });

  it('after which the customer is there all the same: it is found, and no second one made', async () => {
    const user = await shop.foyer.addUser();
    const { id } = await shop.stripe.client().customers.create({ metadata: { foyer_user: user.id } });
    shop.stripe.fault('kept-error', asking('customers'));
    expect(await shop.membership.ensure(user, 7)).toMatchObject({ customerId: id, status: 'trialing' });
    expect(await customersOf(user.id)).toEqual([id]);
  });

  it('while a subscription is made: the same, and the trial is as long as it was', async () => {
    const user = await shop.foyer.addUser();
    shop.stripe.fault('kept-error', asking('subscriptions'));
    await expect(shop.membership.ensure(user, 7)).rejects.toThrow(StripeUnavailableError);
    const { customerId, trialEnd } = await shop.membership.ensure(user, 7);
    expect((trialEnd ?? 0) - shop.foyer.deps.now()).toBeGreaterThan(6.9 * dayMs);
    const { data } = await shop.stripe.client().subscriptions.list({ customer: customerId ?? '' });
    expect(data).toHaveLength(1);
  });

  it('and a lost answer still is asked for with the same key', async () => {
    const user = await shop.foyer.addUser();
    shop.stripe.fault('lost', asking('customers'));
    await expect(shop.membership.ensure(user, 7)).rejects.toThrow(StripeUnavailableError);
    const [made] = await customersOf(user.id);
    expect((await shop.membership.ensure(user, 7)).customerId).toBe(made);
    expect(await customersOf(user.id)).toEqual([made]);
  });
});

import { StripeUnavailableError } from '../../server/billing/index.ts';
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

describe('a status 500 of Stripe, which Stripe repeats for a day under the same key', () => {
  it('A 500 while a customer is created leads to a new request and one customer', async () => {
    const user = await shop.foyer.addUser();
    shop.stripe.fault('kept-error', asking('customers'));
    await expect(shop.membership.ensure(user, 7)).rejects.toThrow(StripeUnavailableError);
    const { customerId } = await shop.membership.ensure(user, 7);
    expect(await customersOf(user.id)).toEqual([customerId]);
  });

  it('A 500 after which the customer exists leads to that customer and no second one', async () => {
    const user = await shop.foyer.addUser();
    const { id } = await shop.stripe.client().customers.create({ metadata: { foyer_user: user.id } });
    shop.stripe.fault('kept-error', asking('customers'));
    expect(await shop.membership.ensure(user, 7)).toMatchObject({ customerId: id, status: 'trialing' });
    expect(await customersOf(user.id)).toEqual([id]);
  });

  it('A 500 while a subscription is created leads to one subscription with the full trial', async () => {
    const user = await shop.foyer.addUser();
    shop.stripe.fault('kept-error', asking('subscriptions'));
    await expect(shop.membership.ensure(user, 7)).rejects.toThrow(StripeUnavailableError);
    const { customerId, trialEnd } = await shop.membership.ensure(user, 7);
    expect((trialEnd ?? 0) - shop.foyer.deps.now()).toBeGreaterThan(6.9 * dayMs);
    const { data } = await shop.stripe.client().subscriptions.list({ customer: customerId ?? '' });
    expect(data).toHaveLength(1);
  });

  it('A customer whose creation was one request too many for Stripe is created by the next one', async () => {
    const user = await shop.foyer.addUser();
    shop.stripe.fault('rate-limit', asking('customers'));
    await expect(shop.membership.ensure(user, 7)).rejects.toThrow(StripeUnavailableError);
    expect(await customersOf(user.id)).toEqual([]);
    const { customerId } = await shop.membership.ensure(user, 7);
    expect(await customersOf(user.id)).toEqual([customerId]);
  });

  it('A customer whose answer was lost more than a day ago is found by a search, and no second one is created', async () => {
    const user = await shop.foyer.addUser();
    shop.stripe.fault('lost', asking('customers'));
    await expect(shop.membership.ensure(user, 7)).rejects.toThrow(StripeUnavailableError);
    const made = await customersOf(user.id);
    shop.passTime(1.5 * dayMs);
    const searched: string[] = [];
    shop.stripe.observe(({ path }) => searched.push(path));
    expect((await shop.membership.ensure(user, 7)).customerId).toBe(made[0]);
    expect(searched).toContain('/v1/customers/search');
    expect(await customersOf(user.id)).toEqual(made);
  });

  it('A lost answer is requested again with the same key', async () => {
    const user = await shop.foyer.addUser();
    shop.stripe.fault('lost', asking('customers'));
    await expect(shop.membership.ensure(user, 7)).rejects.toThrow(StripeUnavailableError);
    const [made] = await customersOf(user.id);
    expect((await shop.membership.ensure(user, 7)).customerId).toBe(made);
    expect(await customersOf(user.id)).toEqual([made]);
  });
});

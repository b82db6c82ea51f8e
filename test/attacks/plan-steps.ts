import type Stripe from 'stripe';
import type { User } from '../../server/users/index.ts';
import { cards, manyCards, type Shop, startShop } from '../billing/steps.ts';
import { anyBackend } from '../support/stores.ts';

/** A shop with the plans of the sandbox, and what a test reads of one user here and at Stripe. */
export function setUpPlans() {
  let shop: Shop;
  let stripe: Stripe;
  beforeAll(async () => {
    shop = await startShop(anyBackend, { ...manyCards, CARD_LIMIT_MEMBER: '1000' });
    stripe = shop.stripe.client();
  });
  afterAll(() => shop?.close());

  const db = () => shop.foyer.deps.database;
  const standing = ({ id }: User) => shop.membership.getMembership(id);
  const planOf = async (user: User) => (await shop.userNow(user)).planId;
  async function buyer(code: string, number: string = cards.visa): Promise<User> {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user, number);
    expect(await shop.buy(user, code)).toMatchObject({ kind: 'paid' });
    return user;
  }
  /** Every payment of the user, in cents. */
  const taken = async (user: User) => {
    const customer = (await standing(user))?.customerId ?? '';
    const { data } = await stripe.invoices.list({ customer, status: 'paid', limit: 100 });
    return data.flatMap(({ amount_paid: cents }) => (cents > 0 ? [cents] : []));
  };
  /** The dependencies with a Stripe client whose next change of a subscription waits for `go`. */
  async function heldBack() {
    const { deps } = shop.membership;
    const client = await deps.stripe();
    const at = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    const update: typeof client.subscriptions.update = async (...said) => {
      at.resolve();
      await go.promise;
      return client.subscriptions.update(...said);
    };
    const subscriptions = Object.create(client.subscriptions, { update: { value: update } });
    const slow = Object.create(client, { subscriptions: { value: subscriptions } }) as typeof client;
    return { deps: { ...deps, stripe: async () => slow }, at: at.promise, go: go.resolve };
  }

  return {
    get shop() {
      return shop;
    },
    get stripe() {
      return stripe;
    },
    db,
    standing,
    planOf,
    buyer,
    taken,
    heldBack,
  };
}

import type Stripe from 'stripe';
import { diffWithStripe, listOrders } from '../../server/billing/index.ts';
import type { User } from '../../server/users/index.ts';
import { type Cli, cliOf } from '../support/cli.ts';
import { anyBackend } from '../support/stores.ts';
import { manyCards, type Shop, startShop } from './steps.ts';

/** Starts a shop for the tests of a file; after each test nothing may differ from Stripe. */
export function prepareComparison() {
  let shop: Shop;
  let stripe: Stripe;
  let operator: Cli;
  beforeAll(async () => {
    shop = await startShop(anyBackend, manyCards);
    stripe = shop.stripe.client();
    operator = cliOf(shop.foyer, shop.stripe.environment());
  });
  afterAll(() => shop?.close());
  // A test leaves no difference behind for the next one.
  afterEach(async () => {
    expect((await reconcile()).left).toEqual([]);
    const known = await db().selectFrom('memberships').select('customerId').execute();
    await db().deleteFrom('memberships').execute();
    for (const { customerId: id } of known) if (id !== null) await stripe.customers.del(id);
  });

  const db = () => shop.foyer.deps.database.db;
  const orders = ({ id }: User) => listOrders(db(), id);
  const standing = async ({ id }: User) => shop.membership.getMembership(id);
  const diff = () => diffWithStripe(shop.membership.deps, { pauseMs: 0 });
  const reconcile = () => shop.membership.reconcile({ pauseMs: 0 });
  async function buyer(code = 'm-99'): Promise<User> {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    expect(await shop.buy(user, code)).toMatchObject({ kind: 'paid' });
    return user;
  }
  const priceOf = async (key: string) => (await stripe.prices.list({ lookup_keys: [key] })).data[0]?.id ?? '';
  /** A customer with a card, made by hand. */
  async function customerAtStripe(metadata: Record<string, string> = {}): Promise<{ id: string; card: string }> {
    const { id } = await stripe.customers.create({ metadata });
    const card = await stripe.paymentMethods.attach('pm_card_visa', { customer: id });
    return { id, card: card.id };
  }
  const subscribe = async (customer: string, card: string, key = 'm-99', metadata: Record<string, string> = {}) =>
    stripe.subscriptions.create({
      customer,
      items: [{ price: await priceOf(key) }],
      billing_mode: { type: 'flexible', flexible: { proration_discounts: 'itemized' } },
      default_payment_method: card,
      metadata,
    });
  /** Passes the minutes in which a new customer may still be unknown to Foyer. */
  const later = () => shop.passTime(11 * 60_000);

  return {
    shop: () => shop,
    stripe: () => stripe,
    operator: (...argv: string[]) => operator(...argv),
    db,
    orders,
    standing,
    diff,
    reconcile,
    buyer,
    priceOf,
    customerAtStripe,
    subscribe,
    later,
  };
}

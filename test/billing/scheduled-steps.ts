import type Stripe from 'stripe';
import { listTasks } from '../../server/billing/jobs/task-store.ts';
import type { User } from '../../server/users/index.ts';
import { anyBackend } from '../support/stores.ts';
import { cards, dayMs, manyCards, type Shop, startShop } from './steps.ts';

/** A shop whose members change their plans at the end of a period, and what a test reads of one of them. */
export function setUpChanges() {
  let shop: Shop;
  let stripe: Stripe;
  beforeAll(async () => {
    shop = await startShop(anyBackend, { ...manyCards, CARD_LIMIT_MEMBER: '1000' });
    stripe = shop.stripe.client();
    shop.stripe.tell(shop.foyer.url);
    shop.stripe.webhooks.mode = 'held';
  });
  beforeEach(() => shop.stripe.webhooks.drop());
  afterAll(() => shop?.close());

  const database = () => shop.foyer.deps.database;
  const standing = async ({ id }: User) => {
    const membership = await shop.membership.getMembership(id);
    if (!membership?.subscriptionId) throw new Error('the member has no subscription');
    return { ...membership, subscriptionId: membership.subscriptionId };
  };
  const planOf = async (user: User) => (await shop.userNow(user)).planId;
  async function buyer(code = 'm-899', number: string = cards.visa): Promise<User> {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user, number);
    expect(await shop.buy(user, code)).toMatchObject({ kind: 'paid' });
    return user;
  }
  async function downgraded(): Promise<User> {
    const user = await buyer();
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'scheduled', plan: { id: '10' } });
    return user;
  }
  const subscriptionOf = async (user: User) => {
    const { subscriptionId } = await standing(user);
    return stripe.subscriptions.retrieve(subscriptionId, { expand: ['schedule'] });
  };
  /** Every payment of the user in cents, the newest first. */
  const paid = async (user: User) => {
    const customer = (await shop.membership.getMembership(user.id))?.customerId ?? '';
    const { data } = await stripe.invoices.list({ customer, status: 'paid', limit: 100 });
    return data.flatMap(({ amount_paid: cents }) => (cents > 0 ? [cents] : []));
  };
  const planMails = async ({ email }: User) =>
    (await shop.foyer.mails(email)).map(({ template }) => template).filter((template) => template.startsWith('plan-'));
  const waiting = async ({ id }: User) => (await listTasks(database().db, id)).map(({ kind }) => kind);
  async function daysPass(days: number): Promise<void> {
    for (let day = 0; day < days; day += 1) {
      shop.passTime(dayMs);
      await shop.membership.work();
    }
  }

  return {
    get shop() {
      return shop;
    },
    get stripe() {
      return stripe;
    },
    database,
    standing,
    planOf,
    buyer,
    downgraded,
    subscriptionOf,
    paid,
    planMails,
    waiting,
    daysPass,
  };
}

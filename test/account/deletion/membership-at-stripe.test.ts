import type Stripe from 'stripe';
import type { User } from '../../../server/users/index.ts';
import { type Shop, startShop } from '../../billing/steps.ts';
import { toStripeCustomerId } from '../../support/ids.ts';
import { anyBackend } from '../../support/stores.ts';
import { askToLeave, dayMs, operatorOf } from './steps.ts';

describe('deletion of a member with a plan: calls to Stripe', () => {
  let shop: Shop;
  let stripe: Stripe;
  beforeAll(async () => {
    shop = await startShop(anyBackend);
    stripe = shop.stripe.client();
  });
  afterAll(() => shop?.close());

  const member = async (code = 'm-99') => {
    const user = await shop.foyer.addUser();
    await shop.membership.ensure(user, 7);
    await shop.saveCard(user);
    await shop.buy(user, code);
    return user;
  };
  const leave = async (user: User, fields: Record<string, string> = {}) => {
    await askToLeave(await shop.foyer.signedIn(user), fields);
    await shop.membership.work();
  };
  const stay = async (user: User) => {
    await shop.foyer.signedIn(user);
    await shop.membership.work();
  };
  const standing = async ({ id }: User) => {
    const found = await shop.membership.getMembership(id);
    if (!found) throw new Error('nothing is known of the member');
    return found;
  };
  const subscriptionOf = async (user: User) =>
    stripe.subscriptions.retrieve((await standing(user)).subscriptionId ?? '');

  it('The subscription of a member who leaves ends with its period, and continues when the member stays', async () => {
    const user = await member();
    await leave(user);
    expect(await subscriptionOf(user)).toMatchObject({ status: 'active', cancel_at_period_end: true });
    await stay(user);
    expect(await subscriptionOf(user)).toMatchObject({ status: 'active', cancel_at_period_end: false });
    expect(await standing(user)).toMatchObject({ paidPlanId: '10', nextPlanId: null, cancelAtPeriodEnd: false });
  });

  it('An operator’s deletion at once ends the subscription and deletes the customer at Stripe', async () => {
    const [user, waiting] = [await member(), await member()];
    const { subscriptionId, customerId } = await standing(user);
    const cli = operatorOf(shop.foyer);
    expect(await cli('user', 'delete', user.email, '--now', '--yes')).toMatchObject({ code: 0 });
    expect(await cli('user', 'delete', waiting.email)).toMatchObject({ code: 0 });
    await shop.membership.work();
    expect(await stripe.subscriptions.retrieve(subscriptionId ?? '')).toMatchObject({ status: 'canceled' });
    expect(await stripe.customers.retrieve(customerId ?? '')).toMatchObject({ deleted: true });
    expect(await subscriptionOf(waiting)).toMatchObject({ status: 'active', cancel_at_period_end: true });
  });

  it('A scheduled cheaper plan is dropped when the member leaves and restored when the member stays', async () => {
    const user = await member('m-499');
    await shop.buy(user, 'm-99');
    expect(await standing(user)).toMatchObject({ nextPlanId: '10' });
    await leave(user);
    expect(await standing(user)).toMatchObject({ nextPlanId: null, cancelAtPeriodEnd: true });
    await stay(user);
    expect(await standing(user)).toMatchObject({ nextPlanId: '10', paidPlanId: '12' });
  });

  it('A plan that is ended at once is gone, charges nothing more and does not return when the member stays', async () => {
    const user = await member();
    const { subscriptionId } = await standing(user);
    await leave(user, { membership: 'at-once' });
    expect(await stripe.subscriptions.retrieve(subscriptionId ?? '')).toMatchObject({ status: 'canceled' });
    await stay(user);
    expect((await shop.userNow(user)).planId).toBeNull();
  });

  it('A member can leave while Stripe is away, and Stripe gets the change later', async () => {
    const user = await member();
    const browser = await shop.foyer.signedIn(user);
    let away = true;
    for (let tries = 0; tries < 10; tries += 1) shop.stripe.fault('unreachable', () => away);
    expect((await askToLeave(browser)).headers.get('location')).toBe('/account-deletion');
    await shop.membership.work();
    away = false;
    expect(await subscriptionOf(user)).toMatchObject({ cancel_at_period_end: false });
    shop.foyer.passTime(2 * 60_000);
    await shop.membership.work();
    expect(await subscriptionOf(user)).toMatchObject({ cancel_at_period_end: true });
  });

  it('Erasure deletes the customer at Stripe, and the orders keep what was paid but not by whom', async () => {
    const user = await member();
    const { customerId } = await standing(user);
    await leave(user);
    shop.foyer.passTime(14 * dayMs + 1);
    await shop.foyer.app.deletion.work();
    expect(await shop.membership.getMembership(user.id)).toBeUndefined();
    await shop.membership.work();
    expect(await stripe.customers.retrieve(customerId ?? '')).toMatchObject({ deleted: true });
    const orders = await shop.foyer.deps.database.db
      .selectFrom('orders')
      .selectAll()
      .where('customerId', '=', toStripeCustomerId(customerId ?? ''))
      .execute();
    expect(orders).toMatchObject([{ userId: null, card: null, paidCents: 9_900 }]);
    expect(await shop.foyer.deps.database.db.selectFrom('billingTasks').selectAll().execute()).toEqual([]);
  });
});

import { type ReconcileResult, StripeUnavailableError } from '../../server/billing/index.ts';
import { reconcileDaily } from '../../server/billing/jobs/comparison.ts';
import { addBillingTask } from '../../server/billing/jobs/task-store.ts';
import type { User } from '../../server/users/index.ts';
import { type StripeInvoiceId, toPlanId, toStripeCustomerId, toStripeInvoiceId, toUserId } from '../support/ids.ts';
import { type ModeName, setBillingMode } from './billing-modes.ts';
import { prepareComparison } from './reconcile-steps.ts';
import { cards, dayMs } from './steps.ts';

describe('comparison of Foyer with Stripe', () => {
  const { shop, stripe, db, orders, standing, diff, reconcile, buyer, priceOf, customerAtStripe, subscribe, later } =
    prepareComparison();
  const summary = ({ left }: Pick<ReconcileResult, 'left'>) => left.map(({ kind }) => kind);

  it('Members in every state show no difference', async () => {
    const trying = await shop().foyer.addUser();
    await shop().membership.ensure(trying, 7);
    const users = [await buyer(), await buyer('y-900'), await buyer('m-899')];
    await shop().buy(users[2] as User, 'm-99');
    await shop().membership.cancel(users[1] as User);
    await shop().saveCard(users[0] as User, cards.mastercard);
    const found = await diff();
    expect(found).toEqual({ compared: 4, repaired: [], left: [] });
    expect(await reconcile()).toEqual(found);
  });

  it('Renewals and failures without a webhook are found, left unchanged by the diff and repaired by reconcile', async () => {
    const [renewed, failed] = [await buyer(), await buyer()];
    const card = (await standing(failed))?.card?.paymentMethodId ?? '';
    shop().stripe.engine.setCardBehaviour(card, cards.chargeDeclined);
    shop().passTime(30 * dayMs + 60_000);
    const before = await diff();
    const of = (user: User) =>
      before.left.filter(({ userId }) => userId === user.id).map(({ kind, detail }) => `${kind} ${detail}`);
    expect(of(renewed)).toEqual(expect.arrayContaining([expect.stringMatching(/^order missing in_/)]));
    expect(of(failed)).toEqual(expect.arrayContaining(['membership status: active here, past_due at Stripe']));
    expect(await orders(renewed)).toHaveLength(1);
    expect(await standing(failed)).toMatchObject({ status: 'active' });
    const { repaired, left } = await reconcile();
    expect(left).toEqual([]);
    expect(repaired.length).toBeGreaterThanOrEqual(before.left.length);
    expect(await orders(renewed)).toHaveLength(2);
    expect(await standing(failed)).toMatchObject({ status: 'past_due' });
    expect((await diff()).left).toEqual([]);
  });

  it.each<ModeName>(['included', 'classic'])(
    'A subscription in the billing mode %s is a difference, and reconcile migrates it without a charge',
    async (mode) => {
      const user = await buyer();
      setBillingMode(shop().stripe, (await standing(user))?.subscriptionId, mode);
      const detail = mode === 'classic' ? 'classic' : 'flexible, included';
      expect((await diff()).left).toMatchObject([{ kind: 'billing mode', userId: user.id, detail }]);
      const before = await stripe().invoices.list();
      expect(await reconcile()).toMatchObject({ repaired: [{ kind: 'billing mode' }], left: [] });
      const { subscriptionId } = (await standing(user)) ?? {};
      expect((await stripe().subscriptions.retrieve(subscriptionId ?? '')).billing_mode).toMatchObject({
        type: 'flexible',
        flexible: { proration_discounts: 'itemized' },
      });
      expect((await stripe().invoices.list()).data).toHaveLength(before.data.length);
      expect((await diff()).left).toEqual([]);
    },
  );

  it('Manual changes in the database are repaired: a plan that was not paid, an order that was lost', async () => {
    const user = await buyer();
    await db()
      .updateTable('users')
      .set({ planId: toPlanId('15') })
      .where('id', '=', user.id)
      .execute();
    await db()
      .updateTable('memberships')
      .set({ paidPlanId: toPlanId('15') })
      .where('userId', '=', user.id)
      .execute();
    await db().deleteFrom('orders').where('userId', '=', user.id).execute();
    expect(summary(await diff()).toSorted()).toEqual(['membership', 'order missing']);
    const { repaired, left } = await reconcile();
    expect({ repaired: repaired.length, left }).toEqual({ repaired: 2, left: [] });
    expect((await shop().userNow(user)).planId).toBe('10');
    expect(await orders(user)).toHaveLength(1);
    await db()
      .updateTable('users')
      .set({ planId: toPlanId('15') })
      .where('id', '=', user.id)
      .execute();
    expect((await diff()).left).toMatchObject([{ kind: 'plan', detail: 'plan: 15, not 10' }]);
    await reconcile();
    expect((await shop().userNow(user)).planId).toBe('10');
  });

  it('A customer whose creation lost its answer is assigned to the user', async () => {
    const user = await shop().foyer.addUser();
    shop().stripe.fault('lost', (method, path) => method === 'POST' && path === '/v1/customers');
    await expect(shop().membership.ensure(user, 7)).rejects.toThrow();
    expect(await standing(user)).toMatchObject({ customerId: null });
    expect((await diff()).left).toEqual([]);
    later();
    expect((await diff()).left).toMatchObject([{ kind: 'customer unknown here', userId: user.id }]);
    expect(await reconcile()).toMatchObject({ repaired: [{ kind: 'customer unknown here' }], left: [] });
    const { customerId } = (await standing(user)) ?? {};
    expect(customerId).toMatch(/^cus_/);
    expect(await shop().membership.ensure(user, 7)).toMatchObject({ customerId, status: 'trialing' });
  });

  it('A refund without a webhook is recorded, and the member is notified once', async () => {
    const user = await buyer();
    const [order] = await orders(user);
    shop().stripe.engine.refund(order?.invoiceId ?? '', 900);
    for (const _ of [1, 2]) await reconcile();
    expect(await orders(user)).toMatchObject([{ refundedCents: 900 }]);
    const mails = (await shop().foyer.mails(user.email)).filter(({ template }) => template === 'refund-made');
    expect(mails.map(({ values }) => values.amountCents)).toEqual([900]);
  });

  describe('differences that need an operator are reported and left alone', () => {
    it('An action that is not finished is reported: a task, or a purchase to which the member has not returned', async () => {
      const user = await buyer();
      const about = { kind: 'cancel-later', userId: user.id, customerId: null } as const;
      await shop().foyer.deps.database.transaction((trx) => addBillingTask(trx, about, shop().foyer.deps.now()));
      const unfinished = async () =>
        (await diff()).left.filter(({ kind, userId }) => kind === 'act unfinished' && userId === user.id);
      expect(await unfinished()).toEqual([]);
      shop().passTime(3 * 60_000);
      expect(await unfinished()).toMatchObject([{ detail: 'cancel-later' }]);
      await shop().membership.work();
      expect(await unfinished()).toEqual([]);
      await shop().membership.choose(user, shop().plan('m-499'));
      const { db } = shop().foyer.deps.database;
      await db.updateTable('purchases').set({ state: 'charging' }).where('openFor', '=', user.id).execute();
      shop().passTime(70 * 60_000);
      expect(await unfinished()).toMatchObject([{ detail: 'purchase of 12' }]);
      await db.deleteFrom('purchases').where('openFor', '=', user.id).execute();
    });

    it('Two subscriptions of one member are reported', async () => {
      const user = await buyer();
      const { customerId, card, subscriptionId } = (await standing(user)) ?? {};
      const second = await subscribe(customerId ?? '', card?.paymentMethodId ?? '');
      const { left } = await reconcile();
      const kinds = left.filter(({ userId }) => userId === user.id);
      expect(kinds).toMatchObject([{ kind: 'two subscriptions', customerId }]);
      expect(kinds[0]?.detail.split(' ').toSorted()).toEqual([second.id, subscriptionId].toSorted());
      expect(await stripe().subscriptions.retrieve(second.id)).toMatchObject({ status: 'active' });
      await stripe().subscriptions.cancel(second.id);
    });

    it('A price of no plan is reported', async () => {
      const user = await buyer();
      const { subscriptionId } = (await standing(user)) ?? {};
      const product = await stripe().products.create({ name: 'Workshop' });
      const recurring = { interval: 'day', interval_count: 30 } as const;
      const price = await stripe().prices.create({ product: product.id, currency: 'usd', unit_amount: 100, recurring });
      const subscription = await stripe().subscriptions.retrieve(subscriptionId ?? '');
      const item = subscription.items.data[0]?.id ?? '';
      const change = (to: string) =>
        stripe().subscriptions.update(subscription.id, {
          items: [{ id: item, price: to }],
          proration_behavior: 'none',
        });
      await change(price.id);
      expect((await reconcile()).left).toMatchObject([{ kind: 'price of no plan', userId: user.id }]);
      await change(await priceOf('m-99'));
    });

    it('An order without an invoice or with another amount is reported', async () => {
      const user = await buyer();
      const [order] = await orders(user);
      const change = (values: { invoiceId?: StripeInvoiceId; paidCents?: number }) =>
        db()
          .updateTable('orders')
          .set(values)
          .where('id', '=', order?.id ?? '')
          .execute();
      await change({ paidCents: 1 });
      expect((await reconcile()).left).toMatchObject([
        { kind: 'order amount', detail: `${order?.invoiceId}: 1 here, 9900 at Stripe` },
      ]);
      await change({ paidCents: 9_900, invoiceId: toStripeInvoiceId('in_made_up') });
      const { left, repaired } = await reconcile();
      expect(left).toMatchObject([{ kind: 'order without invoice', detail: 'in_made_up' }]);
      expect(repaired).toMatchObject([{ kind: 'order missing' }]);
      await db().deleteFrom('orders').where('invoiceId', '=', toStripeInvoiceId('in_made_up')).execute();
    });

    it('Customers of no user, second customers and subscriptions made by hand are reported', async () => {
      const user = await buyer();
      const withoutUser = await customerAtStripe({ foyer_user: '01a46aee-0000-7000-8000-000000000000' });
      const second = await customerAtStripe({ foyer_user: user.id });
      const own = await customerAtStripe();
      const { id } = await subscribe(own.id, own.card, 'm-99', { foyer_user: user.id });
      const other = await customerAtStripe({ shop: 'another' });
      await subscribe(other.id, other.card);
      later();
      const found = async () => (await reconcile()).left.map(({ kind, detail }) => `${kind} ${detail}`).toSorted();
      expect(await found()).toEqual([
        `customer of nobody ${withoutUser.id}`,
        `second customer ${second.id}`,
        `subscription unknown here ${id}`,
      ]);
      // A customer whose deletion waits is not unknown.
      const about = {
        kind: 'delete-customer',
        userId: toUserId('gone'),
        customerId: toStripeCustomerId(withoutUser.id),
      } as const;
      await shop().foyer.deps.database.transaction((trx) => addBillingTask(trx, about, shop().foyer.deps.now()));
      expect(await found()).toHaveLength(2);
      await shop().membership.work();
      await stripe().customers.del(second.id);
      await stripe().customers.del(own.id);
      expect(await found()).toEqual([]);
    });

    it('A member whom Stripe cannot answer about does not delay the others', async () => {
      const [one, other] = [await buyer(), await buyer()];
      await db().updateTable('users').set({ planId: null }).where('id', '=', other.id).execute();
      const { customerId } = (await standing(one)) ?? {};
      shop().stripe.fault('error', (method, path) => method === 'GET' && path === `/v1/customers/${customerId}`);
      shop().stripe.fault('error', (method, path) => method === 'GET' && path === `/v1/customers/${customerId}`);
      const { left, repaired } = await reconcile();
      expect(left).toMatchObject([{ kind: 'not compared', userId: one.id }]);
      expect(repaired).toMatchObject([{ kind: 'plan', userId: other.id }]);
    });
  });

  describe('the daily comparison', () => {
    const look = (shouldContinue?: () => Promise<boolean>) => reconcileDaily(shop().membership.deps, shouldContinue);
    const spoil = (users: readonly User[]) =>
      db()
        .updateTable('users')
        .set({ planId: toPlanId('15') })
        .where(
          'id',
          'in',
          users.map(({ id }) => id),
        )
        .execute();
    const planNow = async (user: User) => (await shop().userNow(user)).planId;

    it('The comparison runs once a day in one process, and again at once when Stripe was away', async () => {
      const user = await buyer();
      await spoil([user]);
      shop().stripe.fault('error', (method, path) => method === 'GET' && path === '/v1/customers');
      await expect(look()).rejects.toThrow(StripeUnavailableError);
      expect(await planNow(user)).toBe('15');
      await look();
      expect(await planNow(user)).toBe('10');
      await spoil([user]);
      shop().passTime(23 * 60 * 60_000);
      await look();
      expect(await planNow(user)).toBe('15');
      shop().passTime(60 * 60_000);
      await look();
      expect(await planNow(user)).toBe('10');
    });

    it('The gauge counts the differences that all parts of an interrupted comparison have left', async () => {
      const { metrics } = shop().membership.deps;
      const told: (number | undefined)[] = [];
      const { reconciled } = metrics;
      Object.assign(metrics, { reconciled: (_repaired: number, left: number | undefined) => void told.push(left) });
      const { customerId } = (await standing(await buyer())) ?? {};
      shop().passTime(dayMs);
      shop().stripe.fault('error', (method, path) => method === 'GET' && path === `/v1/customers/${customerId}`);
      await look(async () => false);
      await look();
      Object.assign(metrics, { reconciled });
      expect(told).toEqual([undefined, 1]);
    });

    it('A comparison that was interrupted goes on after the last compared member', async () => {
      const [first, last] = [await buyer(), await buyer()];
      shop().passTime(dayMs);
      await spoil([first, last]);
      // Another process takes over after the first batch.
      await db()
        .updateTable('billingProgress')
        .set({ position: first.id, at: shop().foyer.deps.now() })
        .where('name', '=', 'comparison')
        .execute();
      await look(async () => false);
      expect([await planNow(first), await planNow(last)]).toEqual(['15', '10']);
      const left = await db()
        .selectFrom('billingProgress')
        .select('position')
        .where('name', '=', 'comparison')
        .execute();
      expect(left).toEqual([{ position: last.id }]);
      await look();
      expect(await planNow(first)).toBe('15');
      shop().passTime(dayMs);
      await look();
      expect(await planNow(first)).toBe('10');
    });
  });
});

import { listOrders } from '../../server/billing/index.ts';
import { addBillingTask, type BillingTaskKind, listTasks } from '../../server/billing/jobs/task-store.ts';
import type { User } from '../../server/users/index.ts';
import { toPlanId, toStripeCustomerId } from '../support/ids.ts';
import { anyBackend } from '../support/stores.ts';
import { cards, dayMs, from, manyCards, type Shop, startShop } from './steps.ts';

const minuteMs = 60_000;

describe('billing tasks at Stripe', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(anyBackend, manyCards);
  });
  afterAll(() => shop?.close());

  const database = () => shop.foyer.deps.database;
  const standing = async ({ id }: User) => shop.membership.getMembership(id);
  const orders = ({ id }: User) => listOrders(database().db, id);
  async function buyer(code = 'm-99', number: string = cards.visa): Promise<User> {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user, number);
    await shop.buy(user, code);
    return user;
  }
  async function decide(user: User, kind: BillingTaskKind): Promise<string> {
    const customerId = (await standing(user))?.customerId ?? toStripeCustomerId('');
    const about = { kind, userId: user.id, customerId };
    await database().transaction((trx) => addBillingTask(trx, about, shop.foyer.deps.now()));
    return customerId;
  }
  const waiting = async () => (await database().db.selectFrom('billingTasks').selectAll().execute()).length;

  it('A task ends a plan at once', async () => {
    const user = await buyer();
    await decide(user, 'cancel-now');
    await shop.membership.work();
    expect(await standing(user)).toMatchObject({ status: 'canceled', subscriptionId: null });
    expect((await shop.userNow(user)).planId).toBeNull();
    expect(await waiting()).toBe(0);
    await decide(user, 'cancel-now');
    await shop.membership.work();
    expect(await waiting()).toBe(0);
  });

  it('A task ends a plan with its period, and another continues it when the member stays', async () => {
    const user = await buyer();
    await decide(user, 'cancel-later');
    await shop.membership.work();
    expect(await standing(user)).toMatchObject({ status: 'active', cancelAtPeriodEnd: true });
    await decide(user, 'keep');
    await shop.membership.work();
    expect(await standing(user)).toMatchObject({ status: 'active', cancelAtPeriodEnd: false });
    await decide(user, 'keep');
    await shop.membership.work();
    expect(await waiting()).toBe(0);
    shop.passTime(31 * dayMs);
    await shop.membership.refresh(user.id);
    expect(await orders(user)).toHaveLength(2);
  });

  it('A plan with an unpaid renewal ends at once, and its invoice is no longer due', async () => {
    const user = await buyer();
    shop.stripe.engine.setCardBehaviour((await standing(user))?.card?.paymentMethodId ?? '', cards.chargeDeclined);
    shop.passTime(30 * dayMs + 60 * minuteMs);
    const { unpaid } = (await shop.membership.refresh(user.id)) ?? {};
    await decide(user, 'cancel-later');
    await shop.membership.work();
    expect(await standing(user)).toMatchObject({ status: 'canceled', subscriptionId: null, unpaid: null });
    const invoices = await shop.membership.invoices(user);
    expect(invoices.find(({ id }) => id === unpaid?.invoiceId)).toMatchObject({ status: 'void', paidCents: 0 });
  });

  it.each([1, 28])('A member who leaves is not charged for the plan that was to follow (day %i)', async (day) => {
    const user = await buyer('m-499');
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'scheduled' });
    shop.passTime(day * dayMs);
    await shop.membership.work();
    const { membership, now } = shop.foyer.app.deletion;
    expect(await membership.findRenewing(user.id, now())).toMatchObject({ planName: 'Growth' });
    await decide(user, 'cancel-later');
    await shop.membership.work();
    expect(await standing(user)).toMatchObject({ cancelAtPeriodEnd: true, nextPlanId: null });
    shop.passTime(31 * dayMs);
    await shop.membership.refresh(user.id);
    expect(await standing(user)).toMatchObject({ status: 'canceled' });
    expect(await orders(user)).toHaveLength(1);
  });

  it('A task that waited for its turn does not do what was withdrawn in the meantime', async () => {
    const user = await buyer();
    await decide(user, 'cancel-later');
    // The job has read the task and waits, as an act of the member has the turn.
    const { createLease } = await import('../../server/store/index.ts');
    const turn = createLease(database(), `billing:${user.id}`, { ttlMs: 10_000, now: Date.now });
    await turn.acquire();
    const job = shop.membership.work();
    const { db } = database();
    await db.deleteFrom('billingTasks').where('userId', '=', user.id).execute();
    await turn.release();
    await job;
    expect(await standing(user)).toMatchObject({ status: 'active', cancelAtPeriodEnd: false });
  });

  it('A task deletes the customer of an erased user without knowing the user', async () => {
    const user = await buyer();
    const customerId = await decide(user, 'delete-customer');
    expect(await listTasks(database().db, user.id)).toEqual([]);
    await shop.membership.work();
    expect(await shop.stripe.client().customers.retrieve(customerId)).toMatchObject({ deleted: true });
    expect(await waiting()).toBe(0);
  });

  it('A task that failed while Stripe was away is retried, later each time, until it is done', async () => {
    const user = await buyer();
    await decide(user, 'cancel-now');
    const away = () => shop.stripe.fault('error', (method, path) => method === 'GET' && path === '/v1/subscriptions');
    away();
    await shop.membership.work();
    const [task] = await listTasks(database().db, user.id);
    expect(task).toMatchObject({ attempts: 1, lastError: expect.stringContaining('error') });
    expect(await standing(user)).toMatchObject({ status: 'active' });
    // Not before its time.
    await shop.membership.work();
    expect(await standing(user)).toMatchObject({ status: 'active' });
    shop.passTime(2 * minuteMs);
    away();
    await shop.membership.work();
    expect(await listTasks(database().db, user.id)).toMatchObject([{ attempts: 2 }]);
    shop.passTime(3 * minuteMs);
    await shop.membership.work();
    expect(await waiting()).toBe(0);
    expect(await standing(user)).toMatchObject({ status: 'canceled' });
  });

  it('A task whose answer is lost is done once', async () => {
    const user = await buyer();
    await decide(user, 'cancel-now');
    shop.stripe.fault('lost', (method) => method === 'DELETE');
    await shop.membership.work();
    shop.passTime(2 * minuteMs);
    await shop.membership.work();
    expect(await waiting()).toBe(0);
    expect(await standing(user)).toMatchObject({ status: 'canceled' });
  });

  describe('a payment to which the member has not returned', () => {
    /** Its answer is lost, and the member closes the page. */
    async function left(match: (method: string, path: string) => boolean, number: string = cards.visa): Promise<User> {
      const user = await shop.foyer.addUser();
      await shop.saveCard(user, number);
      await shop.membership.choose(user, shop.plan('m-99'));
      shop.stripe.fault('lost', match);
      const announced = { planId: toPlanId('10'), dueCents: 9_900 };
      await expect(shop.membership.confirm(user, announced, from)).rejects.toThrow();
      return user;
    }
    const charge = (method: string, path: string) => method === 'POST' && /^\/v1\/subscriptions\/sub_\w+$/.test(path);

    it('A payment that succeeded without the member’s return gives the plan and an order', async () => {
      const user = await left(charge);
      expect((await shop.userNow(user)).planId).toBeNull();
      await shop.membership.work();
      expect(await orders(user)).toEqual([]);
      shop.passTime(3 * minuteMs);
      await shop.membership.work();
      expect((await shop.userNow(user)).planId).toBe('10');
      expect(await orders(user)).toMatchObject([{ paidCents: 9_900 }]);
      expect(await shop.membership.purchase(user.id)).toBeUndefined();
    });

    it.each([cards.authenticatesAlways, cards.chargeDeclined])(
      'A payment that waits for the member (%s) is cancelled after an hour, so that no later charge happens',
      async (number) => {
        const user = await left(charge, number);
        shop.passTime(30 * minuteMs);
        await shop.membership.work();
        expect(await shop.membership.purchase(user.id)).toMatchObject({ state: 'charging' });
        shop.passTime(40 * minuteMs);
        await shop.membership.work();
        expect(await shop.membership.purchase(user.id)).toMatchObject({ state: 'open' });
        expect(await standing(user)).toMatchObject({ pending: null });
        const { data } = await shop.stripe
          .client()
          .invoices.list({ customer: (await standing(user))?.customerId ?? '' });
        expect(data.filter(({ status, total }) => status === 'open' && total > 0)).toEqual([]);
        expect(await orders(user)).toEqual([]);
        // And can begin anew.
        await shop.saveCard(user);
        expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'paid' });
        expect(await orders(user)).toHaveLength(1);
      },
    );
  });
});

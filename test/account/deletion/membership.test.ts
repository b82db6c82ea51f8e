import { addBillingTask, completeTask, listDueTasks, rescheduleTask } from '../../../server/billing/jobs/task-store.ts';
import type { User } from '../../../server/users/index.ts';
import { startFoyer, type TestFoyer } from '../../support/foyer.ts';
import { toPlanId, toStripeCustomerId, toUserId } from '../../support/ids.ts';
import { backends } from '../../support/stores.ts';
import { askToLeave, dayMs, deletionOf, membershipRow } from './steps.ts';

describe.each(backends)('deletion of a member with a plan, on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  const tasksOf = async ({ id }: User) => {
    const { db } = foyer.deps.database;
    const rows = await db.selectFrom('billingTasks').select('kind').where('userId', '=', id).orderBy('id').execute();
    return rows.map(({ kind }) => kind);
  };
  /** A member with a membership, and a browser of theirs. */
  const memberWith = async (change: Parameters<typeof membershipRow>[2] = {}, at = foyer.deps.now()) => {
    const user = await foyer.addUser();
    await foyer.deps.database.db
      .insertInto('memberships')
      .values(membershipRow(user.id, at, change))
      .execute();
    return { user, browser: await foyer.signedIn(user) };
  };

  it('The plan ends by default at the end of its period, the page says when, and staying continues it', async () => {
    const { user, browser } = await memberWith();
    const page = await (await browser.get('/settings/delete-account')).text();
    const end = new Intl.DateTimeFormat('en', { dateStyle: 'long' }).format(foyer.deps.now() + 30 * dayMs);
    expect(page.replaceAll('\u00a0', ' ')).toContain(end);
    expect(page).toMatch(/checked="" value="period-end"/);
    expect((await askToLeave(browser)).headers.get('location')).toBe('/account-deletion');
    expect(await tasksOf(user)).toEqual(['cancel-later']);
    expect(await deletionOf(foyer, user)).toMatchObject({ membership: 'period-end' });
    await foyer.signedIn(user);
    expect(await deletionOf(foyer, user)).toBeUndefined();
    // What was not done yet is not done any more.
    expect(await tasksOf(user)).toEqual(['keep']);
  });

  it('A scheduled change to a cheaper plan still happens when the member stays', async () => {
    const { user, browser } = await memberWith({
      cancelAtPeriodEnd: 1,
      nextPlanId: toPlanId('10'),
      paidPlanId: toPlanId('14'),
    });
    await askToLeave(browser);
    expect(await tasksOf(user)).toEqual(['cancel-later']);
    await foyer.signedIn(user);
    const { db } = foyer.deps.database;
    expect(
      await db.selectFrom('billingTasks').select(['kind', 'planId']).where('userId', '=', user.id).execute(),
    ).toEqual([{ kind: 'keep', planId: '10' }]);
  });

  it('A plan that the member ends at once is not restored by staying', async () => {
    const { user, browser } = await memberWith();
    await askToLeave(browser, { membership: 'at-once' });
    expect(await tasksOf(user)).toEqual(['cancel-now']);
    expect(await deletionOf(foyer, user)).toMatchObject({ membership: 'at-once' });
    await foyer.signedIn(user);
    expect(await tasksOf(user)).toEqual(['cancel-now']);
  });

  it('An unpaid plan is not charged again, whatever the form says', async () => {
    const at = foyer.deps.now();
    const { user, browser } = await memberWith({ status: 'past_due', unpaidSince: at }, at);
    const page = await (await browser.get('/settings/delete-account')).text();
    expect(page).not.toContain('name="membership"');
    expect(page).toContain('isn’t charged again');
    await askToLeave(browser, { membership: 'period-end' });
    expect(await tasksOf(user)).toEqual(['cancel-now']);
  });

  it.each([
    ['has none', undefined],
    ['has only a trial', { status: 'trialing', pricedPlanId: toPlanId('trial'), paidPlanId: null }],
    ['has ended theirs before', { cancelAtPeriodEnd: 1 }],
    [
      'has a free plan',
      { status: 'active', pricedPlanId: toPlanId('trial'), paidPlanId: null, basePlanId: toPlanId('1') },
    ],
  ] as const)(
    'A member who %s gets no question, and neither leaving nor staying changes the plan',
    async (_what, change) => {
      const user = await foyer.addUser();
      if (change) {
        const row = membershipRow(user.id, foyer.deps.now(), change);
        await foyer.deps.database.db.insertInto('memberships').values(row).execute();
      }
      const browser = await foyer.signedIn(user);
      expect(await (await browser.get('/settings/delete-account')).text()).not.toContain('name="membership"');
      await askToLeave(browser, { membership: 'at-once' });
      expect(await deletionOf(foyer, user)).toMatchObject({ membership: null });
      await foyer.signedIn(user);
      expect(await tasksOf(user)).toEqual([]);
    },
  );

  it('The first of two requests at once decides how the plan ends', async () => {
    const { user, browser } = await memberWith();
    const other = await foyer.signedIn(user);
    await Promise.all([askToLeave(browser), askToLeave(other)]);
    expect(await tasksOf(user)).toEqual(['cancel-later']);
  });

  it('An unknown form value does not end the plan at once', async () => {
    const { user, browser } = await memberWith();
    await askToLeave(browser, { membership: 'never' });
    expect(await tasksOf(user)).toEqual(['cancel-later']);
  });

  it('Tasks run the longest due first, and a failed one waits longer each time, an hour at most, and is never lost', async () => {
    const { database, now } = foyer.deps;
    const at = now() - dayMs;
    const mine = async (nowMs: number) =>
      (await listDueTasks(database.db, nowMs, 100)).filter(({ userId }) => userId === 'first' || userId === 'second');
    await database.transaction(async (trx) => {
      await addBillingTask(
        trx,
        { kind: 'cancel-later', userId: toUserId('first'), customerId: toStripeCustomerId('cus_1') },
        at,
      );
      await addBillingTask(trx, { kind: 'keep', userId: toUserId('second'), customerId: null }, at - 1);
    });
    expect(await mine(at - 2)).toEqual([]);
    expect((await mine(at)).map(({ kind }) => kind)).toEqual(['keep', 'cancel-later']);
    const waits: number[] = [];
    for (let tries = 0; tries < 8; tries += 1) {
      const task = (await mine(at + dayMs)).find(({ userId }) => userId === 'first');
      if (!task) throw new Error('the task is lost');
      await rescheduleTask(database.db, task, { error: 'Stripe is away', nowMs: at });
      const later = (await mine(at + dayMs)).find(({ userId }) => userId === 'first');
      waits.push((later?.nextAttemptAt ?? 0) - at);
      expect(later).toMatchObject({ attempts: tries + 1, lastError: 'Stripe is away' });
    }
    expect(waits.map((ms) => ms / 60_000)).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
    for (const { id } of await mine(at + dayMs)) await completeTask(database.db, id);
    expect(await mine(at + dayMs)).toEqual([]);
  });
});

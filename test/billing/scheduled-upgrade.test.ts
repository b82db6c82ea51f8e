import type { User } from '../../server/users/index.ts';
import { setUpChanges } from './scheduled-steps.ts';
import { cards, dayMs } from './steps.ts';

const hourMs = 60 * 60_000;

describe('scheduled changes of a plan, upgrades and earlier releases', () => {
  const context = setUpChanges();
  const { standing, planOf, buyer, downgraded, subscriptionOf, paid, planMails, daysPass } = context;

  it.each([
    ['day 27', 27 * dayMs, 791_010],
    ['day 28', 28 * dayMs, 794_007],
    ['day 29', 29 * dayMs, 797_003],
    ['the last hour', 30 * dayMs - hourMs, 799_875],
  ])('An upgrade on %s of a scheduled downgrade credits the unused time', async (_when, afterMs, dueCents) => {
    // An announced amount counts from the full hour.
    context.shop.passTime(hourMs - (context.shop.stripe.engine.nowMs() % hourMs));
    const user = await downgraded();
    context.shop.passTime(afterMs);
    await context.shop.membership.work();
    expect(await context.shop.membership.quote(user, context.shop.plan('y-8000'), null)).toMatchObject({ dueCents });
    expect(await context.shop.buy(user, 'y-8000')).toMatchObject({ kind: 'paid', order: { paidCents: dueCents } });
    expect((await paid(user))[0]).toBe(dueCents);
    expect(await standing(user)).toMatchObject({ nextPlanId: null, cancelAtPeriodEnd: false, paidPlanId: '15' });
    context.shop.passTime(3 * dayMs);
    await context.shop.membership.refresh(user.id);
    expect(await planOf(user)).toBe('15');
    expect((await paid(user)).length).toBe(2);
  });

  it('An upgrade after the downgrade was taken back credits the unused time too', async () => {
    context.shop.passTime(hourMs - (context.shop.stripe.engine.nowMs() % hourMs));
    const user = await downgraded();
    context.shop.passTime(28 * dayMs);
    expect(await context.shop.membership.resume(user)).toBe('resumed');
    expect(await context.shop.membership.quote(user, context.shop.plan('y-8000'), null)).toMatchObject({
      dueCents: 794_007,
    });
  });

  it('An upgrade that is given up schedules the earlier change anew, and sends no mail about it', async () => {
    const user = await downgraded();
    await context.shop.saveCard(user, cards.authenticatesAlways);
    const before = await planMails(user);
    expect(await context.shop.buy(user, 'y-8000')).toMatchObject({ kind: 'action' });
    await context.shop.stripe.webhooks.deliver();
    expect(await standing(user)).toMatchObject({ nextPlanId: null, cancelAtPeriodEnd: true });
    await context.shop.membership.choose(user, context.shop.plan('m-499'));
    await context.shop.membership.refresh(user.id);
    expect(await standing(user)).toMatchObject({ nextPlanId: '10', cancelAtPeriodEnd: false, pending: null });
    expect(await planMails(user)).toEqual(before);
  });

  it('An upgrade that the member does not finish schedules the earlier change anew before the period ends', async () => {
    const user = await downgraded();
    await context.shop.saveCard(user, cards.authenticatesAlways);
    context.shop.passTime(30 * dayMs - 20 * 60_000);
    expect(await context.shop.buy(user, 'y-8000')).toMatchObject({ kind: 'action' });
    for (let minute = 0; minute < 15; minute += 1) {
      context.shop.passTime(60_000);
      await context.shop.membership.work();
    }
    expect(await standing(user)).toMatchObject({ nextPlanId: '10', cancelAtPeriodEnd: false });
  });

  describe('which an earlier release has scheduled', () => {
    /** As in that release: the subscription ends, and its metadata have the next plan. */
    async function scheduledBefore(): Promise<User> {
      const user = await buyer();
      const { subscriptionId } = await standing(user);
      await context.stripe.subscriptions.update(subscriptionId, {
        cancel_at_period_end: true,
        metadata: { foyer_next_plan: '10' },
      });
      await context.shop.membership.refresh(user.id);
      expect(await standing(user)).toMatchObject({ nextPlanId: '10', cancelAtPeriodEnd: true });
      return user;
    }

    it('A change in the metadata becomes a schedule, and the member gets no mail about it', async () => {
      const user = await scheduledBefore();
      const before = await planMails(user);
      await context.shop.membership.work();
      await context.shop.stripe.webhooks.deliver();
      expect(await standing(user)).toMatchObject({ nextPlanId: '10', cancelAtPeriodEnd: false });
      expect(await subscriptionOf(user)).toMatchObject({
        cancel_at: null,
        metadata: expect.not.objectContaining({ foyer_next_plan: '10' }),
        schedule: { end_behavior: 'release' },
      });
      expect(await planMails(user)).toEqual(before);
      await daysPass(31);
      await context.shop.membership.refresh(user.id);
      expect([await planOf(user), await paid(user)]).toEqual(['10', [9_900, 89_900]]);
    });

    it.each([
      ['cancels', (user: User) => context.shop.membership.cancel(user), { nextPlanId: null, cancelAtPeriodEnd: true }],
      [
        'keeps the plan',
        (user: User) => context.shop.membership.resume(user),
        { nextPlanId: null, cancelAtPeriodEnd: false },
      ],
      [
        'takes another plan',
        (user: User) => context.shop.buy(user, 'm-499'),
        { nextPlanId: '12', cancelAtPeriodEnd: false },
      ],
    ])('A member who %s before the change has become a schedule gets that', async (_what, act, expected) => {
      const user = await scheduledBefore();
      await act(user);
      await context.shop.membership.work();
      await context.shop.membership.refresh(user.id);
      expect(await standing(user)).toMatchObject(expected);
    });
  });
});

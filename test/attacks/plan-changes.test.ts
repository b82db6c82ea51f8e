import { setTimeout as sleep } from 'node:timers/promises';
import { moveOldChanges } from '../../server/billing/jobs/old-changes.ts';
import type { User } from '../../server/users/index.ts';
import { dayMs } from '../billing/steps.ts';
import { setUpPlans } from './plan-steps.ts';

const minuteMs = 60_000;

describe('attacks on plans', () => {
  const context = setUpPlans();
  const { standing, planOf, buyer, taken, heldBack } = context;

  it.each([
    ['cancels', (user: User) => context.shop.membership.cancel(user), { cancelAtPeriodEnd: true, nextPlanId: null }],
    [
      'keeps the present plan',
      (user: User) => context.shop.membership.resume(user),
      { pricedPlanId: '12', nextPlanId: null },
    ],
  ])('The decision of a member who %s while a change of plan is being moved holds', async (_what, act, expected) => {
    const user = await buyer('m-499');
    // As an earlier release has scheduled it.
    const old = { cancel_at_period_end: true, metadata: { foyer_next_plan: '10' } };
    await context.stripe.subscriptions.update((await standing(user))?.subscriptionId ?? '', old);
    await context.shop.membership.refresh(user.id);
    const { deps, at, go } = await heldBack();
    const preparing = moveOldChanges(deps);
    await at;
    const acting = act(user);
    await Promise.race([acting, sleep(300)]);
    go();
    await Promise.all([preparing, acting]);
    await context.shop.membership.refresh(user.id);
    expect(await standing(user)).toMatchObject(expected);
  });

  it('The end of one member’s plan does not touch the scheduled plans of others', async () => {
    const [one, other] = [await buyer('m-499'), await buyer('m-499')];
    await context.shop.buy(one, 'm-99');
    context.shop.passTime(28 * dayMs);
    await context.shop.buy(other, 'm-99');
    expect(await standing(other)).toMatchObject({ nextPlanId: '10', pricedPlanId: '12' });
    await context.shop.membership.cancel(other);
    context.shop.passTime(3 * dayMs);
    for (const { id } of [one, other]) await context.shop.membership.refresh(id);
    expect(await standing(one)).toMatchObject({ nextPlanId: null, pricedPlanId: '10', status: 'active' });
    expect(await standing(other)).toMatchObject({ nextPlanId: null, status: 'canceled' });
    expect([await taken(one), await taken(other)]).toEqual([[9_900, 49_900], [49_900]]);
  });

  it('A scheduled plan that became due without a card is not charged by opening a page', async () => {
    const user = await buyer('m-499');
    await context.shop.buy(user, 'm-99');
    context.shop.passTime(28 * dayMs);
    await context.shop.membership.work();
    await context.stripe.paymentMethods.detach((await standing(user))?.card?.paymentMethodId ?? '');
    context.shop.passTime(3 * dayMs);
    await context.shop.membership.refresh(user.id);
    // It is unpaid like any renewal: the plan stays for the days of grace, and the user gets a mail.
    expect(await standing(user)).toMatchObject({ status: 'past_due', unpaid: { amountCents: 9_900 } });
    await context.shop.membership.quote(user, context.shop.plan('m-899'), null);
    await context.shop.saveCard(user);
    await context.shop.membership.refresh(user.id);
    expect(await taken(user)).toEqual([49_900]);
    context.shop.passTime(8 * dayMs);
    await context.shop.membership.work();
  });

  it('A plan of a former subscription does not come back with the next subscription', async () => {
    const user = await buyer('m-899');
    await context.shop.membership.cancel(user);
    context.shop.passTime(31 * dayMs);
    await context.shop.membership.refresh(user.id);
    expect(await context.shop.buy(user, 'm-99')).toMatchObject({ kind: 'paid' });
    expect(await planOf(user)).toBe('10');
    expect(await taken(user)).toEqual([9_900, 89_900]);
  });

  it('A flood of one member’s own actions is refused and does not delay other members', async () => {
    const [user, other] = [await buyer('m-99'), await buyer('m-99')];
    const flood = Array.from({ length: 60 }, () =>
      context.shop.membership.choose(user, context.shop.plan('m-499')).catch((e) => e),
    );
    const beganAt = Date.now();
    await context.shop.membership.choose(other, context.shop.plan('m-499'));
    expect(Date.now() - beganAt).toBeLessThan(5_000);
    const answers = await Promise.all(flood);
    expect(answers.filter((one) => one instanceof Error).length).toBeGreaterThan(20);
    expect(answers.filter((one) => !(one instanceof Error)).length).toBeGreaterThan(3);
  });

  it('A flood by one member does not use up the shared rate limit of Stripe', async () => {
    const [user, other] = [await buyer('m-99'), await buyer('m-99')];
    const calls: string[] = [];
    context.shop.stripe.observe(({ path }) => calls.push(path));
    const reads = Array.from({ length: 200 }, () =>
      context.shop.membership.invoices(user).catch((error: unknown) => error),
    );
    const answers = await Promise.all(reads);
    expect(answers.filter((one) => one instanceof Error).length).toBeGreaterThan(70);
    expect(calls.length).toBeLessThan(130);
    expect(await context.shop.membership.invoices(other)).toHaveLength(1);
  });

  it('An upgrade credits nothing of a renewal that is not charged yet', async () => {
    const user = await buyer('y-900');
    context.shop.passTime(365 * dayMs + minuteMs);
    const { engine } = context.shop.stripe;
    // Stripe keeps the invoice of a renewal as a draft for about an hour; the sandbox charges it at once.
    const { subscriptionId } = (await standing(user)) ?? {};
    const kept = engine.snapshot() as { objects: Record<string, unknown>[] };
    const { latest_invoice: latest } = await context.stripe.subscriptions.retrieve(subscriptionId ?? '');
    const draft = { status: 'draft', amount_paid: 0, attempted: false };
    const objects = kept.objects.map((one) => (one.id === latest ? { ...one, ...draft } : one));
    engine.restore({ ...kept, objects });
    await context.shop.membership.refresh(user.id);
    expect(await context.shop.buy(user, 'm-499')).toMatchObject({ kind: 'renewing' });
    engine.restore(kept);
    await context.shop.membership.refresh(user.id);
    expect(await context.shop.buy(user, 'm-499')).toMatchObject({ kind: 'paid', order: { paidCents: 0 } });
  });
});

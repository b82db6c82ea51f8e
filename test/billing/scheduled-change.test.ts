import type Stripe from 'stripe';
import { addBillingTask } from '../../server/billing/jobs/task-store.ts';
import { setUpChanges } from './scheduled-steps.ts';
import { cards, dayMs } from './steps.ts';

describe('changes of a plan at the end of the paid period', () => {
  const context = setUpChanges();
  const { database, standing, planOf, buyer, downgraded, subscriptionOf, paid, waiting, daysPass } = context;

  it('A cheaper plan is a subscription schedule, and the subscription stays active and goes on', async () => {
    const user = await downgraded();
    const subscription = await subscriptionOf(user);
    expect(subscription).toMatchObject({
      status: 'active',
      cancel_at_period_end: false,
      cancel_at: null,
      schedule: { end_behavior: 'release', status: 'active' },
    });
    const { phases } = subscription.schedule as Stripe.SubscriptionSchedule;
    expect(phases).toHaveLength(2);
    expect(phases[1]).toMatchObject({ start_date: subscription.items.data[0]?.current_period_end });
    expect(await standing(user)).toMatchObject({ nextPlanId: '10', cancelAtPeriodEnd: false, paidPlanId: '14' });
    expect(await waiting(user)).toEqual([]);
  });

  it('A downgrade takes effect at its date although Foyer is down for five days around it', async () => {
    const user = await downgraded();
    const { periodEnd } = await standing(user);
    await daysPass(28);
    // Only Stripe's clock goes on: no request reads, and no job runs.
    context.shop.passTime(5 * dayMs);
    await context.shop.membership.work();
    await context.shop.membership.refresh(user.id);
    expect([await planOf(user), await paid(user)]).toEqual(['10', [9_900, 89_900]]);
    expect(await standing(user)).toMatchObject({ status: 'active', nextPlanId: null, periodStart: periodEnd });
    await daysPass(30);
    await context.shop.membership.refresh(user.id);
    expect(await paid(user)).toEqual([9_900, 9_900, 89_900]);
  });

  it('A member who keeps the plan keeps the own price after a raise', async () => {
    const user = await downgraded();
    const [old] = (await context.stripe.prices.list({ lookup_keys: ['m-899'] })).data;
    const { recurring, product, currency, metadata } = old ?? {};
    const raised = await context.stripe.prices.create({
      product: String(product),
      currency: currency ?? 'usd',
      unit_amount: 109_900,
      recurring: { interval: recurring?.interval ?? 'day', interval_count: recurring?.interval_count ?? 1 },
      lookup_key: 'm-899',
      transfer_lookup_key: true,
      metadata: metadata ?? {},
    });
    await context.stripe.prices.update(old?.id ?? '', { active: false });
    await daysPass(28);
    expect(await context.shop.membership.resume(user)).toBe('resumed');
    await daysPass(3);
    await context.shop.membership.refresh(user.id);
    expect(await paid(user)).toEqual([89_900, 89_900]);
    await context.stripe.prices.update(old?.id ?? '', { active: true, lookup_key: 'm-899', transfer_lookup_key: true });
    await context.stripe.prices.update(raised.id, { active: false });
  });

  it('A scheduled change can be replaced, cancelled and resumed, each in one call', async () => {
    const user = await downgraded();
    const { id } = (await subscriptionOf(user)).schedule as Stripe.SubscriptionSchedule;
    const calls: string[] = [];
    context.shop.stripe.observe(({ method, path }) => {
      if (method === 'POST' && path.includes(id)) calls.push(path.replace(id, ':id'));
      else if (method === 'POST' && !path.endsWith('create_preview')) calls.push(path);
    });
    expect(await context.shop.buy(user, 'm-499')).toMatchObject({ kind: 'scheduled' });
    expect(await standing(user)).toMatchObject({ nextPlanId: '12' });
    expect(await context.shop.membership.cancel(user)).toBe('cancelled');
    expect(await standing(user)).toMatchObject({ nextPlanId: null, cancelAtPeriodEnd: true });
    expect(await context.shop.membership.resume(user)).toBe('resumed');
    expect(await standing(user)).toMatchObject({ nextPlanId: null, cancelAtPeriodEnd: false });
    expect(calls).toEqual([
      '/v1/subscription_schedules/:id',
      '/v1/subscription_schedules/:id',
      '/v1/subscription_schedules/:id/release',
    ]);
  });

  it('A plan that was scheduled and has begun can be cancelled, and ends with its period', async () => {
    const user = await downgraded();
    await daysPass(35);
    await context.shop.membership.refresh(user.id);
    expect(await planOf(user)).toBe('10');
    expect(await context.shop.membership.cancel(user)).toBe('cancelled');
    await daysPass(30);
    await context.shop.membership.refresh(user.id);
    expect([await planOf(user), await paid(user)]).toEqual([null, [9_900, 89_900]]);
  });

  it('A card that is changed while a change is scheduled is charged for the next plan', async () => {
    const user = await downgraded();
    await context.shop.saveCard(user, cards.mastercard);
    await daysPass(31);
    await context.shop.membership.refresh(user.id);
    expect([await planOf(user), await paid(user)]).toEqual(['10', [9_900, 89_900]]);
  });

  it('A card of the subscription does not stay the card of a scheduled change', async () => {
    const user = await buyer();
    const { subscriptionId, card } = await standing(user);
    await context.stripe.subscriptions.update(subscriptionId, { default_payment_method: card?.paymentMethodId ?? '' });
    await context.shop.buy(user, 'm-99');
    expect((await subscriptionOf(user)).default_payment_method).toBeNull();
    const schedule = (await subscriptionOf(user)).schedule as Stripe.SubscriptionSchedule;
    expect(schedule.default_settings.default_payment_method).toBeNull();
  });

  it.each(['subscription_cycle', 'subscription_update'])(
    'A next plan whose payment fails has the days of grace like a renewal, with an invoice because of %s',
    async (reason) => {
      const user = await downgraded();
      const { card } = await standing(user);
      context.shop.stripe.engine.setCardBehaviour(card?.paymentMethodId ?? '', cards.chargeDeclined);
      context.shop.passTime(30 * dayMs + 60 * 60_000);
      // Stripe’s documentation does not say which reason the first invoice of a phase has.
      const { latest_invoice: latest } = await subscriptionOf(user);
      const state = context.shop.stripe.engine.snapshot() as { objects: { id: string; billing_reason?: string }[] };
      for (const one of state.objects) if (one.id === latest) one.billing_reason = reason;
      context.shop.stripe.engine.restore(state);
      await context.shop.membership.refresh(user.id);
      expect(await standing(user)).toMatchObject({ status: 'past_due', unpaid: { amountCents: 9_900 } });
      expect(await planOf(user)).toBe('14');
      await daysPass(8);
      expect(await planOf(user)).toBeNull();
      expect(await paid(user)).toEqual([89_900]);
    },
  );

  it('A member who ends a plan with a scheduled change at once is not charged again', async () => {
    const user = await downgraded();
    const { customerId, subscriptionId } = await standing(user);
    const nowMs = context.shop.stripe.engine.nowMs();
    await database().transaction((trx) =>
      addBillingTask(trx, { kind: 'cancel-now', userId: user.id, customerId }, nowMs),
    );
    await context.shop.membership.work();
    expect(await context.stripe.subscriptions.retrieve(subscriptionId)).toMatchObject({
      status: 'canceled',
      schedule: null,
    });
    expect(await paid(user)).toEqual([89_900]);
  });

  it('A change that Stripe does not answer is shown, and is done as soon as Stripe answers', async () => {
    const user = await buyer();
    await context.shop.membership.choose(user, context.shop.plan('m-99'));
    let away = true;
    for (let tries = 0; tries < 5; tries += 1)
      context.shop.stripe.fault(
        'unreachable',
        (method, path) => away && method === 'POST' && path.includes('schedules'),
      );
    const said = { planId: context.shop.plan('m-99').id, dueCents: 0 };
    expect(await context.shop.membership.confirm(user, said, { ip: '203.0.113.7' })).toMatchObject({
      kind: 'scheduled',
    });
    expect([await waiting(user), (await standing(user)).nextPlanId]).toEqual([['change-later'], '10']);
    away = false;
    context.shop.passTime(2 * 60_000);
    await context.shop.membership.work();
    expect(await waiting(user)).toEqual([]);
    expect((await subscriptionOf(user)).schedule).toMatchObject({ end_behavior: 'release' });
  });
});

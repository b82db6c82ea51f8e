import { addBillingTask } from '../../server/billing/jobs/task-store.ts';
import { confirmPurchase } from '../../server/billing/purchase/confirm-purchase.ts';
import { importPartnerDeals, type User } from '../../server/users/index.ts';
import { cards, dayMs, from } from '../billing/steps.ts';
import { toPlanId } from '../support/ids.ts';
import { setUpPlans } from './plan-steps.ts';

const minuteMs = 60_000;

describe('attacks on plans', () => {
  const context = setUpPlans();
  const { db, standing, planOf, buyer, taken, heldBack } = context;
  /** The payment that waits for the user's bank. */
  async function asked(user: User): Promise<string> {
    const customer = (await standing(user))?.customerId ?? '';
    const { data } = await context.stripe.paymentIntents.list({ customer });
    const waiting = data.find(({ status }) => status === 'requires_action');
    if (!waiting) throw new Error('no payment waits');
    return waiting.id;
  }

  it.each([
    ['the member has cancelled', async (user: User) => void (await context.shop.membership.cancel(user))],
    [
      'the member leaves',
      async (user: User) => {
        const { customerId = null } = (await standing(user)) ?? {};
        const about = { kind: 'cancel-later', userId: user.id, customerId } as const;
        await db().transaction((trx) => addBillingTask(trx, about, context.shop.foyer.deps.now()));
        await context.shop.membership.work();
      },
    ],
  ])('An abandoned payment does not bring back the plan once %s', async (_what, end) => {
    const user = await context.shop.foyer.addUser();
    await context.shop.saveCard(user, cards.authenticatesAlways);
    expect(await context.shop.buy(user, 'm-99')).toMatchObject({ kind: 'action' });
    // The user could answer on Stripe's own page, so that only a webhook brings the result.
    context.shop.stripe.engine.authenticate(await asked(user), 'succeed');
    await context.shop.membership.refresh(user.id);
    expect(await planOf(user)).toBe('10');
    await end(user);
    expect(await standing(user)).toMatchObject({ cancelAtPeriodEnd: true });
    context.shop.passTime(5 * minuteMs);
    await context.shop.membership.work();
    expect(await standing(user)).toMatchObject({ cancelAtPeriodEnd: true });
    context.shop.passTime(31 * dayMs);
    await context.shop.membership.refresh(user.id);
    expect(await taken(user)).toEqual([9_900]);
  });

  it('A 3-D Secure challenge that is answered after the plan was cancelled charges nothing', async () => {
    const user = await buyer('m-99');
    await context.shop.saveCard(user, cards.authenticatesAlways);
    expect(await context.shop.buy(user, 'm-499')).toMatchObject({ kind: 'action' });
    const intent = await asked(user);
    expect(await context.shop.membership.cancel(user)).toBe('cancelled');
    expect(() => context.shop.stripe.engine.authenticate(intent, 'succeed')).toThrow();
    await context.shop.membership.outcome(user);
    await context.shop.membership.refresh(user.id);
    expect(await taken(user)).toEqual([9_900]);
    expect(await standing(user)).toMatchObject({ cancelAtPeriodEnd: true, paidPlanId: '10' });
  });

  it('A 3-D Secure challenge that is answered after another plan was chosen charges nothing', async () => {
    const user = await context.shop.foyer.addUser();
    await context.shop.saveCard(user, cards.authenticatesAlways);
    await context.shop.buy(user, 'm-899');
    const intent = await asked(user);
    await context.shop.membership.choose(user, context.shop.plan('m-99'));
    expect(() => context.shop.stripe.engine.authenticate(intent, 'succeed')).toThrow();
    await context.shop.membership.refresh(user.id);
    expect([await taken(user), await planOf(user)]).toEqual([[], null]);
  });

  it('Two tabs with two plans charge only what one of them has confirmed', async () => {
    const user = await context.shop.foyer.addUser();
    await context.shop.saveCard(user);
    const tab = async (code: string, dueCents: number) => {
      await context.shop.membership.choose(user, context.shop.plan(code));
      return context.shop.membership.confirm(user, { planId: context.shop.plan(code).id, dueCents }, from);
    };
    const kinds = (await Promise.all([tab('m-99', 9_900), tab('m-499', 49_900)])).map(({ kind }) => kind).sort();
    expect(kinds).toContain('paid');
    for (const cents of await taken(user)) expect([9_900, 49_900]).toContain(cents);
    expect((await taken(user)).length).toBe(kinds.filter((kind) => kind === 'paid').length);
  });

  it.each([
    ['loses its answer', 'lost'],
    ['cannot be reached', 'unreachable'],
    ['answers with an error', 'error'],
  ] as const)('A purchase is charged once when Stripe %s at any of its calls', async (_what, fault) => {
    for (let skip = 0; skip < 3; skip += 1) {
      const user = await context.shop.foyer.addUser();
      await context.shop.saveCard(user);
      await context.shop.membership.choose(user, context.shop.plan('m-99'));
      let left = skip;
      context.shop.stripe.fault(fault, (method) => {
        if (method === 'POST') left -= 1;
        return left < 0;
      });
      const said = { planId: toPlanId('10'), dueCents: 9_900 };
      await context.shop.membership.confirm(user, said, from).catch(() => {});
      // No remaining fault may affect a later call.
      left = -1;
      await context.stripe.coupons.list({ limit: 1 }).catch(() => {});
      await context.shop.membership.confirm(user, said, from).catch(() => {});
      await context.shop.membership.confirm(user, said, from);
      expect([skip, await taken(user), await planOf(user)]).toEqual([skip, [9_900], '10']);
    }
  });

  it('A user who is disabled during a payment is charged nothing more', async () => {
    const user = await context.shop.foyer.addUser();
    await context.shop.saveCard(user, cards.chargeDeclined);
    expect(await context.shop.buy(user, 'm-99')).toMatchObject({ kind: 'declined' });
    await db().db.updateTable('users').set({ disabledAt: 1 }).where('id', '=', user.id).execute();
    context.shop.passTime(2 * 60 * minuteMs);
    await context.shop.membership.work();
    await context.shop.membership.work();
    const customer = (await standing(user))?.customerId ?? '';
    const { data } = await context.stripe.invoices.list({ customer, status: 'open' });
    expect([data.length, await taken(user)]).toEqual([0, []]);
  });

  it('A purchase that has lost its lock while Stripe was slow and continues charges once', async () => {
    const user = await context.shop.foyer.addUser();
    await context.shop.saveCard(user);
    await context.shop.membership.choose(user, context.shop.plan('m-99'));
    const said = { planId: toPlanId('10'), dueCents: 9_900 };
    const { deps, at, go } = await heldBack();
    // Like a process that stood still for a minute, this call holds no lock.
    const slow = confirmPurchase(deps, { user, announced: said, ...from });
    await at;
    expect(await context.shop.membership.confirm(user, said, from)).toMatchObject({ kind: 'paid' });
    expect(await context.shop.membership.cancel(user)).toBe('cancelled');
    go();
    expect(await slow).toMatchObject({ kind: 'paid' });
    expect([await taken(user), await planOf(user)]).toEqual([[9_900], '10']);
    await context.shop.membership.refresh(user.id);
    expect(await standing(user)).toMatchObject({ cancelAtPeriodEnd: true });
  });

  it('A payment in progress charges nothing once a partner’s deal is confirmed', async () => {
    const user = await context.shop.foyer.addUser({ email: 'both@example.org' });
    await context.shop.saveCard(user, cards.authenticatesAlways);
    expect(await context.shop.buy(user, 'm-99')).toMatchObject({ kind: 'action' });
    const intent = await asked(user);
    await db().transaction((trx) => importPartnerDeals(trx, [{ email: user.email, tier: 1 }], Date.now()));
    expect(await context.shop.membership.takeDeal(user)).toMatchObject({ tier: 1 });
    await context.shop.membership.work();
    expect(() => context.shop.stripe.engine.authenticate(intent, 'succeed')).toThrow();
    expect([await taken(user), await planOf(user)]).toEqual([[], context.shop.membership.catalogue.ofTier(1)?.id]);
  });

  it('A 3-D Secure challenge that is answered after the account was deleted charges nothing', async () => {
    const user = await context.shop.foyer.addUser();
    await context.shop.saveCard(user, cards.authenticatesAlways);
    expect(await context.shop.buy(user, 'm-99')).toMatchObject({ kind: 'action' });
    const intent = await asked(user);
    const browser = await context.shop.foyer.signedIn(user);
    expect((await browser.post('/settings/delete-account', { confirm: '1' })).status).toBe(303);
    await context.shop.membership.work();
    expect(() => context.shop.stripe.engine.authenticate(intent, 'succeed')).toThrow();
    await context.shop.membership.refresh(user.id);
    expect([await taken(user), await planOf(user)]).toEqual([[], null]);
    // The trial, which costs nothing, remains for a user who returns.
    expect(await standing(user)).toMatchObject({ pricedPlanId: 'trial', cancelAtPeriodEnd: false });
  });

  it('A payment abandoned for a day is not charged when the member returns; only what is due then is charged', async () => {
    const user = await context.shop.foyer.addUser();
    await context.shop.saveCard(user, cards.authenticatesAlways);
    expect(await context.shop.buy(user, 'm-99')).toMatchObject({ kind: 'action' });
    const intent = await asked(user);
    // Foyer runs nothing in the meantime.
    context.shop.passTime(dayMs);
    expect(() => context.shop.stripe.engine.authenticate(intent, 'succeed')).toThrow();
    await context.shop.saveCard(user, cards.visa);
    const stale = await context.shop.membership.confirm(user, { planId: toPlanId('10'), dueCents: 1 }, from);
    expect(stale).toMatchObject({ kind: 'changed', quote: { dueCents: 9_900 } });
    expect(await context.shop.buy(user, 'm-99')).toMatchObject({ kind: 'paid' });
    expect(await taken(user)).toEqual([9_900]);
  });
});

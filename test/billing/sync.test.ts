import { listOrders, StripeUnavailableError } from '../../server/billing/index.ts';
import type { User } from '../../server/users/index.ts';
import { toPlanId } from '../support/ids.ts';
import { backends } from '../support/stores.ts';
import { cards, dayMs, from, manyCards, type Shop, startShop } from './steps.ts';

const hourMs = dayMs / 24;

describe.each(backends)('stored memberships follow Stripe, on $name', (backend) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(backend, manyCards);
  });
  afterAll(() => shop?.close());

  const standing = async ({ id }: User) => shop.membership.refresh(id);
  const orders = ({ id }: User) => listOrders(shop.foyer.deps.database.db, id);
  const planOf = async (user: User) => (await shop.userNow(user)).planId;
  async function buyer(code = 'm-99'): Promise<User> {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    expect(await shop.buy(user, code)).toMatchObject({ kind: 'paid' });
    return user;
  }
  const paidInvoices = async (user: User) => {
    const { customerId } = (await shop.membership.getMembership(user.id)) ?? {};
    const { data } = await shop.stripe.client().invoices.list({ customer: customerId ?? '', status: 'paid' });
    return data.filter((invoice) => invoice.lines.data.some(({ amount }) => amount > 0)).map(({ id }) => id);
  };
  const cardFails = async (user: User, number: string) => {
    const card = (await shop.membership.getMembership(user.id))?.card;
    shop.stripe.engine.setCardBehaviour(card?.paymentMethodId ?? '', number);
  };

  /** How many calls a purchase makes: each of them may be the one whose answer is lost. */
  it('Repeating a purchase pays once, whichever answer was lost on the way', async () => {
    let calls = 0;
    let counts = false;
    shop.stripe.observe(() => {
      if (counts) calls += 1;
    });
    const begin = async () => {
      const user = await shop.foyer.addUser();
      await shop.saveCard(user);
      await shop.membership.choose(user, shop.plan('m-99'));
      return user;
    };
    const confirm = (user: User) => shop.membership.confirm(user, { planId: toPlanId('10'), dueCents: 9_900 }, from);
    const first = await begin();
    counts = true;
    expect(await confirm(first)).toMatchObject({ kind: 'paid' });
    counts = false;
    expect(calls).toBeGreaterThan(8);
    const outcomes = new Set<string>();
    for (let at = 0; at < calls; at += 1) {
      const user = await begin();
      let seen = 0;
      shop.stripe.fault('lost', () => seen++ === at);
      const lost = await confirm(user).catch((error: unknown) => error);
      outcomes.add(lost instanceof StripeUnavailableError ? 'away' : 'answered');
      expect(await confirm(user)).toMatchObject({ kind: 'paid', plan: { id: '10' } });
      expect(await planOf(user)).toBe('10');
      const paid = await paidInvoices(user);
      expect(paid).toHaveLength(1);
      expect((await orders(user)).map(({ invoiceId }) => invoiceId)).toEqual(paid);
    }
    expect(outcomes).toContain('away');
  });

  it('Several reads at once give each paid invoice one order', async () => {
    const user = await buyer();
    shop.passTime(30 * dayMs + hourMs);
    await Promise.all(Array.from({ length: 5 }, () => shop.membership.refresh(user.id)));
    expect((await orders(user)).map(({ invoiceId }) => invoiceId).toSorted()).toEqual(
      (await paidInvoices(user)).toSorted(),
    );
    expect(await orders(user)).toHaveLength(2);
  });

  it('A trial that ends without a plan is paused, charges nothing, and the member can still buy a plan', async () => {
    const user = await shop.foyer.addUser();
    await shop.membership.ensure(user, 7);
    shop.passTime(7 * dayMs + hourMs);
    expect(await standing(user)).toMatchObject({ status: 'paused', pricedPlanId: 'trial' });
    expect(await shop.userNow(user)).toMatchObject({ planId: null, trialUntil: null });
    await shop.saveCard(user);
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'paid' });
    expect(await planOf(user)).toBe('10');
    expect(await orders(user)).toMatchObject([{ paidCents: 9_900 }]);
  });

  it('A failed renewal leaves the plan for the days of grace and no longer', async () => {
    const user = await buyer();
    const { graceDays } = shop.membership.catalogue;
    await cardFails(user, cards.chargeDeclined);
    shop.passTime(30 * dayMs + hourMs);
    expect(await standing(user)).toMatchObject({ status: 'past_due', unpaid: { why: 'failed', amountCents: 9_900 } });
    expect(await planOf(user)).toBe('10');
    shop.passTime((graceDays - 1) * dayMs);
    await shop.membership.work();
    expect(await planOf(user)).toBe('10');
    shop.passTime(dayMs);
    await shop.membership.work();
    expect(await planOf(user)).toBeNull();
    expect(await orders(user)).toHaveLength(1);
    // Nothing more is charged for a plan that has ended, on Stripe's page either; another one can be had.
    const ended = await standing(user);
    expect(ended).toMatchObject({ status: 'canceled', unpaid: null });
    const { data } = await shop.stripe.client().invoices.list({ customer: ended?.customerId ?? '', status: 'open' });
    expect(data).toEqual([]);
    await shop.saveCard(user, cards.mastercard);
    expect(await shop.membership.payUnpaid(user, from)).toMatchObject({ kind: 'no-change' });
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'paid' });
    expect(await orders(user)).toHaveLength(2);
  });

  it('A failed renewal is paid with another card within the days of grace', async () => {
    const user = await buyer();
    await cardFails(user, cards.chargeDeclined);
    shop.passTime(32 * dayMs);
    expect(await standing(user)).toMatchObject({ status: 'past_due' });
    await shop.saveCard(user, cards.mastercard);
    expect(await shop.membership.payUnpaid(user, from)).toMatchObject({ kind: 'paid' });
    expect(await planOf(user)).toBe('10');
    expect(await orders(user)).toHaveLength(2);
  });

  it('An unpaid invoice of an ended subscription blocks no purchase and is not paid', async () => {
    const user = await buyer();
    await cardFails(user, cards.chargeDeclined);
    shop.passTime(60 * dayMs);
    expect(await standing(user)).toMatchObject({ status: 'canceled', unpaid: null, subscriptionId: null });
    expect(await planOf(user)).toBeNull();
    await shop.saveCard(user, cards.mastercard);
    expect(await shop.membership.payUnpaid(user, from)).toMatchObject({ kind: 'no-change' });
    expect(await shop.buy(user, 'm-499')).toMatchObject({ kind: 'paid' });
    expect(await planOf(user)).toBe('12');
    expect((await orders(user)).map(({ planId }) => planId)).toEqual(['12', '10']);
    expect(await standing(user)).toMatchObject({ status: 'active', unpaid: null });
  });

  it('A cancelled plan continues until its end date and ends there', async () => {
    const user = await buyer();
    expect(await shop.membership.cancel(user)).toBe('cancelled');
    shop.passTime(29 * dayMs);
    await shop.membership.work();
    expect(await standing(user)).toMatchObject({ status: 'active', cancelAtPeriodEnd: true });
    expect(await planOf(user)).toBe('10');
    shop.passTime(2 * dayMs);
    const ended = await standing(user);
    expect(ended).toMatchObject({ status: 'canceled', subscriptionId: null });
    // And stays so, however often it is read.
    expect(await standing(user)).toMatchObject({ status: 'canceled', generation: ended?.generation });
    expect(await planOf(user)).toBeNull();
    expect(await orders(user)).toHaveLength(1);
  });

  it('A lower plan is scheduled at Stripe at once and charged from the period’s end on', async () => {
    const user = await buyer('m-499');
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'scheduled' });
    for (const days of [26, 2]) {
      shop.passTime(days * dayMs);
      await shop.membership.work();
      expect(await shop.membership.getMembership(user.id)).toMatchObject({
        status: 'active',
        cancelAtPeriodEnd: false,
        nextPlanId: '10',
        pricedPlanId: '12',
      });
    }
    expect(await planOf(user)).toBe('12');
    shop.passTime(3 * dayMs);
    await standing(user);
    expect(await planOf(user)).toBe('10');
    expect(await orders(user)).toMatchObject([
      { planId: '10', paidCents: 9_900, orderType: 'renewal' },
      { planId: '12', paidCents: 49_900 },
    ]);
  });
});

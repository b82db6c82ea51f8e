import { listOrders } from '../../server/billing/index.ts';
import { toPlanId, toUserId } from '../support/ids.ts';
import { backends } from '../support/stores.ts';
import { cards, dayMs, from, type Shop, startShop } from './steps.ts';

describe.each(backends)('a purchase: $name', (backend) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(backend);
  });
  afterAll(() => shop?.close());

  const invoicesOf = async (userId: string) => {
    const { customerId } = (await shop.membership.getMembership(toUserId(userId))) ?? {};
    const { data } = await shop.stripe.client().invoices.list({ customer: customerId ?? '' });
    return data.filter(({ total, amount_due }) => total !== 0 || amount_due !== 0);
  };
  const orders = (userId: string) => listOrders(shop.foyer.deps.database.db, toUserId(userId));

  it('A membership begins with a trial that charges nothing', async () => {
    const user = await shop.foyer.addUser();
    const membership = await shop.membership.ensure(user, 7);
    expect(membership).toMatchObject({ status: 'trialing', pricedPlanId: 'trial', trialDays: 7, card: null });
    expect((membership.trialEnd ?? 0) - shop.foyer.deps.now()).toBeGreaterThan(6.9 * dayMs);
    expect(await shop.userNow(user)).toMatchObject({ planId: null, trialUntil: membership.trialEnd });
    expect(await shop.membership.ensure(user, 7)).toMatchObject({ subscriptionId: membership.subscriptionId });
  });

  it('A purchase charges the announced amount once and gives the plan', async () => {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    const chosen = await shop.membership.choose(user, shop.plan('m-99'));
    const quote = await shop.membership.quote(user, chosen.plan, null);
    expect(quote).toMatchObject({ when: 'now', amountCents: 9900, dueCents: 9900, next: { amountCents: 9900 } });
    const both = await Promise.all(
      [1, 2].map(() => shop.membership.confirm(user, { planId: toPlanId('10'), dueCents: 9900 }, from)),
    );
    expect(both).toMatchObject([{ kind: 'paid' }, { kind: 'paid' }]);
    expect(await shop.userNow(user)).toMatchObject({ planId: '10', trialUntil: null });
    expect(await invoicesOf(user.id)).toMatchObject([{ status: 'paid', amount_paid: 9900 }]);
    expect(await orders(user.id)).toMatchObject([
      {
        paidCents: 9900,
        planId: '10',
        orderType: 'upgrade',
        validityDays: 30,
        card: { brand: 'visa', lastFour: '4242' },
      },
    ]);
    const [order] = await orders(user.id);
    // The quote was a moment earlier than the charge.
    expect(Math.abs((order?.renewsAt ?? 0) - (quote.renewsAt ?? 0))).toBeLessThan(60_000);
    expect(Math.abs((order?.renewsAt ?? 0) - (order?.orderedAt ?? 0) - 30 * dayMs)).toBeLessThan(5_000);
  });

  it('A purchase charges nothing when the page showed another amount', async () => {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    await shop.membership.choose(user, shop.plan('m-499'));
    const said = await shop.membership.confirm(user, { planId: toPlanId('12'), dueCents: 100 }, from);
    expect(said).toMatchObject({ kind: 'changed', quote: { dueCents: 49_900 } });
    expect(await invoicesOf(user.id)).toEqual([]);
    expect((await shop.userNow(user)).planId).toBeNull();
  });

  it('A purchase removes a code that was used up in the meantime and charges nothing before the page says so', async () => {
    const api = shop.stripe.client();
    const { id: coupon } = await api.coupons.create({ percent_off: 50, duration: 'once' });
    const code = await api.promotionCodes.create({ code: 'LASTONE', promotion: { type: 'coupon', coupon } });
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    const { plan } = await shop.membership.choose(user, shop.plan('m-99'));
    const applied = await shop.membership.applyPromotion(user, 'LASTONE', from);
    expect(applied).toMatchObject({ kind: 'applied', purchase: { promotion: { percentOff: 50 } } });
    await api.promotionCodes.update(code.id, { active: false });
    const said = await shop.membership.confirm(user, { planId: plan.id, dueCents: 4_950 }, from);
    expect(said).toMatchObject({ kind: 'changed', quote: { dueCents: 9_900, promotion: null } });
    expect(await shop.membership.purchase(user.id)).toMatchObject({ promotion: null });
    expect(await invoicesOf(user.id)).toEqual([]);
  });

  it('A purchase reads the amount from Stripe again when an operator has changed it there', async () => {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    await shop.membership.choose(user, shop.plan('y-8000'));
    await shop.membership.quote(user, shop.plan('y-8000'), null);
    const api = shop.stripe.client();
    const [old] = (await api.prices.list({ lookup_keys: ['y-8000'] })).data;
    await api.prices.create({
      currency: 'usd',
      unit_amount: 850_000,
      recurring: { interval: 'day', interval_count: 365 },
      product: String(old?.product),
      lookup_key: 'y-8000',
      transfer_lookup_key: true,
    });
    await api.prices.update(old?.id ?? '', { active: false });
    const said = await shop.membership.confirm(user, { planId: toPlanId('15'), dueCents: 800_000 }, from);
    expect(said).toMatchObject({ kind: 'changed', quote: { dueCents: 850_000 } });
  });

  it('A new card replaces the previous one, at Stripe too', async () => {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    await shop.saveCard(user, cards.mastercard);
    const { customerId, card } = (await shop.membership.getMembership(user.id)) ?? {};
    const { data } = await shop.stripe.client().customers.listPaymentMethods(customerId ?? '');
    expect([card?.brand, data.map(({ card: kept }) => kept?.brand)]).toEqual(['mastercard', ['mastercard']]);
  });

  it('A declined payment that a second card pays produces one invoice', async () => {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user, cards.chargeDeclined);
    const declined = await shop.buy(user, 'm-99');
    expect(declined).toMatchObject({ kind: 'declined', message: expect.stringMatching(/declined/) });
    expect((await shop.userNow(user)).planId).toBeNull();
    await shop.saveCard(user, cards.mastercard);
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'paid' });
    expect((await invoicesOf(user.id)).map(({ status }) => status)).toEqual(['paid']);
    expect(await orders(user.id)).toHaveLength(1);
  });

  it('A second card whose bank asks at every payment leads to that question and not to a decline', async () => {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user, cards.chargeDeclined);
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'declined' });
    await shop.saveCard(user, cards.authenticatesAlways);
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'action', amountCents: 9_900 });
  });

  it('A purchase waits for bank authentication and is paid after it', async () => {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user, cards.authenticatesAlways);
    const asked = await shop.buy(user, 'y-900');
    expect(asked).toMatchObject({ kind: 'action', amountCents: 90_000 });
    expect((await shop.userNow(user)).planId).toBeNull();
    expect(await shop.buy(user, 'y-900')).toMatchObject({ kind: 'action' });
    const [invoice] = await invoicesOf(user.id);
    const [payment] = (await shop.stripe.client().invoicePayments.list({ invoice: invoice?.id ?? '', limit: 1 })).data;
    shop.stripe.engine.authenticate(String(payment?.payment.payment_intent), 'succeed');
    expect(await shop.membership.outcome(user)).toMatchObject({ kind: 'paid', plan: { id: '11' } });
    expect(await orders(user.id)).toMatchObject([{ paidCents: 90_000 }]);
  });

  it('An upgrade credits the unused time, and a later downgrade takes effect at the end of the paid period', async () => {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    await shop.buy(user, 'm-99');
    shop.passTime(10 * dayMs);
    const quote = await shop.membership.quote(user, shop.plan('m-499'), null);
    expect(quote.when).toBe('now');
    expect(quote.dueCents).toBeGreaterThan(20_000);
    expect(quote.dueCents).toBeLessThan(40_000);
    const upgraded = await shop.buy(user, 'm-499');
    expect(upgraded).toMatchObject({ kind: 'paid', order: { planId: '12' } });
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'scheduled' });
    expect(await shop.membership.getMembership(user.id)).toMatchObject({ nextPlanId: '10', cancelAtPeriodEnd: false });
    expect((await shop.userNow(user)).planId).toBe('12');
    shop.passTime(18 * dayMs);
    await shop.membership.work();
    expect(await shop.membership.getMembership(user.id)).toMatchObject({ nextPlanId: '10', cancelAtPeriodEnd: false });
    expect((await shop.userNow(user)).planId).toBe('12');
    shop.passTime(3 * dayMs);
    await shop.membership.refresh(user.id);
    expect((await shop.userNow(user)).planId).toBe('10');
    expect(await orders(user.id)).toMatchObject([{ paidCents: 9900, orderType: 'renewal' }, {}, {}]);
  });
});

import { listOrders } from '../../server/billing/index.ts';
import { setDisabled, type User } from '../../server/users/index.ts';
import { anyBackend } from '../support/stores.ts';
import { cards, dayMs, manyCards, type Shop, startShop } from './steps.ts';

const aboutMembership = [
  ...['receipt', 'payment-failed', 'payment-action-required', 'trial-ends', 'plan-cancelled', 'plan-ended'],
  ...[
    'plan-changes',
    'refund-made',
    'renewal-notice',
    'refund-failed',
    'payment-disputed',
    'card-changed',
    'card-removed',
  ],
];

describe('notifications of payments', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(anyBackend, manyCards);
    shop.stripe.tell(shop.foyer.url);
    shop.stripe.webhooks.mode = 'held';
  });
  beforeEach(() => shop.stripe.webhooks.drop());
  afterAll(() => shop?.close());

  const mails = async ({ email }: User) =>
    (await shop.foyer.mails(email)).filter(({ template }) => aboutMembership.includes(template));
  const templates = async (user: User) => (await mails(user)).map(({ template }) => template);
  const notices = async ({ id }: User) => {
    const { db } = shop.foyer.deps.database;
    const rows = db.selectFrom('notifications').select(['title', 'description']).where('userId', '=', id);
    return (await rows.orderBy('id').execute()).map(({ title, description }) => `${title}: ${description}`);
  };
  const noticeTitles = async (user: User) => (await notices(user)).map((notice) => notice.split(':')[0]);
  async function member(code?: string, user: Parameters<typeof shop.foyer.addUser>[0] = {}): Promise<User> {
    const added = await shop.foyer.addUser(user);
    await shop.saveCard(added);
    if (code !== undefined) expect(await shop.buy(added, code)).toMatchObject({ kind: 'paid' });
    return added;
  }
  const customerOf = async ({ id }: User) => (await shop.membership.getMembership(id))?.customerId ?? '';
  const cardOf = async ({ id }: User) => (await shop.membership.getMembership(id))?.card?.paymentMethodId ?? '';

  it('The member gets one receipt for each paid invoice, in the member’s language, however often it is read', async () => {
    const user = await member('m-99', { locale: 'de', givenName: 'Vera', familyName: 'Adler' });
    await shop.stripe.webhooks.deliver({ twice: true });
    await shop.membership.refresh(user.id);
    const [order] = await listOrders(shop.foyer.deps.database.db, user.id);
    const told = await mails(user);
    expect(told).toMatchObject([{ template: 'receipt', subject: 'Ihr Beleg von Foyer' }]);
    expect(told[0]?.values).toMatchObject({
      givenName: 'Vera',
      fullName: 'Vera Adler',
      email: user.email,
      zipcode: '10115',
      currency: 'usd',
      totalAmount: 9_900,
      planAmount: 9_900,
      discount: 0,
      creditUsed: 0,
      planName: 'Starter',
      planType: '1',
      cardType: 'visa',
      lastFour: '4242',
      rewards: '5',
      orderDate: order?.orderedAt,
      renewDate: order?.renewsAt,
      pageLink: `${shop.foyer.url}/settings/membership`,
    });
    shop.passTime(30 * dayMs + 60_000);
    await shop.stripe.webhooks.deliver();
    expect(await templates(user)).toEqual(['receipt', 'receipt']);
  });

  it('A disabled user gets no mails', async () => {
    const user = await member('m-99');
    await setDisabled(shop.foyer.deps.database.db, user.id, {
      disabledAt: shop.foyer.deps.now(),
      nowMs: shop.foyer.deps.now(),
    });
    shop.passTime(30 * dayMs + 60_000);
    await shop.membership.refresh(user.id);
    expect(await templates(user)).toEqual(['receipt']);
    expect(await listOrders(shop.foyer.deps.database.db, user.id)).toHaveLength(2);
  });

  it('Payments from before the membership was known give orders and no mails', async () => {
    const user = await shop.foyer.addUser();
    const stripe = shop.stripe.client();
    const customer = await stripe.customers.create({ metadata: { foyer_user: user.id } });
    const card = await stripe.paymentMethods.attach('pm_card_visa', { customer: customer.id });
    const [price] = (await stripe.prices.list({ lookup_keys: ['m-99'] })).data;
    await stripe.subscriptions.create({
      customer: customer.id,
      items: [{ price: price?.id ?? '' }],
      default_payment_method: card.id,
    });
    shop.passTime(10 * dayMs);
    await shop.membership.reconcile({ pauseMs: 0 });
    expect((await shop.userNow(user)).planId).toBe('10');
    expect(await listOrders(shop.foyer.deps.database.db, user.id)).toMatchObject([{ paidCents: 9_900 }]);
    expect(await mails(user)).toEqual([]);
    shop.passTime(21 * dayMs);
    await shop.membership.refresh(user.id);
    expect(await templates(user)).toEqual(['receipt']);
  });

  it('The member is notified once, three days before the trial ends, with the webhook or without it', async () => {
    const [heard, missed, bought] = [
      await shop.foyer.addUser(),
      await shop.foyer.addUser(),
      await shop.foyer.addUser(),
    ];
    for (const user of [heard, missed, bought]) await shop.membership.ensure(user, 7);
    await shop.saveCard(bought);
    await shop.buy(bought, 'm-99');
    shop.passTime(3.9 * dayMs);
    await shop.membership.work();
    for (const user of [heard, missed]) expect(await templates(user)).toEqual([]);
    shop.passTime(0.2 * dayMs);
    const customer = await customerOf(heard);
    await shop.stripe.webhooks.deliver({
      order: (events) => events.filter((event) => event.data.object.customer === customer),
    });
    expect(await templates(heard)).toEqual(['trial-ends']);
    expect(await templates(missed)).toEqual([]);
    for (const _ of [1, 2]) await shop.membership.work();
    for (const user of [heard, missed]) {
      expect(await mails(user)).toMatchObject([{ values: { days: 3, pageLink: `${shop.foyer.url}/plan-purchase` } }]);
      expect(await noticeTitles(user)).toEqual(['Your trial is about to end']);
    }
    expect(await templates(bought)).toEqual(['receipt']);
  });

  it('The member is notified of a change at the period’s end when it is chosen, and not at every read', async () => {
    const user = await member('m-899');
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'scheduled' });
    const again = async () => {
      for (const _ of [1, 2]) await shop.membership.refresh(user.id);
      await shop.stripe.webhooks.deliver();
      return (await templates(user)).slice(1);
    };
    expect(await again()).toEqual(['plan-changes']);
    expect((await notices(user))[1]).toMatch(/^Your plan is going to change: Scale → Starter · \w+ \d+, \d{4}$/);
    const { periodEnd } = (await shop.membership.getMembership(user.id)) ?? {};
    expect((await mails(user))[1]?.values).toMatchObject({
      fromPlan: 'Scale',
      toPlan: 'Starter',
      toPlanType: '1',
      amountCents: 9_900,
      changesAt: periodEnd,
    });
    await shop.membership.resume(user);
    expect(await again()).toEqual(['plan-changes']);
    await shop.membership.cancel(user);
    expect(await again()).toEqual(['plan-changes', 'plan-cancelled']);
    await shop.buy(user, 'm-499');
    expect(await again()).toEqual(['plan-changes', 'plan-cancelled', 'plan-changes']);
    // Nothing happens in the last days.
    shop.passTime(28 * dayMs);
    await shop.membership.work();
    expect(await again()).toHaveLength(3);
    shop.passTime(3 * dayMs);
    expect(await again()).toEqual(['plan-changes', 'plan-cancelled', 'plan-changes', 'receipt']);
  });

  it('The member is notified that the plan has ended as requested', async () => {
    const user = await member('m-99');
    await shop.membership.cancel(user);
    shop.passTime(30 * dayMs + 60_000);
    for (const _ of [1, 2]) await shop.membership.refresh(user.id);
    expect((await shop.userNow(user)).planId).toBeNull();
    const told = await mails(user);
    expect(told.map(({ template }) => template)).toEqual(['receipt', 'plan-cancelled', 'plan-ended']);
    expect(told[2]?.values).toMatchObject({ planName: 'Starter', why: 'cancelled' });
    expect(told[2]?.values.planNow).toBeUndefined();
    expect(await noticeTitles(user)).toEqual(['Your receipt', 'Your plan is canceled', 'Your plan has ended']);
  });

  it('The member is notified once of each failed attempt and then that the plan has ended for it', async () => {
    const user = await member('m-99');
    shop.stripe.engine.setCardBehaviour(await cardOf(user), cards.chargeDeclined);
    shop.passTime(30 * dayMs + 60_000);
    await shop.stripe.webhooks.deliver({ twice: true });
    const [, failed] = await mails(user);
    const { unpaidSince } = (await shop.membership.getMembership(user.id)) ?? {};
    expect(failed).toMatchObject({ template: 'payment-failed', values: { planName: 'Starter', amountCents: 9_900 } });
    expect(failed?.values).toMatchObject({ cardType: 'visa', lastFour: '4242', currency: 'usd' });
    const keptUntil = (unpaidSince ?? 0) + shop.membership.catalogue.graceDays * dayMs;
    expect(failed?.values).toMatchObject({ keptUntil });
    expect(Number(failed?.values.nextAttemptAt)).toBeGreaterThan(shop.foyer.deps.now());
    expect((await shop.userNow(user)).planId).toBe('10');
    shop.passTime(3 * dayMs + 60_000);
    await shop.stripe.webhooks.deliver();
    expect(await templates(user)).toEqual(['receipt', 'payment-failed', 'payment-failed']);
    // To the end of the grace, and of Stripe's attempts.
    for (let times = 0; times < 4; times += 1) {
      shop.passTime(5 * dayMs);
      await shop.membership.work();
      await shop.stripe.webhooks.deliver();
    }
    expect((await templates(user)).filter((template) => template === 'plan-ended')).toHaveLength(1);
    expect((await mails(user)).find(({ template }) => template === 'plan-ended')?.values).toMatchObject({
      why: 'unpaid',
    });
    expect((await noticeTitles(user)).filter((title) => title === 'Your plan has ended')).toHaveLength(1);
  });

  it('The member is notified that the bank requires authentication', async () => {
    const user = await member('m-99');
    shop.stripe.engine.setCardBehaviour(await cardOf(user), cards.authenticatesAlways);
    shop.passTime(30 * dayMs + 60_000);
    for (const _ of [1, 2]) await shop.membership.refresh(user.id);
    const told = await mails(user);
    expect(told.map(({ template }) => template)).toEqual(['receipt', 'payment-action-required']);
    expect(told[1]?.values).toMatchObject({ amountCents: 9_900, planName: 'Starter' });
    expect(await noticeTitles(user)).toEqual(['Your receipt', 'Please confirm your payment']);
  });

  it('The member is notified of a changed and of a removed card, and the first card is no change', async () => {
    const user = await member();
    expect(await templates(user)).toEqual([]);
    await shop.saveCard(user, cards.mastercard);
    expect(await mails(user)).toMatchObject([
      { template: 'card-changed', values: { cardType: 'mastercard', lastFour: '4444' } },
    ]);
    await shop.stripe.client().paymentMethods.detach(await cardOf(user));
    await shop.stripe.webhooks.deliver({ twice: true });
    expect((await mails(user)).slice(1)).toMatchObject([
      { template: 'card-removed', values: { cardType: 'mastercard', lastFour: '4444' } },
    ]);
    expect((await shop.membership.getMembership(user.id))?.card).toBeNull();
  });

  it('The member is notified of each refund with its amount', async () => {
    const user = await member('m-99');
    const [order] = await listOrders(shop.foyer.deps.database.db, user.id);
    shop.stripe.engine.refund(order?.invoiceId ?? '', 1_000);
    await shop.stripe.webhooks.deliver({ twice: true });
    shop.stripe.engine.refund(order?.invoiceId ?? '');
    await shop.stripe.webhooks.deliver();
    const refunds = (await mails(user)).slice(1);
    expect(refunds.map(({ template, values }) => [template, values.amountCents])).toEqual([
      ['refund-made', 1_000],
      ['refund-made', 8_900],
    ]);
    expect(await notices(user)).toEqual([
      'Your receipt: Starter · $99.00',
      'Your refund is on its way: Starter · $10.00',
      'Your refund is on its way: Starter · $89.00',
    ]);
    expect(refunds[0]?.values).toMatchObject({
      planName: 'Starter',
      cardType: 'visa',
      lastFour: '4242',
      currency: 'usd',
    });
  });
});

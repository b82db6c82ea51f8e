import { importPartnerDeals, type User } from '../../server/users/index.ts';
import { plansWith } from '../support/plans.ts';
import { anyBackend } from '../support/stores.ts';
import { wordsOf } from './checkout/shop.ts';
import { dayMs, manyCards, type Shop, startShop } from './steps.ts';
import { type Announced, cents, createSteps, fieldsIn, toDay, yearWithRefund } from './year-with-refund-steps.ts';

const minuteMs = 60_000;
const deletePath = '/settings/delete-account';
const freePath = '/plan-purchase/1';
const dealPath = '/plan-purchase-appsumo';

/** Other acts end the plan too: each is a cancellation, with the same notice and the same refund. */
describe('a following year that ends with another act than Cancel', () => {
  let shop: Shop;
  let steps: ReturnType<typeof createSteps>;
  beforeAll(async () => {
    shop = await startShop(anyBackend, { ...manyCards, PLANS_FILE: plansWith({ consumers: yearWithRefund }) });
    steps = createSteps(shop);
  });
  afterAll(() => shop?.close());

  const now = () => shop.stripe.engine.nowMs();

  async function afterMonths(months: number): Promise<User> {
    const user = await steps.buyer();
    await steps.passMonths(user, months);
    return user;
  }

  /** The page with the effects of an act, and the fields of its form. */
  async function announcedAt(user: User, at: string): Promise<Announced> {
    const html = await (await (await steps.browser(user)).get(at)).text();
    const words = wordsOf(html);
    const amount = /Then we give \$([\d,.]+) back to your card/.exec(words)?.[1];
    const day = /(?:until|ends on) (\w+ \d+, \d{4})(?:\.|, one month from now)/.exec(words)?.[1];
    return { words, day, cents: cents(amount), fields: fieldsIn(html) };
  }

  async function offerDeal(user: User): Promise<void> {
    const { database } = shop.foyer.deps;
    await database.transaction((trx) => importPartnerDeals(trx, [{ email: user.email, tier: 1 }], now()));
  }

  const erase = async () => {
    shop.passTime(14 * dayMs + minuteMs);
    await shop.foyer.app.deletion.work();
    shop.passTime(minuteMs);
    await shop.membership.work();
  };
  const notesAt = async (customer: string) =>
    (await steps.stripe.creditNotes.list({ customer })).data.map(({ total }) => total);

  it('The deletion names day and refund, and exactly that is given back before the customer is deleted', async () => {
    const user = await afterMonths(14);
    const customer = await steps.customerOf(user);
    const { words, day, cents, fields } = await announcedAt(user, deletePath);
    const endsAt = Number(fields.endsAt);
    expect(day).toBe(toDay(endsAt));
    expect(cents).toBe(await steps.unusedPart(user, endsAt));
    expect(words).not.toContain('Nothing is paid back');
    // The announced end counts for half an hour.
    shop.passTime(20 * minuteMs);
    const asked = await (await steps.browser(user)).post(deletePath, { ...fields, confirm: '1' });
    expect(asked.headers.get('location')).toBe('/account-deletion');
    await shop.membership.work();
    expect(await steps.subscriptionOf(user)).toMatchObject({ status: 'active', cancel_at: endsAt / 1_000 });
    const [mail] = await steps.mailsOf(user, 'plan-cancelled');
    expect(mail?.values).toMatchObject({ endsAt, refundCents: cents });
    expect(await notesAt(customer)).toEqual([]);
    await erase();
    expect(await notesAt(customer)).toEqual([cents]);
    expect(await steps.stripe.customers.retrieve(customer)).toMatchObject({ deleted: true });
  });

  it('A deletion that ends the plan at once gives the same amount back at once', async () => {
    const user = await afterMonths(14);
    const { words, cents, fields } = await announcedAt(user, deletePath);
    expect(words).toContain('The same amount is given back right away.');
    await (await steps.browser(user)).post(deletePath, { ...fields, confirm: '1', membership: 'at-once' });
    await shop.membership.work();
    expect(await steps.subscriptionOf(user)).toMatchObject({ status: 'canceled' });
    for (const _ of [1, 2]) {
      await shop.membership.work();
      expect(await steps.notesOf(user)).toEqual([cents]);
    }
    expect((await steps.ordersOf(user)).map(({ refundedCents }) => refundedCents)).toEqual([0, cents]);
  });

  it.each(['lost', 'unreachable'] as const)(
    'An end at once whose cancellation at Stripe is %s gives the amount back once',
    async (fault) => {
      const user = await afterMonths(14);
      const { cents, fields } = await announcedAt(user, deletePath);
      await (await steps.browser(user)).post(deletePath, { ...fields, confirm: '1', membership: 'at-once' });
      shop.stripe.fault(fault, (method) => method === 'DELETE');
      await shop.membership.work();
      shop.passTime(2 * minuteMs);
      await shop.membership.work();
      shop.passTime(5 * minuteMs);
      await shop.membership.work();
      expect(await steps.subscriptionOf(user)).toMatchObject({ status: 'canceled' });
      expect(await steps.notesOf(user)).toEqual([cents]);
    },
  );

  it('A member who stays after all keeps the year, and nothing is given back', async () => {
    const user = await afterMonths(14);
    const { periodEnd } = await steps.stored(user);
    const { fields } = await announcedAt(user, deletePath);
    await (await steps.browser(user)).post(deletePath, { ...fields, confirm: '1' });
    await shop.membership.work();
    await steps.browser(user);
    await shop.membership.work();
    expect(await steps.stored(user)).toMatchObject({ cancelAtPeriodEnd: false, periodEnd });
    await steps.passMonths(user, 13);
    expect((await steps.ordersOf(user)).map(({ paidCents }) => paidCents)).toEqual([90_000, 90_000, 90_000]);
    expect(await steps.notesOf(user)).toEqual([]);
  });

  it('A plan that was to follow comes back, for a member who stays after all', async () => {
    const user = await afterMonths(14);
    const { periodEnd } = await steps.stored(user);
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'scheduled' });
    const { fields } = await announcedAt(user, deletePath);
    await (await steps.browser(user)).post(deletePath, { ...fields, confirm: '1' });
    await shop.membership.work();
    expect(await steps.subscriptionOf(user)).toMatchObject({ cancel_at: Number(fields.endsAt) / 1_000 });
    await steps.browser(user);
    await shop.membership.work();
    expect(await steps.stored(user)).toMatchObject({ nextPlanId: '10', cancelAtPeriodEnd: false, periodEnd });
    await steps.passMonths(user, 11);
    expect((await shop.userNow(user)).planId).toBe('10');
    expect(await steps.notesOf(user)).toEqual([]);
  });

  it('A free plan begins on the named day, and the named amount is given back', async () => {
    const user = await afterMonths(14);
    const { day, cents, fields } = await announcedAt(user, freePath);
    const endsAt = Number(fields.endsAt);
    expect([day, cents]).toEqual([toDay(endsAt), await steps.unusedPart(user, endsAt)]);
    await (await steps.browser(user)).post(freePath, fields);
    expect(await steps.wordsAt(user, '/settings/membership')).toContain(`Your membership ends on ${day}`);
    const [mail] = await steps.mailsOf(user, 'plan-cancelled');
    expect(mail?.values).toMatchObject({ endsAt, refundCents: cents });
    expect((await shop.userNow(user)).planId).toBe('11');
    await steps.passTo(user, endsAt + minuteMs);
    expect((await shop.userNow(user)).planId).toBe('1');
    expect(await steps.notesOf(user)).toEqual([cents]);
    expect(await steps.left(user)).toEqual([]);
  });

  it('A partner’s plan begins on the named day, and the page and the mail name the refund', async () => {
    const user = await afterMonths(14);
    await offerDeal(user);
    const { day, cents, fields } = await announcedAt(user, `${dealPath}/?plan=101`);
    const endsAt = Number(fields.endsAt);
    expect([day, cents]).toEqual([toDay(endsAt), await steps.unusedPart(user, endsAt)]);
    await (await steps.browser(user)).post(`${dealPath}/?plan=101`, fields);
    await shop.membership.work();
    const [mail] = await steps.mailsOf(user, 'plan-changes');
    expect(mail?.values).toMatchObject({ changesAt: endsAt, refundCents: cents });
    await steps.passTo(user, endsAt + minuteMs);
    expect((await shop.userNow(user)).planId).toBe('101');
    expect(await steps.notesOf(user)).toEqual([cents]);
  });

  it('A plan that is cancelled on notice already keeps its day and its refund', async () => {
    const user = await afterMonths(14);
    const { day, cents, endsAt } = await steps.cancelOnNotice(user);
    await offerDeal(user);
    shop.passTime(5 * dayMs);
    for (const at of [freePath, `${dealPath}/?plan=101`]) expect(await steps.wordsAt(user, at)).toContain(`${day}`);
    const { fields } = await announcedAt(user, freePath);
    await (await steps.browser(user)).post(freePath, fields);
    await steps.passTo(user, endsAt + minuteMs);
    expect((await shop.userNow(user)).planId).toBe('1');
    expect(await steps.notesOf(user)).toEqual([cents]);
  });

  it('An end on notice that waits for Stripe keeps its refund when a free plan is taken meanwhile', async () => {
    const user = await afterMonths(14);
    let isAway = true;
    for (let requests = 0; requests < 60; requests += 1) shop.stripe.fault('unreachable', () => isAway);
    const { fields } = await steps.announced(await steps.browser(user));
    const browser = await steps.browser(user);
    await browser.post('/settings/membership/cancel', fields);
    await browser.post(freePath, (await announcedAt(user, freePath)).fields);
    isAway = false;
    shop.passTime(10 * minuteMs);
    await shop.membership.work();
    const endsAt = Number(fields.endsAt);
    expect(await steps.subscriptionOf(user)).toMatchObject({ cancel_at: endsAt / 1_000 });
    const due = await steps.unusedPart(user, endsAt);
    await steps.passTo(user, endsAt + minuteMs);
    expect(await steps.notesOf(user)).toEqual([due]);
  });

  it('Attack: an invented day gives back no more than the member is due', async () => {
    const user = await afterMonths(14);
    const { cents, fields } = await announcedAt(user, freePath);
    await (await steps.browser(user)).post(freePath, { ...fields, endsAt: String(now() + dayMs) });
    const { cancel_at: endsAt } = (await steps.subscriptionOf(user)) ?? {};
    expect(Number(endsAt) * 1_000).toBeGreaterThanOrEqual(Number(fields.endsAt));
    await steps.passTo(user, Number(endsAt) * 1_000 + minuteMs);
    const [given = 0] = await steps.notesOf(user);
    expect(given).toBeGreaterThan(0);
    expect(given).toBeLessThanOrEqual(cents);
  });

  it('In the first year these acts let the plan run out, and nothing is given back', async () => {
    const user = await afterMonths(5);
    for (const at of [deletePath, freePath]) {
      const { words, fields } = await announcedAt(user, at);
      expect(words).not.toContain('back to your card');
      expect(fields).not.toHaveProperty('endsAt');
    }
    await (await steps.browser(user)).post(freePath, (await announcedAt(user, freePath)).fields);
    expect(await steps.subscriptionOf(user)).toMatchObject({ cancel_at_period_end: true });
    await steps.passMonths(user, 8);
    expect(await steps.notesOf(user)).toEqual([]);
  });
});

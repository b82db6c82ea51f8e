import { loadPlans } from '../../config/plans.ts';
import { diffWithStripe } from '../../server/billing/index.ts';
import type { User } from '../../server/users/index.ts';
import { plansWith } from '../support/plans.ts';
import { anyBackend } from '../support/stores.ts';
import { mainForm, wordsOf } from './checkout/shop.ts';
import { dayMs, manyCards, type Shop, startShop } from './steps.ts';
import { cancelPath, createSteps, fieldsIn, monthsAfter, toDay, yearWithRefund } from './year-with-refund-steps.ts';

const path = '/settings/membership';
const minuteMs = 60_000;

/** Section 309 no. 9 BGB: the following year of a consumer's contract ends on a month's notice. */
describe('a yearly plan whose following years end on a month’s notice', () => {
  let shop: Shop;
  let steps: ReturnType<typeof createSteps>;
  beforeAll(async () => {
    shop = await startShop(anyBackend, { ...manyCards, PLANS_FILE: plansWith({ consumers: yearWithRefund }) });
    steps = createSteps(shop);
    const coupons = [
      { code: 'ALWAYS20', percent_off: 20, duration: 'forever' },
      { code: 'ONCE50', percent_off: 50, duration: 'once' },
    ] as const;
    for (const { code, ...coupon } of coupons) {
      const { id } = await steps.stripe.coupons.create(coupon);
      await steps.stripe.promotionCodes.create({ code, promotion: { type: 'coupon', coupon: id } });
    }
  });
  afterAll(() => shop?.close());

  const now = () => shop.stripe.engine.nowMs();
  const sum = (amounts: readonly number[]) => amounts.reduce((total, one) => total + one, 0);
  const wordsAt = async (user: User, at: string) => wordsOf(await (await (await steps.browser(user)).get(at)).text());
  const left = async ({ id }: User) =>
    (await diffWithStripe(shop.membership.deps, { pauseMs: 0 })).left.filter(({ userId }) => userId === id);

  /** The part of the last paid year that is after an end, by the invoice at Stripe. */
  async function unusedPart(user: User, endsAt: number): Promise<number> {
    const [invoice] = await steps.invoicesOf(user);
    const { period } = invoice?.lines.data[0] ?? {};
    const [start, end] = [period?.start ?? 0, period?.end ?? 0];
    return Math.round(((invoice?.amount_paid ?? 0) * (end - endsAt / 1_000)) / (end - start));
  }

  /** Cancels as the page says. @returns the announced day and amount */
  async function cancelOnNotice(user: User) {
    const browser = await steps.browser(user);
    const announced = await steps.announced(browser);
    const answer = await browser.post(cancelPath, announced.fields);
    expect(answer.headers.get('location')).toContain('cancelled-on-notice');
    return { ...announced, endsAt: Number(announced.fields.endsAt) };
  }

  it('The order says that the first year runs to its end, and how the following ones end', async () => {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    await shop.membership.saveDetails(user, {
      ...(await shop.membership.findDetails(user.id)).details,
      country: 'DE',
      postalCode: '10115',
    });
    const notice = 'The first year runs to its end. After it you can cancel at any time with one month’s notice';
    const year = await wordsAt(user, '/plan-purchase/11');
    expect(year).toMatch(/Renews on \w+ \d+, \d{4} at \$900\.00\./);
    expect(year).toContain(notice);
    expect(await wordsAt(user, '/plan-purchase/10')).not.toContain(notice);
    // A later year is announced likewise.
    expect(await shop.buy(user, 'm-499')).toMatchObject({ kind: 'paid' });
    expect(await wordsAt(user, '/plan-purchase/11')).toContain(notice);
  });

  it('In the first year the plan ends with its period, and nothing is given back', async () => {
    const user = await steps.buyer();
    await steps.passMonths(user, 5);
    const browser = await steps.browser(user);
    const html = await (await browser.get(cancelPath)).text();
    expect(wordsOf(html)).toMatch(/Until \w+ \d+, \d{4} you keep everything that your plan gives\./);
    expect(fieldsIn(html)).toEqual({});
    // An invented announcement changes nothing.
    const invented = { endsAt: String(monthsAfter(now(), 1)), refundCents: '50000', creditCents: '0' };
    expect((await browser.post(cancelPath, invented)).headers.get('location')).toContain('nothing');
    expect(await steps.stored(user)).toMatchObject({ cancelAtPeriodEnd: false });
    await browser.post(cancelPath, {});
    await steps.passMonths(user, 9);
    expect(await steps.ordersOf(user)).toMatchObject([{ paidCents: 90_000, refundedCents: 0 }]);
    expect((await shop.userNow(user)).planId).toBeNull();
  });

  it.each([
    ['fourteen', 14, 2],
    ['twenty-six', 26, 3],
  ])(
    'After %s months it ends on a month’s notice, and exactly the announced amount is given back',
    async (_, months, years) => {
      const user = await steps.buyer();
      await steps.passMonths(user, months);
      expect(await wordsAt(user, path)).toContain('Renews on');
      const { day, cents, endsAt, words } = await cancelOnNotice(user);
      expect(endsAt).toBe(monthsAfter(Math.floor(now() / 1_000) * 1_000, 1));
      expect(day).toBe(toDay(endsAt));
      expect(cents).toBe(await unusedPart(user, endsAt));
      expect(words).not.toContain('is not given back');
      expect(await steps.subscriptionOf(user)).toMatchObject({ status: 'active', cancel_at: endsAt / 1_000 });
      // Nothing is given back before, and the page and the mail say what will be.
      const amount = `$${(cents / 100).toFixed(2)}`;
      const page = await wordsAt(user, path);
      expect(page).toContain(`Your membership ends on ${day}`);
      expect(page).toContain(`${amount} is given back to you then.`);
      const [mail] = await steps.mailsOf(user, 'plan-cancelled');
      expect(mail?.values).toMatchObject({ endsAt, refundCents: cents, currency: 'usd' });
      expect(await left(user)).toEqual([]);

      await steps.passTo(user, endsAt - dayMs);
      expect((await shop.userNow(user)).planId).toBe('11');
      expect(await steps.notesOf(user)).toEqual([]);
      expect(await left(user)).toEqual([]);
      await steps.passTo(user, endsAt + minuteMs);
      expect((await shop.userNow(user)).planId).toBeNull();
      expect(await steps.notesOf(user)).toEqual([cents]);
      await steps.passMonths(user, 13);
      const orders = await steps.ordersOf(user);
      expect(orders.map(({ paidCents }) => paidCents)).toEqual(Array(years).fill(90_000));
      expect(orders.map(({ refundedCents }) => refundedCents)).toEqual([...Array(years - 1).fill(0), cents]);
      expect((await steps.mailsOf(user, 'refund-made')).map(({ values }) => values.amountCents)).toEqual([cents]);
      expect((await steps.stored(user)).balanceCents).toBe(0);
      expect(await left(user)).toEqual([]);
    },
  );

  it('In its last month a following year runs out: one month later would be after its end', async () => {
    const user = await steps.buyer();
    await steps.passMonths(user, 23);
    shop.passTime(2 * dayMs);
    const browser = await steps.browser(user);
    const html = await (await browser.get(cancelPath)).text();
    expect(fieldsIn(html)).toEqual({});
    await browser.post(cancelPath, {});
    expect(await steps.subscriptionOf(user)).toMatchObject({ cancel_at_period_end: true });
    await steps.passMonths(user, 2);
    expect((await steps.ordersOf(user)).map(({ refundedCents }) => refundedCents)).toEqual([0, 0]);
  });

  it('A member who resumes before the end keeps the year and the renewal, and nothing is given back', async () => {
    const user = await steps.buyer();
    await steps.passMonths(user, 14);
    const { periodEnd } = await steps.stored(user);
    await cancelOnNotice(user);
    shop.passTime(20 * dayMs);
    const words = await wordsAt(user, `${path}/resume`);
    expect(words).toContain(`renews on ${toDay(periodEnd ?? 0)} at $900.00`);
    expect(words).toContain('Nothing is given back.');
    const browser = await steps.browser(user);
    const fields = mainForm(await (await browser.get(`${path}/resume`)).text()).fields;
    expect((await browser.post(`${path}/resume`, fields)).headers.get('location')).toContain('resumed');
    expect(await steps.stored(user)).toMatchObject({ cancelAtPeriodEnd: false, periodEnd });
    expect(await steps.stored(user)).not.toHaveProperty('refundAtEnd');
    await steps.passMonths(user, 12);
    expect((await steps.ordersOf(user)).map(({ paidCents }) => paidCents)).toEqual([90_000, 90_000, 90_000]);
    expect(await steps.notesOf(user)).toEqual([]);
    expect((await steps.stored(user)).balanceCents).toBe(0);
  });

  it('A member who resumes and cancels again gets one refund: that of the later end', async () => {
    const user = await steps.buyer();
    await steps.passMonths(user, 14);
    const first = await cancelOnNotice(user);
    expect(await shop.membership.resume(user)).toBe('resumed');
    shop.passTime(10 * dayMs);
    const second = await cancelOnNotice(user);
    expect(second.cents).toBeLessThan(first.cents);
    await steps.passTo(user, first.endsAt + dayMs);
    expect((await shop.userNow(user)).planId).toBe('11');
    await steps.passTo(user, second.endsAt + minuteMs);
    expect(await steps.notesOf(user)).toEqual([second.cents]);
  });

  it('Attack: several cancellations at once give one refund', async () => {
    const user = await steps.buyer();
    await steps.passMonths(user, 14);
    const browser = await steps.browser(user);
    const { cents, fields } = await steps.announced(browser);
    await Promise.all([1, 2, 3].map(() => browser.post(cancelPath, fields)));
    await steps.passTo(user, Number(fields.endsAt) + minuteMs);
    await shop.membership.work();
    expect(await steps.notesOf(user)).toEqual([cents]);
  });

  it.each([
    ['an earlier end', ({ endsAt = '', ...rest }) => ({ ...rest, endsAt: String(Number(endsAt) - 20 * dayMs) })],
    ['a higher amount', (fields) => ({ ...fields, refundCents: '90000' })],
    ['an end without an amount', ({ endsAt = '' }) => ({ endsAt })],
    ['an end at once', ({ refundCents = '', creditCents = '' }) => ({ refundCents, creditCents })],
  ] as [string, (fields: Record<string, string>) => Record<string, string>][])(
    'Attack: a form with %s is answered 409, and nothing happens',
    async (_, forge) => {
      const user = await steps.buyer();
      await steps.passMonths(user, 14);
      const browser = await steps.browser(user);
      const { fields } = await steps.announced(browser);
      const answer = await browser.post(cancelPath, forge(fields));
      expect(answer.status).toBe(409);
      expect(await steps.subscriptionOf(user)).toMatchObject({ cancel_at: null });
      expect(await steps.stored(user)).toMatchObject({ cancelAtPeriodEnd: false });
    },
  );

  it.each([
    ['ALWAYS20', 72_000, 72_000],
    ['ONCE50', 45_000, 90_000],
  ])('With the code %s the part of what was paid is given back', async (code, first, following) => {
    const user = await steps.buyer('y-900', code);
    await steps.passMonths(user, 15);
    expect((await steps.ordersOf(user)).map(({ paidCents }) => paidCents)).toEqual([first, following]);
    const { cents, endsAt } = await cancelOnNotice(user);
    expect(cents).toBe(await unusedPart(user, endsAt));
    await steps.passTo(user, endsAt + minuteMs);
    expect(await steps.notesOf(user)).toEqual([cents]);
  });

  it('The part of the year that credit has paid becomes credit again', async () => {
    const user = await steps.buyer();
    await steps.stripe.customers.update(await steps.customerOf(user), { balance: -80_000 });
    await steps.passMonths(user, 14);
    const { fields, endsAt, words } = await cancelOnNotice(user);
    const [card, credit] = [Number(fields.refundCents), Number(fields.creditCents)];
    expect(card).toBe(10_000);
    expect(words).toContain(`$${(credit / 100).toFixed(2)} that was paid from your credit becomes your credit again`);
    await steps.passTo(user, endsAt + minuteMs);
    expect(await shop.membership.refresh(user.id)).toMatchObject({ balanceCents: 0 - credit });
    expect((await steps.ordersOf(user)).at(-1)).toMatchObject({ paidCents: 10_000, refundedCents: 10_000 });
  });

  it('What an operator gives back meanwhile is not given back twice', async () => {
    const user = await steps.buyer();
    await steps.passMonths(user, 14);
    const { cents, endsAt } = await cancelOnNotice(user);
    const [invoice] = await steps.invoicesOf(user);
    await steps.stripe.creditNotes.create({ invoice: invoice?.id ?? '', amount: 50_000, refund_amount: 50_000 });
    await shop.stripe.webhooks.deliver();
    await steps.passTo(user, endsAt + minuteMs);
    const notes = await steps.notesOf(user);
    expect(sum(notes)).toBe(90_000);
    expect(cents).toBeGreaterThan(40_000);
    expect((await steps.ordersOf(user)).at(-1)).toMatchObject({ paidCents: 90_000, refundedCents: 90_000 });
    expect(await left(user)).toEqual([]);
  });

  it('Of a year that is partly refunded, no more than the rest is announced', async () => {
    const user = await steps.buyer();
    await steps.passMonths(user, 13);
    const [invoice] = await steps.invoicesOf(user);
    await steps.stripe.creditNotes.create({ invoice: invoice?.id ?? '', amount: 80_000, refund_amount: 80_000 });
    await shop.stripe.webhooks.deliver();
    const { cents, endsAt } = await cancelOnNotice(user);
    expect(cents).toBe(10_000);
    await steps.passTo(user, endsAt + minuteMs);
    expect(sum(await steps.notesOf(user))).toBe(90_000);
  });

  it.each([
    ['lost', 0],
    ['won', 1],
  ] as const)('A refund of a disputed payment waits for the bank: %s', async (outcome, refunds) => {
    const user = await steps.buyer();
    await steps.passMonths(user, 14);
    const { cents, endsAt } = await cancelOnNotice(user);
    const [invoice] = await steps.invoicesOf(user);
    const dispute = shop.stripe.engine.dispute(invoice?.id ?? '');
    await shop.stripe.webhooks.deliver();
    await steps.passTo(user, endsAt + minuteMs);
    expect(await steps.notesOf(user)).toEqual([]);
    expect(await left(user)).toContainEqual(expect.objectContaining({ kind: 'act unfinished' }));
    shop.stripe.engine.moveDispute(dispute, outcome);
    await shop.stripe.webhooks.deliver();
    await steps.passTo(user, endsAt + dayMs);
    expect(await steps.notesOf(user)).toEqual(Array(refunds).fill(cents));
    expect(await left(user)).toEqual([]);
  });

  it('While a dispute is open the year runs out, and nothing is announced', async () => {
    const user = await steps.buyer();
    await steps.passMonths(user, 14);
    const [invoice] = await steps.invoicesOf(user);
    shop.stripe.engine.dispute(invoice?.id ?? '', 'under_review');
    await shop.membership.refresh(user.id);
    await shop.stripe.webhooks.deliver();
    expect((await steps.announced(await steps.browser(user))).fields).toEqual({});
  });

  it('While Stripe is away the end on notice is noted, and the exact amount comes with the mail', async () => {
    const user = await steps.buyer();
    await steps.passMonths(user, 14);
    let isAway = true;
    shop.stripe.fault('unreachable', () => isAway, Number.POSITIVE_INFINITY);
    const browser = await steps.browser(user);
    const { words, fields, day } = await steps.announced(browser);
    expect(words).toContain('Then we give back what you paid for the time after that day.');
    expect(Object.keys(fields)).toEqual(['endsAt']);
    expect((await browser.post(cancelPath, fields)).headers.get('location')).toContain('cancel-noted');
    expect(await wordsAt(user, path)).toContain(day);
    // A second click asks for nothing more.
    expect((await browser.post(cancelPath, fields)).headers.get('location')).toMatch(/nothing|cancel-noted/);
    isAway = false;
    shop.passTime(10 * minuteMs);
    await shop.membership.work();
    const [mail] = await steps.mailsOf(user, 'plan-cancelled');
    const endsAt = Number(fields.endsAt);
    expect(mail?.values).toMatchObject({ endsAt, refundCents: await unusedPart(user, endsAt) });
    await steps.passTo(user, endsAt + minuteMs);
    expect(await steps.notesOf(user)).toEqual([mail?.values.refundCents]);
  });

  it.each([
    ['unreachable', '/v1/subscriptions/'],
    ['lost', '/v1/subscriptions/'],
  ] as const)('An end that is interrupted (%s at %s) is finished without the member', async (kind, place) => {
    const user = await steps.buyer();
    await steps.passMonths(user, 14);
    const browser = await steps.browser(user);
    const { fields, cents } = await steps.announced(browser);
    shop.stripe.fault(kind, (method, at) => method !== 'GET' && at.startsWith(place));
    await browser.post(cancelPath, fields);
    shop.passTime(10 * minuteMs);
    await shop.membership.work();
    expect(await steps.subscriptionOf(user)).toMatchObject({ cancel_at: Number(fields.endsAt) / 1_000 });
    await steps.passTo(user, Number(fields.endsAt) + minuteMs);
    expect(await steps.notesOf(user)).toEqual([cents]);
  });

  it('Events in any order, also twice, leave one end, one mail and one refund', async () => {
    const user = await steps.buyer();
    await steps.passMonths(user, 14);
    const { cents, endsAt } = await cancelOnNotice(user);
    const shuffle = { order: <E>(events: readonly E[]) => events.toReversed(), twice: true };
    await shop.stripe.webhooks.deliver(shuffle);
    shop.passTime(endsAt + minuteMs - now());
    await shop.stripe.webhooks.deliver(shuffle);
    await shop.membership.work();
    await shop.stripe.webhooks.deliver(shuffle);
    expect(await steps.notesOf(user)).toEqual([cents]);
    expect(await steps.mailsOf(user, 'plan-cancelled')).toHaveLength(1);
    expect(await steps.mailsOf(user, 'refund-made')).toHaveLength(1);
    expect((await shop.userNow(user)).planId).toBeNull();
  });

  it('A higher plan that is bought before the end goes on, and the refund is dropped', async () => {
    const user = await steps.buyer();
    await steps.passMonths(user, 14);
    const { endsAt } = await cancelOnNotice(user);
    expect(await shop.buy(user, 'y-5000')).toMatchObject({ kind: 'paid' });
    expect(await steps.stored(user)).toMatchObject({ cancelAtPeriodEnd: false, pricedPlanId: '13' });
    await steps.passTo(user, endsAt + dayMs);
    expect((await shop.userNow(user)).planId).toBe('13');
    expect(await steps.notesOf(user)).toEqual([]);
  });

  it('Another plan that is chosen before the end begins after the whole year, without a refund', async () => {
    const user = await steps.buyer('y-5000');
    await steps.passMonths(user, 14);
    const { periodEnd } = await steps.stored(user);
    const { endsAt } = await cancelOnNotice(user);
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'scheduled', at: periodEnd });
    await steps.passTo(user, endsAt + dayMs);
    expect((await shop.userNow(user)).planId).toBe('13');
    expect(await steps.notesOf(user)).toEqual([]);
    await steps.passTo(user, (periodEnd ?? 0) + dayMs);
    expect((await shop.userNow(user)).planId).toBe('10');
  });

  it('A year after which another plan was to follow ends on notice, too', async () => {
    const user = await steps.buyer('y-5000');
    await steps.passMonths(user, 14);
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'scheduled' });
    const { cents, endsAt } = await cancelOnNotice(user);
    expect(cents).toBe(await unusedPart(user, endsAt));
    await steps.passTo(user, endsAt + minuteMs);
    expect(await steps.notesOf(user)).toEqual([cents]);
    expect((await shop.userNow(user)).planId).toBeNull();
  });

  it('The mailed link names the same end and amount, without a sign-in', async () => {
    const user = await steps.buyer();
    await steps.passMonths(user, 14);
    const visitor = shop.foyer.browser();
    await visitor.get('/cancel-membership');
    await visitor.post('/cancel-membership', { email: user.email });
    const mail = (await steps.mailsOf(user, 'cancel-link')).at(-1);
    const url = new URL(String(mail?.values.cancelUrl));
    const html = await (await visitor.get(`${url.pathname}${url.search}`)).text();
    const fields = fieldsIn(html);
    expect(wordsOf(html)).toContain(`ends on ${toDay(Number(fields.endsAt))}, one month from now`);
    expect((await visitor.post(url.pathname, { ...fields, refundCents: '1' })).status).toBe(409);
    expect((await visitor.post(url.pathname, fields)).headers.get('location')).toContain('done');
    await steps.passTo(user, Number(fields.endsAt) + minuteMs);
    expect(await steps.notesOf(user)).toEqual([Number(fields.refundCents)]);
  });

  it('The notice before a renewal says that the following year ends on a month’s notice', async () => {
    const user = await steps.buyer();
    await steps.passMonths(user, 11);
    shop.passTime(8 * dayMs);
    await shop.membership.work();
    const [mail] = await steps.mailsOf(user, 'renewal-notice');
    expect(mail?.values).toMatchObject({ amountCents: 90_000, endsOnNotice: true });
  });

  it('A monthly plan, and the first year after one, end with their period', async () => {
    const user = await steps.buyer('m-499');
    await steps.passMonths(user, 3);
    expect((await steps.announced(await steps.browser(user))).fields).toEqual({});
    expect(await shop.buy(user, 'y-900')).toMatchObject({ kind: 'scheduled' });
    await steps.passMonths(user, 4);
    expect((await shop.userNow(user)).planId).toBe('11');
    expect((await steps.announced(await steps.browser(user))).fields).toEqual({});
    await steps.passMonths(user, 12);
    expect(Object.keys((await steps.announced(await steps.browser(user))).fields)).toContain('endsAt');
  });
});

it('A catalogue in which cancelling gives the rest back at once has no end on notice', () => {
  const file = plansWith({ consumers: yearWithRefund, cancel: 'prorated' });
  expect(() => loadPlans(file)).toThrow('leave year-with-refund out');
});

import { loadPlans } from '../../config/plans.ts';
import { plansWith } from '../support/plans.ts';
import { anyBackend } from '../support/stores.ts';
import { asMember } from './api-steps.ts';
import { wordsOf } from './checkout/shop.ts';
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
    shop.stripe.tell(shop.foyer.url);
    shop.stripe.webhooks.mode = 'held';
    steps = createSteps(shop);
  });
  afterAll(() => shop?.close());

  const now = () => shop.stripe.engine.nowMs();
  it('The order says that the first year runs to its end, and how the following ones end', async () => {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    await shop.membership.saveDetails(user, {
      ...(await shop.membership.findDetails(user.id)).details,
      country: 'DE',
      postalCode: '10115',
    });
    const notice = 'The first year runs to its end. After it you can cancel at any time with one month’s notice';
    const year = await steps.wordsAt(user, '/plan-purchase/11');
    expect(year).toMatch(/Renews on \w+ \d+, \d{4} at \$900\.00\./);
    expect(year).toContain(notice);
    expect(await steps.wordsAt(user, '/plan-purchase/10')).not.toContain(notice);
    // A later year is announced likewise.
    expect(await shop.buy(user, 'm-499')).toMatchObject({ kind: 'paid' });
    expect(await steps.wordsAt(user, '/plan-purchase/11')).toContain(notice);
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
      expect(await steps.wordsAt(user, path)).toContain('Renews on');
      const { day, cents, endsAt, words } = await steps.cancelOnNotice(user);
      // Some seconds may have passed since the page was asked for.
      expect(monthsAfter(now(), 1) - endsAt).toBeGreaterThanOrEqual(0);
      expect(monthsAfter(now(), 1) - endsAt).toBeLessThan(minuteMs);
      expect(day).toBe(toDay(endsAt));
      expect(cents).toBe(await steps.unusedPart(user, endsAt));
      expect(words).not.toContain('isn’t given back');
      expect(await steps.subscriptionOf(user)).toMatchObject({ status: 'active', cancel_at: endsAt / 1_000 });
      // Nothing is given back before, and the page and the mail say what will be.
      const amount = `$${(cents / 100).toFixed(2)}`;
      const page = await steps.wordsAt(user, path);
      expect(page).toContain(`Your membership ends on ${day}`);
      expect(page).toContain(`${amount} is given back to you then.`);
      const [mail] = await steps.mailsOf(user, 'plan-cancelled');
      expect(mail?.values).toMatchObject({ endsAt, refundCents: cents, currency: 'usd' });
      expect(await steps.left(user)).toEqual([]);

      await steps.passTo(user, endsAt - dayMs);
      expect((await shop.userNow(user)).planId).toBe('11');
      expect(await steps.notesOf(user)).toEqual([]);
      expect(await steps.left(user)).toEqual([]);
      await steps.passTo(user, endsAt + minuteMs);
      expect((await shop.userNow(user)).planId).toBeNull();
      expect(await steps.notesOf(user)).toEqual([cents]);
      await steps.passMonths(user, 13);
      const orders = await steps.ordersOf(user);
      expect(orders.map(({ paidCents }) => paidCents)).toEqual(Array(years).fill(90_000));
      expect(orders.map(({ refundedCents }) => refundedCents)).toEqual([...Array(years - 1).fill(0), cents]);
      expect((await steps.mailsOf(user, 'refund-made')).map(({ values }) => values.amountCents)).toEqual([cents]);
      expect((await steps.stored(user)).balanceCents).toBe(0);
      expect(await steps.left(user)).toEqual([]);
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
    await steps.cancelOnNotice(user);
    shop.passTime(20 * dayMs);
    const words = await steps.wordsAt(user, `${path}/resume`);
    expect(words).toContain(`renews on ${toDay(periodEnd ?? 0)} at $900.00`);
    expect(words).toContain('Nothing is given back.');
    const browser = await steps.browser(user);
    const fields = fieldsIn(await (await browser.get(`${path}/resume`)).text());
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
    const first = await steps.cancelOnNotice(user);
    expect(await shop.membership.resume(user)).toBe('resumed');
    shop.passTime(10 * dayMs);
    const second = await steps.cancelOnNotice(user);
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

  it('A higher plan that is bought before the end goes on, and the refund is dropped', async () => {
    const user = await steps.buyer();
    await steps.passMonths(user, 14);
    const { endsAt } = await steps.cancelOnNotice(user);
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
    const { endsAt } = await steps.cancelOnNotice(user);
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
    const { cents, endsAt } = await steps.cancelOnNotice(user);
    expect(cents).toBe(await steps.unusedPart(user, endsAt));
    await steps.passTo(user, endsAt + minuteMs);
    expect(await steps.notesOf(user)).toEqual([cents]);
    expect((await shop.userNow(user)).planId).toBeNull();
  });

  it('The JSON API names the end and the refund to a member who has cancelled', async () => {
    const user = await steps.buyer();
    await steps.passMonths(user, 14);
    const customer = await steps.customerOf(user);
    const call = await asMember(shop, user);
    const before = await call('GET', `/customer/${customer}`);
    expect(before.body.subscription).not.toHaveProperty('0.refund_at_end');
    const { cents, endsAt } = await steps.cancelOnNotice(user);
    expect((await call('GET', `/customer/${customer}`)).body.subscription).toEqual([
      expect.objectContaining({
        status: 'active',
        current_period_end: endsAt,
        cancel_at_period_end: true,
        refund_at_end: (cents / 100).toFixed(2),
      }),
    ]);
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

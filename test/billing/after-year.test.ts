import type Stripe from 'stripe';
import { loadPlans, PlansFileError } from '../../config/plans.ts';
import { createStripe, listOrders, subscriptionOnDeletion, syncPlans } from '../../server/billing/index.ts';
import type { User } from '../../server/users/index.ts';
import { plansWith } from '../support/plans.ts';
import { anyBackend } from '../support/stores.ts';
import { stripeKeys } from '../support/stripe.ts';
import { mainForm, wordsOf } from './checkout/shop.ts';
import { enter } from './details-steps.ts';
import { cards, dayMs, manyCards, type Shop, startShop } from './steps.ts';

const path = '/settings/membership';
const consumers = { withdrawalDays: 14, afterYear: 'monthly' as const };

/** Section 309 no. 9 BGB: a consumer's contract of a year is not renewed by another year. */
describe('a yearly plan that goes on by the month', () => {
  let shop: Shop;
  let stripe: Stripe;
  beforeAll(async () => {
    shop = await startShop(anyBackend, { ...manyCards, PLANS_FILE: plansWith({ consumers }) });
    stripe = shop.stripe.client();
  });
  afterAll(() => shop?.close());

  async function buyer(...codes: string[]): Promise<User> {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    for (const code of codes) expect(await shop.buy(user, code)).toMatchObject({ kind: 'paid' });
    return user;
  }
  const wordsAt = async (user: User, at: string) =>
    wordsOf(await (await (await shop.foyer.signedIn(user)).get(at)).text());
  const membershipOf = async ({ id }: User) => shop.membership.getMembership(id);
  const ordersOf = async ({ id }: User) => (await listOrders(shop.foyer.deps.database.db, id)).toReversed();
  const subscriptionOf = async (user: User) =>
    stripe.subscriptions.retrieve((await membershipOf(user))?.subscriptionId ?? '', { expand: ['schedule'] });
  const phasesOf = async (user: User) => {
    const { schedule } = await subscriptionOf(user);
    return typeof schedule === 'object' ? (schedule?.phases.length ?? 0) : Number.NaN;
  };
  const day = (ms: number) => new Intl.DateTimeFormat('en', { dateStyle: 'long' }).format(ms);
  async function passMonths(user: User, months: number): Promise<void> {
    const until = new Date(shop.stripe.engine.nowMs());
    until.setUTCMonth(until.getUTCMonth() + months);
    while (shop.stripe.engine.nowMs() < until.getTime()) {
      shop.passTime(Math.min(15 * dayMs, until.getTime() - shop.stripe.engine.nowMs()));
      await shop.membership.work();
      await shop.membership.refresh(user.id);
    }
  }

  it('Over fourteen months the year is charged once, then each month, as order and membership page announced', async () => {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    await enter(await shop.foyer.signedIn(user), {});
    const order = await wordsAt(user, '/plan-purchase/11');
    const announced =
      /The year isn’t renewed: from (\w+ \d+, \d{4}) your plan goes on by the month, and (\$[\d.]+) is charged\./;
    const [, date, amount] = announced.exec(order) ?? [];
    expect(amount).toBe('$99.00');
    expect(await shop.buy(user, 'y-900')).toMatchObject({ kind: 'paid' });
    const page = await wordsAt(user, path);
    expect(page).toContain(`Until ${date} you have Starter, annual. After that you have Starter, monthly.`);
    expect(page).toContain(`Next payment ${date} at $99.00`);
    expect(page).not.toContain('Keep my plan');
    expect(day((await membershipOf(user))?.periodEnd ?? 0)).toBe(date);

    await passMonths(user, 14);
    const orders = await ordersOf(user);
    expect(orders.map(({ paidCents }) => paidCents)).toEqual([90_000, 9_900, 9_900, 9_900]);
    expect(orders.map(({ planId }) => planId)).toEqual(['11', '10', '10', '10']);
    expect(day(orders[1]?.orderedAt ?? 0)).toBe(date);
    expect((await shop.userNow(user)).planId).toBe('10');
    expect(await membershipOf(user)).toMatchObject({ nextPlanId: null, nextCharge: { amountCents: 9_900 } });
    expect((await subscriptionOf(user)).schedule).toBeNull();
  });

  it('A purchase whose schedule Stripe could not take is paid, and gets it without the member', async () => {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    shop.stripe.fault('unreachable', (method, at) => method === 'POST' && at.startsWith('/v1/subscription_schedules'));
    expect(await shop.buy(user, 'y-900')).toMatchObject({ kind: 'paid' });
    // What is written down counts on the page.
    expect(await wordsAt(user, path)).toContain('to Starter, monthly');
    shop.passTime(2 * 60_000);
    await shop.membership.work();
    expect(await phasesOf(user)).toBe(2);
    expect((await ordersOf(user)).map(({ paidCents }) => paidCents)).toEqual([90_000]);
  });

  it('A member who cancels and resumes has the monthly plan after the year again, as the page says', async () => {
    const user = await buyer('y-900');
    await shop.membership.cancel(user);
    expect(await membershipOf(user)).toMatchObject({ cancelAtPeriodEnd: true, nextPlanId: null });
    expect(await wordsAt(user, `${path}/resume`)).toMatch(
      /Starter goes on\. From \w+ \d+, \d{4} it goes on by the month, and \$99\.00 is charged\./,
    );
    expect(await shop.membership.resume(user)).toBe('resumed');
    expect(await membershipOf(user)).toMatchObject({ cancelAtPeriodEnd: false, nextPlanId: '10' });
    await passMonths(user, 13);
    expect((await ordersOf(user)).map(({ paidCents }) => paidCents)).toEqual([90_000, 9_900, 9_900]);
  });

  it('The change to the monthly plan cannot be taken back for another year', async () => {
    const user = await buyer('y-900');
    const browser = await shop.foyer.signedIn(user);
    expect((await browser.get(`${path}/resume`)).headers.get('location')).toContain('nothing');
    await browser.post(`${path}/resume`);
    expect(await membershipOf(user)).toMatchObject({ nextPlanId: '10' });
  });

  it('An upgrade to a higher yearly plan goes on as that plan by the month', async () => {
    const user = await buyer('y-900', 'y-5000');
    expect(await membershipOf(user)).toMatchObject({ pricedPlanId: '13', nextPlanId: '12' });
    expect(await wordsAt(user, path)).toMatch(/Next payment \w+ \d+, \d{4} at \$499\.00/);
  });

  it('A yearly plan that begins later has its year, and then goes on by the month', async () => {
    const user = await buyer('m-499');
    expect(await wordsAt(user, '/plan-purchase/11')).toContain('After its year it goes on by the month.');
    expect(await shop.buy(user, 'y-900')).toMatchObject({ kind: 'scheduled' });
    await passMonths(user, 14);
    expect((await ordersOf(user)).map(({ paidCents }) => paidCents)).toEqual([49_900, 90_000, 9_900, 9_900]);
  });

  /** The monthly plan costs $89.00, until the operator raises it to the catalogue's $99.00. */
  async function sellMonthsForLess(): Promise<void> {
    const [raised] = (await stripe.prices.list({ lookup_keys: ['m-99'] })).data;
    await stripe.prices.create({
      product: String(raised?.product),
      currency: 'usd',
      unit_amount: 8_900,
      recurring: { interval: 'month' },
      lookup_key: 'm-99',
      transfer_lookup_key: true,
      metadata: { foyer_plan: '10' },
    });
    shop.membership.deps.prices.forget();
  }
  const raiseMonths = () =>
    syncPlans(createStripe({ secretKey: stripeKeys.secretKey, apiUrl: shop.stripe.url }), shop.membership.catalogue);

  it('A monthly price that is raised while the page of the year is open is shown before anything is charged', async () => {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    const browser = await shop.foyer.signedIn(user);
    await enter(browser, {});
    await sellMonthsForLess();
    const html = await (await browser.get('/plan-purchase/11')).text();
    expect(wordsOf(html)).toMatch(/goes on by the month, and \$89\.00 is charged/);
    await raiseMonths();
    const { action, fields } = mainForm(html);
    const answer = await browser.post(action, fields);
    const shown = await answer.text();
    expect(answer.status).toBe(409);
    expect(wordsOf(shown)).toMatch(/goes on by the month, and \$99\.00 is charged/);
    expect(await ordersOf(user)).toEqual([]);
    expect((await browser.post(action, mainForm(shown).fields)).status).toBe(303);
    expect(await membershipOf(user)).toMatchObject({ nextPlanId: '10', nextCharge: { amountCents: 9_900 } });
  });

  it('A member who resumes a year sees a monthly price that was raised since before anything is done', async () => {
    const user = await buyer('y-900');
    await shop.membership.cancel(user);
    await sellMonthsForLess();
    const browser = await shop.foyer.signedIn(user);
    const formOf = (html: string) => ({ laterCents: /name="laterCents" value="([^"]*)"/.exec(html)?.[1] ?? '' });
    const html = await (await browser.get(`${path}/resume`)).text();
    expect(wordsOf(html)).toMatch(/goes on by the month, and \$89\.00 is charged\./);
    await raiseMonths();
    const answer = await browser.post(`${path}/resume`, formOf(html));
    const shown = await answer.text();
    expect(answer.status).toBe(409);
    expect(wordsOf(shown)).toContain('The amount of the next payment has changed since this page was opened.');
    expect(wordsOf(shown)).toMatch(/goes on by the month, and \$99\.00 is charged\./);
    expect(await membershipOf(user)).toMatchObject({ cancelAtPeriodEnd: true, nextPlanId: null });
    expect((await browser.post(`${path}/resume`, formOf(shown))).headers.get('location')).toContain('resumed');
    expect(await membershipOf(user)).toMatchObject({ nextPlanId: '10', nextCharge: { amountCents: 9_900 } });
  });

  it('A resumption that waits for Stripe keeps the announced monthly price, though the operator raises it', async () => {
    const user = await buyer('y-900');
    await shop.membership.cancel(user);
    await sellMonthsForLess();
    shop.membership.deps.prices.forget();
    const browser = await shop.foyer.signedIn(user);
    const html = await (await browser.get(`${path}/resume`)).text();
    expect(wordsOf(html)).toMatch(/goes on by the month, and \$89\.00 is charged\./);
    let isAway = true;
    for (let requests = 0; requests < 60; requests += 1) shop.stripe.fault('unreachable', () => isAway);
    const laterCents = /name="laterCents" value="([^"]*)"/.exec(html)?.[1] ?? '';
    const answer = await browser.post(`${path}/resume`, { laterCents });
    expect(answer.headers.get('location')).toContain('resume-noted');
    isAway = false;
    await raiseMonths();
    shop.membership.deps.prices.forget();
    shop.passTime(10 * 60_000);
    await shop.membership.work();
    expect(await membershipOf(user)).toMatchObject({ nextPlanId: '10', nextCharge: { amountCents: 8_900 } });
    await passMonths(user, 13);
    expect((await ordersOf(user)).map(({ paidCents }) => paidCents)).toEqual([90_000, 8_900, 8_900]);
  });

  it('The monthly price that a paid year has announced stays, though the operator raises it while a bank asks', async () => {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user, cards.authenticatesAlways);
    const browser = await shop.foyer.signedIn(user);
    await enter(browser, {});
    await sellMonthsForLess();
    const { action, fields } = mainForm(await (await browser.get('/plan-purchase/11')).text());
    expect((await browser.post(action, fields)).status).toBe(200);
    await raiseMonths();
    shop.membership.deps.prices.forget();
    const { pending } = (await membershipOf(user)) ?? {};
    const invoice = await stripe.invoices.retrieve(pending?.invoiceId ?? '', {
      expand: ['payments.data.payment.payment_intent'],
    });
    const intent = invoice.payments?.data[0]?.payment.payment_intent;
    shop.stripe.engine.authenticate(typeof intent === 'object' ? intent.id : '', 'succeed');
    expect(await shop.membership.outcome(user)).toMatchObject({ kind: 'paid' });
    expect(await membershipOf(user)).toMatchObject({ nextPlanId: '10', nextCharge: { amountCents: 8_900 } });
    await shop.saveCard(user);
    await passMonths(user, 13);
    expect((await ordersOf(user)).map(({ paidCents }) => paidCents)).toEqual([90_000, 8_900, 8_900]);
  });

  it('A member of a year who leaves and stays keeps the announced monthly price, though the operator raises it', async () => {
    await sellMonthsForLess();
    const user = await buyer('y-900');
    expect(await membershipOf(user)).toMatchObject({ nextCharge: { amountCents: 8_900 } });
    const leaving = subscriptionOnDeletion(shop.foyer.deps.database, shop.membership.catalogue);
    const nowMs = shop.membership.deps.now();
    const inOne = shop.foyer.deps.database.transaction;
    const noted = await inOne((trx) => leaving.cancelOnDeletion(trx, user.id, { timing: 'period-end', nowMs }));
    await shop.membership.work();
    await raiseMonths();
    shop.membership.deps.prices.forget();
    await inOne((trx) => leaving.resumeAfterCancellation(trx, user.id, { noted: noted ?? '', nowMs }));
    await shop.membership.work();
    expect(await membershipOf(user)).toMatchObject({ nextPlanId: '10', nextCharge: { amountCents: 8_900 } });
  });

  it('A withdrawal from the year gives everything back and ends the schedule, too', async () => {
    const user = await buyer('y-900');
    expect(await shop.membership.withdraw(user)).toBe('withdrawn');
    await passMonths(user, 13);
    expect(await ordersOf(user)).toMatchObject([{ paidCents: 90_000, refundedCents: 90_000 }]);
  });
});

it('A catalogue in which a yearly plan has no monthly one of the same name is refused', () => {
  const plans = loadPlans().plans.filter(({ id }) => id !== '10');
  const file = plansWith({ consumers, plans, defaultPlan: '12' });
  expect(() => loadPlans(file)).toThrow(PlansFileError);
  expect(() => loadPlans(file)).toThrow('there is no paid monthly plan with the name Starter');
});

import type { User } from '../../server/users/index.ts';
import { wordsOf } from '../billing/checkout/shop.ts';
import type { Shop } from '../billing/steps.ts';
import { later, page, path, standing, startMembershipPages, withFailedRenewal, withPlan } from './membership-steps.ts';

describe('the page of the membership while Stripe is away', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startMembershipPages();
  });
  afterAll(() => shop?.close());

  /** Does something while Stripe is away. */
  async function away<T>(act: () => Promise<T>): Promise<T> {
    let isAway = true;
    for (let tries = 0; tries < 40; tries += 1) shop.stripe.fault('unreachable', () => isAway);
    try {
      return await act();
    } finally {
      isAway = false;
    }
  }
  const noted = 'Your cancellation is noted. It’s passed on as soon as our payment provider answers.';
  const atStripe = async (user: User) =>
    shop.stripe.engine.find((await standing(shop, user)).subscriptionId ?? '') as { cancel_at_period_end: boolean };

  it('The page shows stored data with a warning while Stripe is away, and a payment is refused with 503', async () => {
    const { browser } = await withPlan(shop);
    const shown = await away(() => browser.get(path));
    expect(shown.status).toBe(200);
    const words = wordsOf(await shown.text());
    expect(words).toContain('What you see here may not be quite up to date.');
    expect(words).toContain('Starter, every 30 days');
    expect(words).toContain('$99.00');
    const { browser: other } = await withFailedRenewal(shop);
    const refused = await away(() => other.post(`${path}/pay`));
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
    expect(wordsOf(await refused.text())).toContain('Something went wrong!');
  });

  it('A payment that has failed stays in the list of invoices while Stripe is away', async () => {
    const { browser } = await withFailedRenewal(shop);
    const row = /Starter, every 30 days Renewal \$99\.00 Open /g;
    expect((await page(browser)).match(row)).toHaveLength(1);
    expect((await away(() => page(browser))).match(row)).toHaveLength(1);
  });

  it('Cancelling while Stripe is away is accepted, shown until confirmed and done within a minute of its return', async () => {
    const { user, browser } = await withPlan(shop);
    const answer = await away(() => browser.post(`${path}/cancel`));
    expect([answer.status, answer.headers.get('location')]).toEqual([303, `${path}#membership:cancel-noted`]);
    for (const at of [`${path}#membership:cancel-noted`, path]) expect(await page(browser, at)).toContain(noted);
    const words = await page(browser);
    expect(words).toContain('Ends on');
    expect(words).not.toContain('Renews on');
    // Stripe has not confirmed it yet, so the page does not promise the end of charges.
    expect(words).not.toContain('nothing more is charged');
    expect(await atStripe(user)).toMatchObject({ cancel_at_period_end: false });
    await later(shop, 2 * 60_000);
    await shop.membership.work();
    expect(await atStripe(user)).toMatchObject({ cancel_at_period_end: true });
    const after = await page(browser);
    expect(after).not.toContain(noted);
    expect(after).toContain('nothing more is charged');
  });

  it('Resuming while Stripe is away is accepted, and the last request counts', async () => {
    const { user, browser } = await withPlan(shop);
    await browser.post(`${path}/cancel`);
    const answer = await away(() => browser.post(`${path}/resume`));
    expect([answer.status, answer.headers.get('location')]).toEqual([303, `${path}#membership:resume-noted`]);
    const words = await page(browser);
    expect(words).toContain('Your wish to go on is noted.');
    expect(words).toContain('Renews on');
    expect(await atStripe(user)).toMatchObject({ cancel_at_period_end: true });
    await away(() => browser.post(`${path}/cancel`));
    await away(() => browser.post(`${path}/resume`));
    await later(shop, 2 * 60_000);
    await shop.membership.work();
    expect(await atStripe(user)).toMatchObject({ cancel_at_period_end: false });
    expect(await page(browser)).not.toContain('is noted');
  });

  /** The member has half a price, opens the page of Resume, and sends its form while Stripe is away. */
  async function resumedAway() {
    const { user, browser } = await withPlan(shop);
    const stripe = shop.stripe.client();
    const { customerId } = await standing(shop, user);
    const half = await stripe.coupons.create({ percent_off: 50, duration: 'forever' });
    shop.stripe.engine.discountCustomer(customerId ?? '', half.id);
    await shop.membership.refresh(user.id);
    await browser.post(`${path}/cancel`);
    const html = await (await browser.get(`${path}/resume`)).text();
    expect(wordsOf(html)).toContain('at $49.50');
    const laterCents = /name="laterCents" value="([^"]*)"/.exec(html)?.[1] ?? '';
    const answer = await away(() => browser.post(`${path}/resume`, { laterCents }));
    expect(answer.headers.get('location')).toBe(`${path}#membership:resume-noted`);
    return { user, browser, customerId: customerId ?? '' };
  }
  const mailsOf = async ({ email }: User) =>
    (await shop.foyer.mails(email)).filter(({ template }) => template === 'plan-not-resumed');

  it('A noted resumption whose next charge has risen meanwhile does not happen, and a mail names the amount', async () => {
    const { user, browser, customerId } = await resumedAway();
    shop.stripe.engine.discountCustomer(customerId, null);
    await later(shop, 2 * 60_000);
    for (const _ of [1, 2]) await shop.membership.work();
    expect(await atStripe(user)).toMatchObject({ cancel_at_period_end: true });
    const mails = await mailsOf(user);
    expect(mails.map(({ values }) => values)).toMatchObject([{ planName: 'Starter', amountCents: 9_900 }]);
    const words = await page(browser);
    expect(words).not.toContain('is noted');
    expect(words).toContain('nothing more is charged');
    // The page names the new amount, and that is charged.
    expect(wordsOf(await (await browser.get(`${path}/resume`)).text())).toContain('at $99.00');
  });

  it('A noted resumption whose next charge is the announced one, or less, happens', async () => {
    const { user, customerId } = await resumedAway();
    await shop.stripe.client().customers.update(customerId, { balance: -1_000 });
    await later(shop, 2 * 60_000);
    await shop.membership.work();
    expect(await atStripe(user)).toMatchObject({ cancel_at_period_end: false });
    expect(await mailsOf(user)).toEqual([]);
  });

  it('A change of plan that Stripe does not answer is said to be noted, like a cancellation, until it is done', async () => {
    const { user, browser } = await withPlan(shop, 'm-499');
    const notedChange = 'Your change of plan is noted. It’s passed on as soon as our payment provider answers.';
    shop.stripe.fault('unreachable', (method, at) => method === 'POST' && at === '/v1/subscription_schedules');
    const answer = await browser.post('/plan-purchase/10', { planId: '10', dueCents: '0', laterCents: '9900' });
    expect(answer.status).toBe(303);
    expect(await page(browser, answer.headers.get('location') ?? '')).toContain(notedChange);
    const words = await page(browser);
    expect(words).toContain(notedChange);
    expect(words).toContain('Changes');
    await later(shop, 2 * 60_000);
    await shop.membership.work();
    expect(await standing(shop, user)).toMatchObject({ nextPlanId: '10', cancelAtPeriodEnd: false });
    expect(await page(browser)).not.toContain('is noted');
    expect(await page(browser, answer.headers.get('location') ?? '')).toContain('your plan is Starter');
  });

  it('A cancellation that waits comes before a later purchase and does not end what is bought', async () => {
    const { user, browser } = await withPlan(shop);
    await away(() => browser.post(`${path}/cancel`));
    expect(await shop.buy(user, 'm-499')).toMatchObject({ kind: 'paid' });
    await later(shop, 2 * 60_000);
    await shop.membership.work();
    expect(await standing(shop, user)).toMatchObject({ paidPlanId: '12', cancelAtPeriodEnd: false });
  });

  it('A failed renewal that is cancelled while Stripe is away is no longer due', async () => {
    const { user, browser } = await withFailedRenewal(shop);
    await away(() => browser.post(`${path}/cancel`));
    const words = await page(browser);
    expect(words).toContain(noted);
    expect(words).not.toMatch(/Pay \$[\d.]+ now/);
    expect(await page(browser, '/settings')).not.toContain('We couldn’t charge');
    await later(shop, 2 * 60_000);
    await shop.membership.work();
    expect(await standing(shop, user)).toMatchObject({ status: 'canceled', unpaid: null });
  });
});

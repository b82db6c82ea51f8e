import { diffWithStripe } from '../../server/billing/index.ts';
import { wordsOf } from '../billing/checkout/shop.ts';
import { dayMs, manyCards, startShop } from '../billing/steps.ts';
import type { Browser } from '../support/browser.ts';
import { anyBackend } from '../support/stores.ts';
import { setUpProrated } from './prorated-steps.ts';

const path = '/settings/membership/cancel';
const minuteMs = 60_000;

describe('cancelling with a refund of the unused time', () => {
  const context = setUpProrated();
  const { customerOf, refundsOf, orders, work } = context;
  const buyer = (...codes: string[]) => context.buyer(codes);
  const announcedAt = (browser: Browser) => context.announcedAt(browser, path);
  const formAt = async (browser: Browser) => (await announcedAt(browser)).fields;
  const sum = (amounts: readonly number[]) => amounts.reduce((total, one) => total + one, 0);

  it('The page names the amount, and exactly that is given back: the plan ends right away', async () => {
    const { user, browser } = await context.buyer(['m-499'], 10);
    const { words, cents, fields } = await announcedAt(browser);
    expect(words).toContain('Growth ends right away.');
    expect(words).not.toMatch(/isn’t given back|Until .+ you keep|one click/);
    expect(cents).toBeGreaterThan(33_200);
    expect(cents).toBeLessThan(33_300);
    const answer = await browser.post(path, fields);
    const location = answer.headers.get('location') ?? '';
    expect(location).toContain('refunded');
    const amount = `$${(cents / 100).toFixed(2)}`;
    const html = await (await browser.get(location)).text();
    expect(wordsOf(html)).toContain(`Your membership has ended. ${amount} is on its way back to you.`);
    // A message that passes after some seconds is no place for it.
    expect(html).not.toContain('class="snackbar"');
    expect(html).toContain('>Partly refunded<');
    expect(await context.shop.membership.refresh(user.id)).toMatchObject({ status: 'canceled', balanceCents: 0 });
    expect((await context.shop.userNow(user)).planId).toBeNull();
    expect(await refundsOf(user)).toEqual([cents]);
    expect(await orders(user)).toMatchObject([{ paidCents: 49_900, refundedCents: cents }]);
    const mails = await context.shop.foyer.mails(user.email);
    expect(mails.find(({ template }) => template === 'refund-made')?.values).toMatchObject({ amountCents: cents });
    expect(mails.map(({ template }) => template)).toContain('plan-ended');
  });

  it('The amount holds for half an hour; another amount is answered 409, and nothing happens', async () => {
    const { user, browser: earlier } = await buyer('m-499');
    const form = await formAt(earlier);
    context.shop.passTime(20 * minuteMs);
    const browser = await context.shop.foyer.signedIn(user);
    expect((await announcedAt(browser)).cents).toBe(Number(form.refundCents));
    const answer = await browser.post(path, { ...form, refundCents: '499000' });
    expect(answer.status).toBe(409);
    expect(wordsOf(await answer.text())).toContain('The amount that is given back has changed');
    expect([await refundsOf(user), (await context.shop.userNow(user)).planId]).toEqual([[], '12']);
    await browser.post(path, form);
    expect(await refundsOf(user)).toEqual([Number(form.refundCents)]);
  });

  it('After an upgrade the payments of the period give back what is left, none more than it was', async () => {
    const { user, browser } = await buyer('y-900', 'y-5000');
    const { cents, fields } = await announcedAt(browser);
    await browser.post(path, fields);
    const back = await refundsOf(user);
    expect(sum(back)).toBe(cents);
    expect(back).toHaveLength(2);
    for (const { paidCents, refundedCents } of await orders(user)) expect(refundedCents).toBeLessThanOrEqual(paidCents);
    expect(sum((await orders(user)).map(({ refundedCents }) => refundedCents))).toBe(sum(back));
    // All but the minutes that were used.
    expect(sum((await orders(user)).map(({ paidCents }) => paidCents)) - sum(back)).toBeLessThan(100);
  });

  it('What credit has paid becomes credit again, and the page says so', async () => {
    const { user } = await buyer();
    const stripe = context.shop.stripe.client();
    await context.shop.membership.ensure(user, 7);
    await stripe.customers.update(await customerOf(user), { balance: -4_000 });
    expect(await context.shop.buy(user, 'm-99')).toMatchObject({ kind: 'paid' });
    const browser = await context.shop.foyer.signedIn(user);
    const { words, fields } = await announcedAt(browser);
    expect(words).toContain('We give $59.00 back to your card');
    expect(words).toMatch(/\$(?:39\.\d\d|40\.00) that was paid from your credit becomes your credit again\./);
    await browser.post(path, fields);
    expect(await context.shop.membership.refresh(user.id)).toMatchObject({
      balanceCents: 0 - Number(fields.creditCents),
    });
    expect(await orders(user)).toMatchObject([{ paidCents: 5_900, refundedCents: 5_900 }]);
  });

  it('Several clicks at once end the plan and give the money back once', async () => {
    const { user, browser } = await buyer('m-99');
    const form = await formAt(browser);
    await Promise.all([1, 2, 3].map(() => browser.post(path, form)));
    expect(await refundsOf(user)).toEqual([Number(form.refundCents)]);
  });

  it.each([
    ['unreachable', '/v1/credit_notes'],
    ['lost', '/v1/credit_notes'],
    ['unreachable', '/v1/subscriptions/'],
    ['lost', '/v1/subscriptions/'],
  ] as const)(
    'An end that is interrupted (%s at %s) is finished without the member, with one refund of the announced amount',
    async (kind, place) => {
      const { user, browser } = await buyer('m-499');
      const form = await formAt(browser);
      context.shop.stripe.fault(kind, (method, at) => method !== 'GET' && at.startsWith(place));
      const answer = await browser.post(path, form);
      expect(answer.headers.get('location')).toMatch(/cancel-noted|refunded/);
      await work(3);
      expect(await context.shop.membership.refresh(user.id)).toMatchObject({ status: 'canceled' });
      expect(await refundsOf(user)).toEqual([Number(form.refundCents)]);
    },
  );

  it('A refund that Stripe refuses waits, stands in the comparison and the log, and is made once when Stripe takes it', async () => {
    const { user, browser } = await buyer('m-499');
    const form = await formAt(browser);
    const cents = Number(form.refundCents);
    const [order] = await orders(user);
    // The operator's own refund is under way: no more can be given back.
    const own = context.shop.stripe.engine.refund(order?.invoiceId ?? '', 49_900, 'pending');
    const answer = await browser.post(path, form);
    expect(answer.headers.get('location')).toContain('cancel-noted');
    const workHourly = async () => {
      for (let hour = 0; hour < 3; hour += 1) {
        context.shop.passTime(61 * minuteMs);
        await context.shop.membership.work();
      }
    };
    await workHourly();
    expect(await refundsOf(user)).toEqual([]);
    expect(await context.shop.membership.refresh(user.id)).toMatchObject({ status: 'canceled', nextCharge: null });
    expect((await context.shop.userNow(user)).planId).toBeNull();
    const { left } = await diffWithStripe(context.shop.membership.deps, { pauseMs: 0 });
    expect(left.filter(({ userId }) => userId === user.id)).toContainEqual(
      expect.objectContaining({ kind: 'act unfinished', detail: expect.stringMatching(/^refund: Refund amount/) }),
    );
    expect(context.shop.foyer.logged()).toContain('Stripe refuses a refund');
    // A second click asks for nothing more.
    await (await context.shop.foyer.signedIn(user)).post(path, form);

    context.shop.stripe.engine.endRefund(own, 'failed');
    // Stripe repeats its refusal as long as it keeps the request's key.
    context.shop.passTime(dayMs);
    await workHourly();
    expect(await refundsOf(user)).toEqual([cents]);
    expect(await orders(user)).toMatchObject([{ paidCents: 49_900, refundedCents: cents }]);
    const after = await diffWithStripe(context.shop.membership.deps, { pauseMs: 0 });
    expect(after.left.filter(({ userId }) => userId === user.id)).toEqual([]);
    const mails = (await context.shop.foyer.mails(user.email)).filter(({ template }) => template === 'refund-made');
    expect(mails.map(({ values }) => values.amountCents)).toEqual([cents]);
  });

  it('While Stripe is away the page offers the end with the period, and that is what happens', async () => {
    const { user, browser } = await buyer('m-99');
    context.shop.stripe.fault('unreachable', (_method, at) => at === '/v1/invoices/create_preview');
    const { words, fields } = await announcedAt(browser);
    expect(words).toMatch(/Until .+ you keep everything that your plan gives\./);
    await browser.post(path, fields);
    expect(await context.shop.membership.refresh(user.id)).toMatchObject({ status: 'active', cancelAtPeriodEnd: true });
    expect(await refundsOf(user)).toEqual([]);
  });

  it('Opening the page changes nothing at Stripe', async () => {
    const { browser } = await buyer('m-99');
    const written: string[] = [];
    context.shop.stripe.observe(({ method, path: at }) => {
      if (method !== 'GET' && at !== '/v1/invoices/create_preview') written.push(`${method} ${at}`);
    });
    await browser.get(path);
    expect(written).toEqual([]);
  });

  it('The mailed link names the same amount and gives it back, without a sign-in', async () => {
    const { user } = await buyer('m-499');
    const visitor = context.shop.foyer.browser();
    await visitor.get('/cancel-membership');
    await visitor.post('/cancel-membership', { email: user.email });
    const mail = (await context.shop.foyer.mails(user.email)).find(({ template }) => template === 'cancel-link');
    const url = new URL(String(mail?.values.cancelUrl));
    const { cents, fields } = await context.announcedAt(visitor, `${url.pathname}${url.search}`);
    expect(cents).toBeGreaterThan(49_000);
    expect((await visitor.post(url.pathname, { ...fields, refundCents: '1' })).status).toBe(409);
    expect(await refundsOf(user)).toEqual([]);
    expect((await visitor.post(url.pathname, fields)).headers.get('location')).toContain('done');
    expect(await refundsOf(user)).toEqual([cents]);
    expect((await context.shop.userNow(user)).planId).toBeNull();
  });
});

it('Without the setting a cancelled plan ends with its period, and an invented amount gives nothing back', async () => {
  const shop = await startShop(anyBackend, manyCards);
  try {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'paid' });
    const browser = await shop.foyer.signedIn(user);
    expect(await (await browser.get(path)).text()).not.toContain('refundCents');
    const answer = await browser.post(path, { refundCents: '9900', creditCents: '0' });
    expect(answer.headers.get('location')).toContain('nothing');
    expect((await shop.userNow(user)).planId).toBe('10');
    const { customerId } = (await shop.membership.getMembership(user.id)) ?? {};
    expect((await shop.stripe.client().creditNotes.list({ customer: customerId ?? '' })).data).toEqual([]);
  } finally {
    await shop.close();
  }
});

import { diffWithStripe, listOrders } from '../../server/billing/index.ts';
import type { User } from '../../server/users/index.ts';
import { wordsOf } from '../billing/checkout/shop.ts';
import { dayMs, manyCards, type Shop, startShop } from '../billing/steps.ts';
import type { Browser } from '../support/browser.ts';
import { plansWith } from '../support/plans.ts';
import { anyBackend } from '../support/stores.ts';

const path = '/settings/membership/cancel';
const minuteMs = 60_000;

/** The hidden fields of the form that cancels. */
const fieldsIn = (html: string): Record<string, string> => {
  const form = /<form class="form".*?<\/form>/s.exec(html)?.[0] ?? '';
  const fields = [...form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
  return Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value]));
};

describe('cancelling with a refund of the unused time', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(anyBackend, {
      ...manyCards,
      PLANS_FILE: plansWith({ periods: 'days', cancel: 'prorated' }),
    });
  });
  afterAll(() => shop?.close());

  async function buyer(...codes: string[]): Promise<{ user: User; browser: Browser }> {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    for (const code of codes) expect(await shop.buy(user, code)).toMatchObject({ kind: 'paid' });
    return { user, browser: await shop.foyer.signedIn(user) };
  }
  const wordsAt = async (browser: Browser, at = path) => wordsOf(await (await browser.get(at)).text());
  const formAt = async (browser: Browser, at = path) => fieldsIn(await (await browser.get(at)).text());
  const announced = (words: string) =>
    Math.round(Number(/We give \$([\d,.]+) back to your card/.exec(words)?.[1]?.replace(',', '') ?? Number.NaN) * 100);
  const customerOf = async ({ id }: User) => (await shop.membership.getMembership(id))?.customerId ?? '';
  const refundsOf = async (user: User) =>
    (await shop.stripe.client().creditNotes.list({ customer: await customerOf(user) })).data.map((note) => note.total);
  const sum = (amounts: readonly number[]) => amounts.reduce((total, one) => total + one, 0);
  const orders = ({ id }: User) => listOrders(shop.foyer.deps.database.db, id);

  it('The page names the amount, and exactly that is given back: the plan ends right away', async () => {
    const { user } = await buyer('m-499');
    shop.passTime(10 * dayMs);
    const browser = await shop.foyer.signedIn(user);
    const words = await wordsAt(browser);
    expect(words).toContain('Growth ends right away.');
    expect(words).not.toMatch(/isn’t given back|Until .+ you keep|one click/);
    const cents = announced(words);
    expect(cents).toBeGreaterThan(33_200);
    expect(cents).toBeLessThan(33_300);
    const answer = await browser.post(path, await formAt(browser));
    expect(answer.headers.get('location')).toContain('refunded');
    expect(await shop.membership.refresh(user.id)).toMatchObject({ status: 'canceled', balanceCents: 0 });
    expect((await shop.userNow(user)).planId).toBeNull();
    expect(await refundsOf(user)).toEqual([cents]);
    expect(await orders(user)).toMatchObject([{ paidCents: 49_900, refundedCents: cents }]);
    const mails = await shop.foyer.mails(user.email);
    expect(mails.find(({ template }) => template === 'refund-made')?.values).toMatchObject({ amountCents: cents });
    expect(mails.map(({ template }) => template)).toContain('plan-ended');
  });

  it('The amount holds for half an hour; another amount is answered 409, and nothing happens', async () => {
    const { user, browser: earlier } = await buyer('m-499');
    const form = await formAt(earlier);
    shop.passTime(20 * minuteMs);
    const browser = await shop.foyer.signedIn(user);
    expect(announced(await wordsAt(browser))).toBe(Number(form.refundCents));
    const answer = await browser.post(path, { ...form, refundCents: '499000' });
    expect(answer.status).toBe(409);
    expect(wordsOf(await answer.text())).toContain('The amount that is given back has changed');
    expect([await refundsOf(user), (await shop.userNow(user)).planId]).toEqual([[], '12']);
    await browser.post(path, form);
    expect(await refundsOf(user)).toEqual([Number(form.refundCents)]);
  });

  it('After an upgrade the payments of the period give back what is left, none more than it was', async () => {
    const { user, browser } = await buyer('y-900', 'y-5000');
    const words = await wordsAt(browser);
    await browser.post(path, await formAt(browser));
    const back = await refundsOf(user);
    expect(sum(back)).toBe(announced(words));
    expect(back).toHaveLength(2);
    for (const { paidCents, refundedCents } of await orders(user)) expect(refundedCents).toBeLessThanOrEqual(paidCents);
    expect(sum((await orders(user)).map(({ refundedCents }) => refundedCents))).toBe(sum(back));
    // All but the minutes that were used.
    expect(sum((await orders(user)).map(({ paidCents }) => paidCents)) - sum(back)).toBeLessThan(100);
  });

  it('What credit has paid becomes credit again, and the page says so', async () => {
    const { user } = await buyer();
    const stripe = shop.stripe.client();
    await shop.membership.ensure(user, 7);
    await stripe.customers.update(await customerOf(user), { balance: -4_000 });
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'paid' });
    const browser = await shop.foyer.signedIn(user);
    const words = await wordsAt(browser);
    expect(words).toContain('We give $59.00 back to your card');
    expect(words).toMatch(/\$(?:39\.\d\d|40\.00) of it was paid from your credit and becomes your credit again\./);
    const { creditCents } = await formAt(browser);
    await browser.post(path, await formAt(browser));
    expect(await shop.membership.refresh(user.id)).toMatchObject({ balanceCents: 0 - Number(creditCents) });
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
      shop.stripe.fault(kind, (method, at) => method !== 'GET' && at.startsWith(place));
      const answer = await browser.post(path, form);
      expect(answer.headers.get('location')).toMatch(/cancel-noted|refunded/);
      for (let minute = 0; minute < 3; minute += 1) {
        shop.passTime(2 * minuteMs);
        await shop.membership.work();
      }
      expect(await shop.membership.refresh(user.id)).toMatchObject({ status: 'canceled' });
      expect(await refundsOf(user)).toEqual([Number(form.refundCents)]);
    },
  );

  it('A refund that Stripe refuses waits, stands in the comparison and the log, and is made once when Stripe takes it', async () => {
    const { user, browser } = await buyer('m-499');
    const form = await formAt(browser);
    const cents = Number(form.refundCents);
    const [order] = await orders(user);
    // The operator's own refund is under way: no more can be given back.
    const own = shop.stripe.engine.refund(order?.invoiceId ?? '', 49_900, 'pending');
    const answer = await browser.post(path, form);
    expect(answer.headers.get('location')).toContain('cancel-noted');
    const workHourly = async () => {
      for (let hour = 0; hour < 3; hour += 1) {
        shop.passTime(61 * minuteMs);
        await shop.membership.work();
      }
    };
    await workHourly();
    expect(await refundsOf(user)).toEqual([]);
    expect(await shop.membership.refresh(user.id)).toMatchObject({ status: 'canceled', nextCharge: null });
    expect((await shop.userNow(user)).planId).toBeNull();
    const { left } = await diffWithStripe(shop.membership.deps, { pauseMs: 0 });
    expect(left.filter(({ userId }) => userId === user.id)).toContainEqual(
      expect.objectContaining({ kind: 'act unfinished', detail: expect.stringMatching(/^refund: Refund amount/) }),
    );
    expect(shop.foyer.logged()).toContain('Stripe refuses a refund');
    // A second click asks for nothing more.
    await (await shop.foyer.signedIn(user)).post(path, form);

    shop.stripe.engine.endRefund(own, 'failed');
    // Stripe repeats its refusal as long as it keeps the request's key.
    shop.passTime(dayMs);
    await workHourly();
    expect(await refundsOf(user)).toEqual([cents]);
    expect(await orders(user)).toMatchObject([{ paidCents: 49_900, refundedCents: cents }]);
    const after = await diffWithStripe(shop.membership.deps, { pauseMs: 0 });
    expect(after.left.filter(({ userId }) => userId === user.id)).toEqual([]);
    const mails = (await shop.foyer.mails(user.email)).filter(({ template }) => template === 'refund-made');
    expect(mails.map(({ values }) => values.amountCents)).toEqual([cents]);
  });

  it('While Stripe is away the page offers the end with the period, and that is what happens', async () => {
    const { user, browser } = await buyer('m-99');
    shop.stripe.fault('unreachable', (_method, at) => at === '/v1/invoices/create_preview');
    const html = await (await browser.get(path)).text();
    expect(wordsOf(html)).toMatch(/Until .+ you keep everything that your plan gives\./);
    await browser.post(path, fieldsIn(html));
    expect(await shop.membership.refresh(user.id)).toMatchObject({ status: 'active', cancelAtPeriodEnd: true });
    expect(await refundsOf(user)).toEqual([]);
  });

  it('Opening the page changes nothing at Stripe', async () => {
    const { browser } = await buyer('m-99');
    const written: string[] = [];
    shop.stripe.observe(({ method, path: at }) => {
      if (method !== 'GET' && at !== '/v1/invoices/create_preview') written.push(`${method} ${at}`);
    });
    await browser.get(path);
    expect(written).toEqual([]);
  });

  it('The mailed link names the same amount and gives it back, without a sign-in', async () => {
    const { user } = await buyer('m-499');
    const visitor = shop.foyer.browser();
    await visitor.get('/cancel-membership');
    await visitor.post('/cancel-membership', { email: user.email });
    const mail = (await shop.foyer.mails(user.email)).find(({ template }) => template === 'cancel-link');
    const url = new URL(String(mail?.values.cancelUrl));
    const html = await (await visitor.get(`${url.pathname}${url.search}`)).text();
    const cents = announced(wordsOf(html));
    expect(cents).toBeGreaterThan(49_000);
    const fields = fieldsIn(html);
    expect((await visitor.post(url.pathname, { ...fields, refundCents: '1' })).status).toBe(409);
    expect(await refundsOf(user)).toEqual([]);
    expect((await visitor.post(url.pathname, fields)).headers.get('location')).toContain('done');
    expect(await refundsOf(user)).toEqual([cents]);
    expect((await shop.userNow(user)).planId).toBeNull();
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

import { listOrders } from '../../server/billing/index.ts';
import type { User } from '../../server/users/index.ts';
import { wordsOf } from '../billing/checkout/shop.ts';
import { cards, dayMs, manyCards, type Shop, startShop } from '../billing/steps.ts';
import { plansWith } from '../support/plans.ts';
import { anyBackend } from '../support/stores.ts';

const path = '/settings/membership/withdraw';
const consumers = plansWith({ periods: 'days', consumers: { withdrawalDays: 14 } });

describe('withdrawing from a purchase', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(anyBackend, { ...manyCards, PLANS_FILE: consumers });
  });
  afterAll(() => shop?.close());

  async function buyer(code = 'm-99', card: string = cards.visa): Promise<User> {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user, card);
    expect(await shop.buy(user, code)).toMatchObject({ kind: 'paid' });
    return user;
  }
  const orders = ({ id }: User) => listOrders(shop.foyer.deps.database.db, id);
  const templates = async ({ email }: User) => (await shop.foyer.mails(email)).map(({ template }) => template);
  /** What the member has paid at Stripe, less what was given back, in cents. */
  async function keptAtStripe(user: User): Promise<number> {
    const { customerId } = (await shop.membership.getMembership(user.id)) ?? {};
    const stripe = shop.stripe.client();
    const [invoices, notes] = await Promise.all([
      stripe.invoices.list({ customer: customerId ?? '' }),
      stripe.creditNotes.list({ customer: customerId ?? '' }),
    ]);
    const paid = invoices.data.reduce((sum, { amount_paid: cents }) => sum + cents, 0);
    return notes.data.reduce((sum, { amount }) => sum - amount, paid);
  }

  it('A member withdraws in two steps, gets everything back and a mail with the time, and the plan ends at once', async () => {
    const user = await buyer();
    const browser = await shop.foyer.signedIn(user);
    expect(wordsOf(await (await browser.get('/settings/membership')).text())).toContain('Withdraw from the contract');
    const words = wordsOf(await (await browser.get(path)).text());
    expect(words).toMatch(/withdraw from the purchase of Starter on .* We give \$99\.00 back to your card\./);
    expect(await keptAtStripe(user)).toBe(9_900);
    const answer = await browser.post(path);
    const location = answer.headers.get('location') ?? '';
    expect(location).toContain('withdrawn');
    expect(wordsOf(await (await browser.get(location)).text())).toContain('$99.00 is on its way back to you.');
    expect(await shop.membership.refresh(user.id)).toMatchObject({ status: 'canceled' });
    expect((await shop.userNow(user)).planId).toBeNull();
    expect(await keptAtStripe(user)).toBe(0);
    const [order] = await orders(user);
    expect(order).toMatchObject({ paidCents: 9_900, refundedCents: 9_900 });
    expect(await templates(user)).toEqual(expect.arrayContaining(['withdrawal-received', 'refund-made', 'plan-ended']));
    const mails = await shop.foyer.mails(user.email);
    const received = mails.find(({ template }) => template === 'withdrawal-received')?.values;
    expect(received).toMatchObject({ planName: 'Starter', amountCents: 9_900, currency: 'usd' });
    expect(received).toMatchObject({ orderDate: order?.orderedAt, atMs: expect.any(Number) });
    const sinceMs = shop.foyer.deps.now() - Number(received?.atMs);
    expect(Math.abs(sinceMs)).toBeLessThan(60_000);
    const refunded = mails.find(({ template }) => template === 'refund-made')?.values;
    expect(refunded).toMatchObject({ amountCents: 9_900 });
    expect(wordsOf(await (await browser.get('/settings/membership')).text())).toMatch(/\$99\.00 refunded|Refunded/);
  });

  it('A withdrawal whose refund Stripe answers with a kept 500 is given back once, by the next request', async () => {
    const user = await buyer();
    shop.stripe.fault('kept-error', (method, at) => method === 'POST' && at === '/v1/credit_notes');
    const browser = await shop.foyer.signedIn(user);
    await browser.get(path);
    expect((await browser.post(path)).headers.get('location')).toContain('withdrawn');
    expect(await keptAtStripe(user)).toBe(0);
    expect((await shop.membership.refresh(user.id))?.status).toBe('canceled');
    const [order] = await orders(user);
    expect(order).toMatchObject({ paidCents: 9_900, refundedCents: 9_900 });
  });

  it.each([
    ['on the first day', 1, 0],
    ['on the fourteenth day', 13.5, 0],
    ['on the fifteenth day', 14.5, 9_900],
  ])('A withdrawal %s', async (_name, days, keptCents) => {
    const user = await buyer();
    shop.passTime(days * dayMs);
    const browser = await shop.foyer.signedIn(user);
    const answer = await browser.post(path);
    expect(answer.headers.get('location')).toContain(keptCents === 0 ? 'withdrawn' : 'nothing');
    expect(await keptAtStripe(user)).toBe(keptCents);
    expect(await orders(user)).toMatchObject([{ refundedCents: 9_900 - keptCents }]);
    expect((await shop.userNow(user)).planId).toBe(keptCents === 0 ? null : '10');
    expect((await templates(user)).includes('refund-made')).toBe(keptCents === 0);
  });

  it('The last moment is fourteen days after the purchase, to the millisecond', async () => {
    const user = await buyer();
    const [order] = await orders(user);
    const until = (order?.orderedAt ?? 0) + 14 * dayMs;
    shop.passTime(until - shop.stripe.engine.nowMs() - 5_000);
    expect(await shop.membership.findWithdrawal(user.id)).toMatchObject({ until, refundCents: 9_900 });
    shop.passTime(5_000);
    expect(await shop.membership.findWithdrawal(user.id)).toBeUndefined();
    const browser = await shop.foyer.signedIn(user);
    const answer = await browser.post(path);
    expect(answer.headers.get('location')).toContain('nothing');
    expect(await keptAtStripe(user)).toBe(9_900);
    expect((await shop.userNow(user)).planId).toBe('10');
  });

  it('Several clicks at once give the money back once', async () => {
    const user = await buyer();
    const browser = await shop.foyer.signedIn(user);
    await Promise.all([1, 2, 3].map(() => browser.post(path)));
    expect(await keptAtStripe(user)).toBe(0);
    expect((await templates(user)).filter((template) => template === 'withdrawal-received')).toHaveLength(1);
    expect((await templates(user)).filter((template) => template === 'refund-made')).toHaveLength(1);
  });

  it('While Stripe is away the withdrawal is noted with its time, and carried out once Stripe answers', async () => {
    const user = await buyer();
    const browser = await shop.foyer.signedIn(user);
    shop.stripe.fault('unreachable', (_method, at) => at === '/v1/credit_notes');
    const answer = await browser.post(path);
    expect(answer.headers.get('location')).toContain('withdraw-noted');
    expect(await templates(user)).toContain('withdrawal-received');
    expect((await browser.post(path)).headers.get('location')).toMatch(/withdraw/);
    shop.passTime(2 * 60_000);
    await shop.membership.work();
    await shop.membership.work();
    expect(await keptAtStripe(user)).toBe(0);
    expect(await shop.membership.refresh(user.id)).toMatchObject({ status: 'canceled' });
  });

  it('A plan that is chosen while a withdrawal waits for Stripe does not end with the plan before', async () => {
    const user = await buyer('m-899');
    const browser = await shop.foyer.signedIn(user);
    shop.stripe.fault('unreachable', (method, at) => method === 'DELETE' && at.startsWith('/v1/subscriptions/'));
    expect((await browser.post(path)).headers.get('location')).toContain('withdraw-noted');
    // The withdrawal is carried out first: there is no plan any more that could change later.
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'changed' });
    expect(await keptAtStripe(user)).toBe(0);
    expect((await shop.userNow(user)).planId).toBeNull();
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'paid' });
    shop.passTime(2 * 60_000);
    await shop.membership.work();
    expect(await shop.membership.refresh(user.id)).toMatchObject({ status: 'active', cancelAtPeriodEnd: false });
    expect(await keptAtStripe(user)).toBe(9_900);
  });

  it('A renewal goes on with the contract: there is nothing to withdraw from', async () => {
    const renewed = await buyer();
    shop.passTime(30 * dayMs + 60_000);
    await shop.membership.refresh(renewed.id);
    expect(await orders(renewed)).toHaveLength(2);
    expect(await shop.membership.findWithdrawal(renewed.id)).toBeUndefined();
  });

  it('After an upgrade the purchase and the upgrade are withdrawn from together, within the days of the purchase', async () => {
    const user = await buyer();
    shop.passTime(4 * dayMs);
    const before = await shop.foyer.signedIn(user);
    const old = wordsOf(await (await before.get(path)).text());
    expect(old).toContain('We give $99.00 back to your card.');
    expect(await shop.buy(user, 'm-499')).toMatchObject({ kind: 'paid' });
    const paid = await keptAtStripe(user);
    const browser = await shop.foyer.signedIn(user);
    const html = await (await browser.get(path)).text();
    const words = wordsOf(html);
    expect(words).toMatch(/withdraw from the purchase of Growth on .* This includes the purchase of Starter on /);
    expect(words).toContain(`We give $${(paid / 100).toFixed(2)} back to your card.`);
    // The form of the page from before the upgrade names another amount.
    expect((await before.post(path)).status).toBe(409);
    expect(await keptAtStripe(user)).toBe(paid);
    shop.passTime(9 * dayMs);
    const own = await shop.foyer.signedIn(user);
    const answer = await own.post(path, { payments: /name="payments" value="(\d+)"/.exec(html)?.[1] ?? '' });
    expect(answer.headers.get('location')).toContain('withdrawn');
    expect(await shop.membership.refresh(user.id)).toMatchObject({ status: 'canceled', nextCharge: null });
    expect(await keptAtStripe(user)).toBe(0);
    for (const { paidCents, refundedCents } of await orders(user)) expect(refundedCents).toBe(paidCents);
    const mails = await shop.foyer.mails(user.email);
    const received = mails.filter(({ template }) => template === 'withdrawal-received');
    expect(received.map(({ values }) => values)).toMatchObject([{ planName: 'Growth', amountCents: paid }]);
  });

  it('The page of a plan says before the order that the member can withdraw', async () => {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    const browser = await shop.foyer.signedIn(user);
    await browser.post('/plan-purchase/10/billingDetails', { country: 'DE', postal_code: '10115' });
    const words = wordsOf(await (await browser.get('/plan-purchase/10')).text());
    expect(words).toContain('You can withdraw within 14 days and get everything back.');
  });

  it('The page that cancels offers the withdrawal beside it', async () => {
    const user = await buyer();
    const browser = await shop.foyer.signedIn(user);
    expect(await (await browser.get('/settings/membership/cancel')).text()).toContain(`href="${path}"`);
  });
});

describe('a catalogue without consumers', () => {
  it('A member cannot withdraw, and no page offers it', async () => {
    const shop = await startShop(anyBackend, manyCards);
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'paid' });
    const browser = await shop.foyer.signedIn(user);
    for (const answer of [await browser.get(path), await browser.post(path)]) {
      expect(answer.headers.get('location')).toContain('nothing');
    }
    expect((await shop.userNow(user)).planId).toBe('10');
    expect(await (await browser.get('/settings/membership')).text()).not.toContain(path);
    await shop.close();
  });
});

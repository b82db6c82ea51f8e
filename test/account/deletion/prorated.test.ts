import { listOrders } from '../../../server/billing/index.ts';
import type { User } from '../../../server/users/index.ts';
import { wordsOf } from '../../billing/checkout/shop.ts';
import { dayMs, manyCards, type Shop, startShop } from '../../billing/steps.ts';
import { fieldsIn } from '../../billing/year-with-refund-steps.ts';
import type { Browser } from '../../support/browser.ts';
import { plansWith } from '../../support/plans.ts';
import { anyBackend } from '../../support/stores.ts';

const path = '/settings/delete-account';
const minuteMs = 60_000;

/** The deletion is a cancellation too. */
describe('deleting an account where cancelling gives the unused time back', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startShop(anyBackend, {
      ...manyCards,
      PLANS_FILE: plansWith({ periods: 'days', cancel: 'prorated' }),
    });
  });
  afterAll(() => shop?.close());

  async function buyer(code = 'm-499'): Promise<{ user: User; browser: Browser }> {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    expect(await shop.buy(user, code)).toMatchObject({ kind: 'paid' });
    shop.passTime(10 * dayMs);
    return { user, browser: await shop.foyer.signedIn(user) };
  }
  async function announcedAt(browser: Browser) {
    const html = await (await browser.get(path)).text();
    const words = wordsOf(html);
    const amount = /We give \$([\d,.]+) back to your card/.exec(words)?.[1]?.replace(',', '');
    return { words, cents: Math.round(Number(amount) * 100), fields: fieldsIn(html) };
  }
  const customerOf = async ({ id }: User) => (await shop.membership.getMembership(id))?.customerId ?? '';
  const notesOf = async (customer: string) =>
    (await shop.stripe.client().creditNotes.list({ customer })).data.map(({ total }) => total);
  const remove = (browser: Browser, fields: Record<string, string>) => browser.post(path, { ...fields, confirm: '1' });
  const workFor = async (minutes: number) => {
    for (let minute = 0; minute < minutes; minute += 1) {
      shop.passTime(2 * minuteMs);
      await shop.membership.work();
    }
  };

  it('The page names the amount, and exactly that is given back: the plan ends right away, and stays ended', async () => {
    const { user, browser } = await buyer();
    const customer = await customerOf(user);
    const { words, cents, fields } = await announcedAt(browser);
    expect(words).toContain('Growth ends right away.');
    expect(words).toContain('It stays ended if you come back within 14 days.');
    expect(words).not.toMatch(/Nothing is paid back|What happens to Growth/);
    expect(cents).toBeGreaterThan(33_200);
    expect(cents).toBeLessThan(33_300);
    expect((await remove(browser, fields)).headers.get('location')).toBe('/account-deletion');
    await workFor(3);
    expect(await shop.membership.refresh(user.id)).toMatchObject({ status: 'canceled', nextCharge: null });
    expect(await notesOf(customer)).toEqual([cents]);
    expect(await listOrders(shop.foyer.deps.database.db, user.id)).toMatchObject([{ refundedCents: cents }]);
    const mails = await shop.foyer.mails(user.email);
    expect(mails.find(({ template }) => template === 'refund-made')?.values).toMatchObject({ amountCents: cents });
    // The member comes back: nothing is charged, and nothing more is given back.
    await shop.foyer.signedIn(user);
    await workFor(3);
    expect((await shop.userNow(user)).planId).toBeNull();
    expect(await notesOf(customer)).toEqual([cents]);
  });

  it('The announced amount holds for half an hour; another one is answered 409, and nothing happens', async () => {
    const { user, browser } = await buyer();
    const customer = await customerOf(user);
    const { cents, fields } = await announcedAt(browser);
    const refused = await remove(browser, { ...fields, refundCents: '499000' });
    expect(refused.status).toBe(409);
    expect(wordsOf(await refused.text())).toContain('The amount that is given back has changed');
    // A form without any amount is not what the page shows either.
    expect((await remove(browser, { membership: 'period-end' })).status).toBe(409);
    expect((await remove(browser, { refundCents: '0', creditCents: '0' })).status).toBe(409);
    expect((await shop.userNow(user)).planId).toBe('12');
    shop.passTime(20 * minuteMs);
    await remove(await shop.foyer.signedIn(user), fields);
    await workFor(2);
    expect(await notesOf(customer)).toEqual([cents]);
  });

  it('Several clicks at once end the plan and give the money back once, before the customer is deleted', async () => {
    const { user, browser } = await buyer('m-99');
    const customer = await customerOf(user);
    const { cents, fields } = await announcedAt(browser);
    await Promise.all([1, 2, 3].map(() => remove(browser, fields)));
    await workFor(2);
    shop.passTime(14 * dayMs);
    await shop.foyer.app.deletion.work();
    await workFor(2);
    expect(await notesOf(customer)).toEqual([cents]);
    expect(await shop.stripe.client().customers.retrieve(customer)).toMatchObject({ deleted: true });
  });

  it.each([
    ['unreachable', '/v1/credit_notes'],
    ['lost', '/v1/credit_notes'],
    ['unreachable', '/v1/subscriptions/'],
    ['lost', '/v1/subscriptions/'],
  ] as const)('An end that is interrupted (%s at %s) gives the announced amount back once', async (fault, place) => {
    const { user, browser } = await buyer();
    const customer = await customerOf(user);
    const { cents, fields } = await announcedAt(browser);
    await remove(browser, fields);
    shop.stripe.fault(fault, (method, at) => method !== 'GET' && at.startsWith(place));
    await workFor(5);
    expect(await shop.membership.refresh(user.id)).toMatchObject({ status: 'canceled' });
    expect(await notesOf(customer)).toEqual([cents]);
  });

  it('While Stripe is away the page names no amount, and the unused time is given back when Stripe answers', async () => {
    const { user, browser } = await buyer();
    const customer = await customerOf(user);
    shop.stripe.fault('unreachable', (_method, at) => at === '/v1/invoices/create_preview');
    const { words, fields } = await announcedAt(browser);
    expect(words).toContain('We give the part of the paid period that is left back. An email names the amount.');
    expect(fields).toEqual({ refund: 'later' });
    expect((await remove(browser, fields)).headers.get('location')).toBe('/account-deletion');
    // Two days without Stripe: what was unused at the request is given back.
    shop.passTime(2 * dayMs);
    await workFor(3);
    expect(await shop.membership.refresh(user.id)).toMatchObject({ status: 'canceled' });
    const [note, ...more] = await notesOf(customer);
    expect(more).toEqual([]);
    expect(note).toBeGreaterThan(33_200);
    expect(note).toBeLessThan(33_300);
    const mails = await shop.foyer.mails(user.email);
    expect(mails.find(({ template }) => template === 'refund-made')?.values).toMatchObject({ amountCents: note });
  });

  it('What the bank has given back meanwhile is not given back twice', async () => {
    const { user, browser } = await buyer();
    const customer = await customerOf(user);
    const { fields } = await announcedAt(browser);
    await remove(browser, fields);
    const [order] = await listOrders(shop.foyer.deps.database.db, user.id);
    shop.stripe.engine.refund(order?.invoiceId ?? '', 49_900);
    await shop.membership.reconcile({ pauseMs: 0 });
    await workFor(3);
    expect(await notesOf(customer)).toEqual([]);
    expect(await listOrders(shop.foyer.deps.database.db, user.id)).toMatchObject([{ refundedCents: 49_900 }]);
  });

  it('A plan that a code has paid has nothing to give back: the member chooses its end, as before', async () => {
    const stripe = shop.stripe.client();
    const coupon = await stripe.coupons.create({ percent_off: 100, duration: 'once' });
    await stripe.promotionCodes.create({ promotion: { type: 'coupon', coupon: coupon.id }, code: 'WHOLE' });
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    await shop.membership.choose(user, shop.plan('m-99'));
    expect(await shop.membership.applyPromotion(user, 'WHOLE', { ip: '127.0.0.1' })).toMatchObject({ kind: 'applied' });
    const { promotion = null } = (await shop.membership.purchase(user.id)) ?? {};
    const { dueCents } = await shop.membership.quote(user, shop.plan('m-99'), promotion);
    const announced = { planId: shop.plan('m-99').id, dueCents };
    expect(await shop.membership.confirm(user, announced, { ip: '127.0.0.1' })).toMatchObject({ kind: 'paid' });
    const browser = await shop.foyer.signedIn(user);
    const { words, fields } = await announcedAt(browser);
    expect(words).toContain('Nothing is paid back');
    await remove(browser, { ...fields, membership: 'period-end' });
    await workFor(2);
    expect(await shop.membership.refresh(user.id)).toMatchObject({ status: 'active', cancelAtPeriodEnd: true });
  });
});

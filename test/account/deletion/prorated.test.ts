import { wordsOf } from '../../billing/checkout/shop.ts';
import { dayMs } from '../../billing/steps.ts';
import type { Browser } from '../../support/browser.ts';
import { setUpProrated } from '../prorated-steps.ts';

const path = '/settings/delete-account';
const minuteMs = 60_000;

/** The deletion is a cancellation too. */
describe('deleting an account where cancelling gives the unused time back', () => {
  const context = setUpProrated();
  const { customerOf, notesOf, orders, work } = context;
  const buyer = (code = 'm-499') => context.buyer([code], 10);
  const announcedAt = (browser: Browser) => context.announcedAt(browser, path);
  const remove = (browser: Browser, fields: Record<string, string>) => browser.post(path, { ...fields, confirm: '1' });

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
    await work(3);
    expect(await context.shop.membership.refresh(user.id)).toMatchObject({ status: 'canceled', nextCharge: null });
    expect(await notesOf(customer)).toEqual([cents]);
    expect(await orders(user)).toMatchObject([{ refundedCents: cents }]);
    const mails = await context.shop.foyer.mails(user.email);
    expect(mails.find(({ template }) => template === 'refund-made')?.values).toMatchObject({ amountCents: cents });
    // The member comes back: nothing is charged, and nothing more is given back.
    await context.shop.foyer.signedIn(user);
    await work(3);
    expect((await context.shop.userNow(user)).planId).toBeNull();
    expect(await notesOf(customer)).toEqual([cents]);
  });

  it('The page says that an amount which becomes credit again is lost with the account', async () => {
    const { user, browser } = await buyer('m-99');
    expect((await announcedAt(browser)).words).not.toContain('This credit is lost');
    await context.shop.stripe.client().customers.update(await customerOf(user), { balance: -20_000 });
    expect(await context.shop.buy(user, 'm-499')).toMatchObject({ kind: 'paid' });
    const { words } = await announcedAt(browser);
    expect(words).toMatch(
      /becomes your credit again\. This credit is lost with your account\. If you want it back, write to us before\./,
    );
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
    expect((await context.shop.userNow(user)).planId).toBe('12');
    context.shop.passTime(20 * minuteMs);
    await remove(await context.shop.foyer.signedIn(user), fields);
    await work(2);
    expect(await notesOf(customer)).toEqual([cents]);
  });

  it('Several clicks at once end the plan and give the money back once, before the customer is deleted', async () => {
    const { user, browser } = await buyer('m-99');
    const customer = await customerOf(user);
    const { cents, fields } = await announcedAt(browser);
    await Promise.all([1, 2, 3].map(() => remove(browser, fields)));
    await work(2);
    context.shop.passTime(14 * dayMs);
    await context.shop.foyer.app.deletion.work();
    await work(2);
    expect(await notesOf(customer)).toEqual([cents]);
    expect(await context.shop.stripe.client().customers.retrieve(customer)).toMatchObject({ deleted: true });
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
    context.shop.stripe.fault(fault, (method, at) => method !== 'GET' && at.startsWith(place));
    await work(5);
    expect(await context.shop.membership.refresh(user.id)).toMatchObject({ status: 'canceled' });
    expect(await notesOf(customer)).toEqual([cents]);
  });

  it('While Stripe is away the page names no amount, and the unused time is given back when Stripe answers', async () => {
    const { user, browser } = await buyer();
    const customer = await customerOf(user);
    context.shop.stripe.fault('unreachable', (_method, at) => at === '/v1/invoices/create_preview');
    const { words, fields } = await announcedAt(browser);
    expect(words).toContain('We give back the part of the paid period that is left. An email names the amount.');
    expect(fields).toEqual({ refund: 'later' });
    expect((await remove(browser, fields)).headers.get('location')).toBe('/account-deletion');
    // Two days without Stripe: what was unused at the request is given back.
    context.shop.passTime(2 * dayMs);
    await work(3);
    expect(await context.shop.membership.refresh(user.id)).toMatchObject({ status: 'canceled' });
    const [note, ...more] = await notesOf(customer);
    expect(more).toEqual([]);
    expect(note).toBeGreaterThan(33_200);
    expect(note).toBeLessThan(33_300);
    const mails = await context.shop.foyer.mails(user.email);
    expect(mails.find(({ template }) => template === 'refund-made')?.values).toMatchObject({ amountCents: note });
  });

  it('What the bank has given back meanwhile is not given back twice', async () => {
    const { user, browser } = await buyer();
    const customer = await customerOf(user);
    const { fields } = await announcedAt(browser);
    await remove(browser, fields);
    const [order] = await orders(user);
    context.shop.stripe.engine.refund(order?.invoiceId ?? '', 49_900);
    await context.shop.membership.reconcile({ pauseMs: 0 });
    await work(3);
    expect(await notesOf(customer)).toEqual([]);
    expect(await orders(user)).toMatchObject([{ refundedCents: 49_900 }]);
  });

  it('A plan that a code has paid has nothing to give back: the member chooses its end, as before', async () => {
    const stripe = context.shop.stripe.client();
    const coupon = await stripe.coupons.create({ percent_off: 100, duration: 'once' });
    await stripe.promotionCodes.create({ promotion: { type: 'coupon', coupon: coupon.id }, code: 'WHOLE' });
    const user = await context.shop.foyer.addUser();
    await context.shop.saveCard(user);
    await context.shop.membership.choose(user, context.shop.plan('m-99'));
    expect(await context.shop.membership.applyPromotion(user, 'WHOLE', { ip: '127.0.0.1' })).toMatchObject({
      kind: 'applied',
    });
    const { promotion = null } = (await context.shop.membership.purchase(user.id)) ?? {};
    const { dueCents } = await context.shop.membership.quote(user, context.shop.plan('m-99'), promotion);
    const announced = { planId: context.shop.plan('m-99').id, dueCents };
    expect(await context.shop.membership.confirm(user, announced, { ip: '127.0.0.1' })).toMatchObject({ kind: 'paid' });
    const browser = await context.shop.foyer.signedIn(user);
    const { words, fields } = await announcedAt(browser);
    expect(words).toContain('Nothing is paid back');
    await remove(browser, { ...fields, membership: 'period-end' });
    await work(2);
    expect(await context.shop.membership.refresh(user.id)).toMatchObject({ status: 'active', cancelAtPeriodEnd: true });
  });
});

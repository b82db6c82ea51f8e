import { diffWithStripe, listOrders } from '../../server/billing/index.ts';
import type { User } from '../../server/users/index.ts';
import { wordsOf } from '../billing/checkout/shop.ts';
import { fieldsWith } from '../billing/order-form.ts';
import { dayMs, from, manyCards, type Shop, startShop } from '../billing/steps.ts';
import { plansWith } from '../support/plans.ts';
import { anyBackend } from '../support/stores.ts';

const path = '/settings/membership/withdraw';
const begins = { beginsAtOnce: '1' };

/** A member who wants to use a plan and pay nothing for it. */
describe('attacks on withdrawals that keep the share of the days', () => {
  let shop: Shop;
  beforeAll(async () => {
    const consumers = { withdrawalDays: 14, refund: 'prorated' } as const;
    shop = await startShop(anyBackend, { ...manyCards, PLANS_FILE: plansWith({ periods: 'days', consumers }) });
  });
  afterAll(() => shop?.close());

  const orders = ({ id }: User) => listOrders(shop.foyer.deps.database.db, id);
  async function visitor() {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    const browser = await shop.foyer.signedIn(user);
    await browser.post('/plan-purchase/10/billingDetails', { country: 'DE', postal_code: '10115' });
    const buy = async (asked: Record<string, string> = begins) => {
      const own = await shop.foyer.signedIn(user);
      const fields = fieldsWith(await (await own.get('/plan-purchase/10')).text(), 'dueCents');
      return own.post('/plan-purchase/10', { ...fields, ...asked });
    };
    /** The form of the page that withdraws, in a session of its own: an old one is asked to authenticate again. */
    const open = async () => {
      const own = await shop.foyer.signedIn(user);
      const form = fieldsWith(await (await own.get(path)).text(), 'days');
      return { form, post: (fields: Record<string, string> = form) => own.post(path, fields) };
    };
    return { user, buy, open };
  }
  const back = async (user: User) => (await orders(user)).reduce((sum, { refundedCents: cents }) => sum + cents, 0);

  it('Buying, using 13 days, withdrawing, and again: each time the 13 days are paid', async () => {
    const { user, buy, open } = await visitor();
    for (let time = 1; time <= 3; time += 1) {
      await buy();
      shop.passTime(13 * dayMs + 60_000);
      await (await open()).post();
      expect((await shop.userNow(user)).planId).toBeNull();
      // 13 of 30 days of $99.00 are $42.90.
      expect(await back(user)).toBe(time * (9_900 - 4_290));
    }
    const { left } = await diffWithStripe(shop.membership.deps, { pauseMs: 0 });
    expect(left.filter(({ userId }) => userId === user.id)).toEqual([]);
  });

  it.each(['0', 'on', 'true', '2', ' 1', '1-de', ''])('The value %j of the box is no request', async (value) => {
    const { user, buy } = await visitor();
    expect((await buy({ beginsAtOnce: value })).status).toBe(400);
    expect(await orders(user)).toEqual([]);
  });

  it('An order by a call without the request is refused, and charges nothing', async () => {
    const { user } = await visitor();
    const plan = shop.plan('m-99');
    await shop.membership.choose(user, plan);
    const ask = (beginsAtOnce?: string) =>
      shop.membership.confirm(user, { planId: plan.id, dueCents: 9_900, beginsAtOnce }, from);
    expect(await ask()).toEqual({ kind: 'no-request-to-begin' });
    expect(await orders(user)).toEqual([]);
    expect(await ask('api')).toMatchObject({ kind: 'paid' });
    expect(await orders(user)).toMatchObject([{ beginWording: 'api' }]);
  });

  it('A form that names fewer days, or none, gives nothing back, and the page names the right amount', async () => {
    const { user, buy, open } = await visitor();
    await buy();
    shop.passTime(9 * dayMs + 60 * 60_000);
    const { form, post } = await open();
    expect(form).toEqual({ days: '9' });
    for (const days of ['0', '8', '10', '-1', '1e1', '09x', '99999']) {
      const refused = await post({ days });
      expect(refused.status).toBe(409);
      expect(wordsOf(await refused.text())).toContain('Another day has begun');
    }
    expect((await post({})).status).toBe(409);
    expect(await back(user)).toBe(0);
    expect((await shop.userNow(user)).planId).toBe('10');
    await post();
    expect(await back(user)).toBe(6_930);
  });

  it('A second withdrawal from a purchase that credit has paid does not give the share of the days back, too', async () => {
    const { user, buy, open } = await visitor();
    const customer = (await shop.membership.getMembership(user.id))?.customerId ?? '';
    await shop.stripe.client().customers.update(customer, { balance: -9_900 });
    await buy();
    expect(await orders(user)).toMatchObject([{ paidCents: 0, usedCreditCents: 9_900 }]);
    shop.passTime(10 * dayMs + 60_000);
    for (let time = 1; time <= 2; time += 1) {
      const { post } = await open();
      expect((await post({ days: '10' })).headers.get('location')).toContain(time === 1 ? 'withdrawn' : 'nothing');
      await shop.membership.work();
      expect(await shop.stripe.client().customers.retrieve(customer)).toMatchObject({ balance: -6_600 });
    }
  });

  it('Two withdrawals at once, also of pages of two days, give the money back once', async () => {
    const { user, buy, open } = await visitor();
    await buy();
    shop.passTime(3 * dayMs - 60_000);
    const before = await open();
    shop.passTime(2 * 60_000);
    const after = await open();
    expect([before.form.days, after.form.days]).toEqual(['2', '3']);
    await Promise.all([before, after, before, after].map(({ post }) => post()));
    expect([9_240, 8_910]).toContain(await back(user));
    const mails = (await shop.foyer.mails(user.email)).filter(({ template }) => template === 'withdrawal-received');
    expect(mails).toHaveLength(1);
    expect(mails[0]?.values).toMatchObject({ amountCents: await back(user) });
  });

  it('A withdrawal while Stripe is away gives back what was announced, not what the wait would leave', async () => {
    const { user, buy, open } = await visitor();
    await buy();
    shop.passTime(4 * dayMs + 60_000);
    const { post } = await open();
    shop.stripe.fault('unreachable', (_method, at) => at === '/v1/credit_notes');
    expect((await post()).headers.get('location')).toContain('withdraw-noted');
    shop.passTime(2 * dayMs);
    // A second form names other days by now.
    await (await open()).post({ days: '6' });
    await shop.membership.work();
    await shop.membership.work();
    expect(await back(user)).toBe(9_900 - 1_320);
  });

  it('A request of an abandoned purchase is not that of the next one', async () => {
    const { user, buy } = await visitor();
    await shop.saveCard(user, '4000000000000341');
    expect((await buy()).status).toBe(402);
    await shop.saveCard(user);
    await shop.membership.choose(user, shop.plan('m-499'));
    const plan = shop.plan('m-99');
    await shop.membership.choose(user, plan);
    expect(await shop.membership.confirm(user, { planId: plan.id, dueCents: 9_900 }, from)).toEqual({
      kind: 'no-request-to-begin',
    });
  });

  it.each([5_000, 100])('An upgrade credits nothing of a payment of which %d cents went back', async (cents) => {
    const { user, buy } = await visitor();
    await buy();
    const browser = await shop.foyer.signedIn(user);
    shop.stripe.engine.refund((await orders(user))[0]?.invoiceId ?? '', cents);
    await shop.membership.reconcile({ pauseMs: 0 });
    const html = await (await browser.get('/plan-purchase/12')).text();
    expect(wordsOf(html)).toContain('A higher plan starts with the next period');
    expect(wordsOf(html)).not.toContain('Unused time');
    // A form from before the refund.
    expect((await browser.post('/plan-purchase/12', { planId: '12', dueCents: '40000' })).status).toBe(409);
    expect(await shop.buy(user, 'm-499')).toMatchObject({ kind: 'scheduled' });
    expect((await orders(user))[0]).toMatchObject({ planId: '10', paidCents: 9_900, refundedCents: cents });
  });
});

import { diffWithStripe, listOrders } from '../../server/billing/index.ts';
import type { User } from '../../server/users/index.ts';
import { wordsOf } from '../billing/checkout/shop.ts';
import { dayMs, from, manyCards, type Shop, startShop } from '../billing/steps.ts';
import { fieldsIn } from '../billing/year-with-refund-steps.ts';
import { plansWith } from '../support/plans.ts';
import { anyBackend } from '../support/stores.ts';

const cancelPath = '/settings/membership/cancel';
const withdrawPath = '/settings/membership/withdraw';
const minuteMs = 60_000;

/** A member who wants money back that was given back already, or a plan for money that went back. */
describe('attacks on money that goes back', () => {
  let shop: Shop;
  beforeAll(async () => {
    const plans = { periods: 'days', cancel: 'prorated', consumers: { withdrawalDays: 14 } } as const;
    shop = await startShop(anyBackend, { ...manyCards, PLANS_FILE: plansWith(plans) });
  });
  afterAll(() => shop?.close());

  const stripe = () => shop.stripe.client();
  const orders = ({ id }: User) => listOrders(shop.foyer.deps.database.db, id);
  const standing = async ({ id }: User) => {
    const found = await shop.membership.getMembership(id);
    if (!found) throw new Error('there is no membership');
    return found;
  };
  const customerOf = async (user: User) => (await standing(user)).customerId ?? '';
  async function buyer(...codes: string[]): Promise<User> {
    const user = await shop.foyer.addUser();
    await shop.membership.ensure(user, 7);
    const { details } = await shop.membership.findDetails(user.id);
    await shop.membership.saveDetails(user, { ...details, country: 'DE', postalCode: '10115' });
    await shop.saveCard(user);
    for (const code of codes) expect(await shop.buy(user, code)).toMatchObject({ kind: 'paid' });
    return user;
  }
  /** In cents: what the cards paid, what went back to them, and the credit that is left. */
  async function money(user: User) {
    const customer = await stripe().customers.retrieve(await customerOf(user));
    const payments = await stripe().invoices.list({ customer: customer.id, limit: 100 });
    const notes = await stripe().creditNotes.list({ customer: customer.id, limit: 100 });
    const sum = (amounts: number[]) => amounts.reduce((total, one) => total + one, 0);
    return {
      paid: sum(payments.data.map(({ amount_paid: cents }) => cents)),
      back: sum(notes.data.map((note) => sum(note.refunds.map(({ amount_refunded: cents }) => cents)))),
      credit: customer.deleted ? 0 : 0 - customer.balance,
    };
  }
  const work = async (times = 2) => {
    for (let time = 0; time < times; time += 1) {
      shop.passTime(61 * minuteMs);
      await shop.membership.work();
    }
  };
  const post = async (user: User, path: string, fields: Record<string, string> = {}) =>
    (await (await shop.foyer.signedIn(user)).post(path, fields)).headers.get('location') ?? '';
  const formAt = async (user: User, path: string) =>
    fieldsIn(await (await (await shop.foyer.signedIn(user)).get(path)).text());
  const wordsAt = async (user: User, path: string) =>
    wordsOf(await (await (await shop.foyer.signedIn(user)).get(path)).text());
  async function dispute(user: User, end?: 'lost' | 'won') {
    const id = shop.stripe.engine.dispute((await orders(user))[0]?.invoiceId ?? '');
    if (end) shop.stripe.engine.moveDispute(id, end);
    await shop.membership.reconcile({ pauseMs: 0 });
    await shop.membership.work();
    return id;
  }

  it('A cancellation with a refund and a withdrawal, one after the other or at once, give the money back once', async () => {
    const [first, both] = [await buyer('m-99'), await buyer('m-99')];
    shop.passTime(5 * dayMs);
    await post(first, cancelPath, await formAt(first, cancelPath));
    expect(await post(first, withdrawPath)).toContain('nothing');
    expect(await money(first)).toEqual({ paid: 9_900, back: 8_250, credit: 0 });
    const [form, browser] = [await formAt(both, cancelPath), await shop.foyer.signedIn(both)];
    await Promise.all([cancelPath, withdrawPath, cancelPath, withdrawPath].map((path) => browser.post(path, form)));
    await work();
    const { back, credit } = await money(both);
    expect([8_250, 9_900]).toContain(back);
    expect(credit).toBe(0);
  });

  it('A member who disputes the payment and withdraws gets the money back once, when the bank has decided', async () => {
    const [lost, won] = [await buyer('m-99'), await buyer('m-99')];
    for (const [user, end] of [
      [lost, 'lost'],
      [won, 'won'],
    ] as const) {
      const id = await dispute(user);
      expect(await wordsAt(user, withdrawPath)).toContain('your bank decides first');
      expect(await post(user, withdrawPath)).toContain('withdraw-noted');
      // The plan ends all the same.
      expect(await shop.membership.refresh(user.id)).toMatchObject({ status: 'canceled' });
      await work();
      expect(await money(user)).toEqual({ paid: 9_900, back: 0, credit: 0 });
      shop.stripe.engine.moveDispute(id, end);
      await shop.membership.reconcile({ pauseMs: 0 });
      await work(14);
      expect(await money(user)).toEqual({ paid: 9_900, back: end === 'won' ? 9_900 : 0, credit: 0 });
      const { left } = await diffWithStripe(shop.membership.deps, { pauseMs: 0 });
      expect(left.filter(({ userId }) => userId === user.id)).toEqual([]);
    }
  });

  it('A withdrawal that waits for the bank does not keep the member from buying', async () => {
    const user = await buyer('m-99');
    await dispute(user);
    await post(user, withdrawPath);
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'paid' });
    expect((await shop.userNow(user)).planId).toBe('10');
  });

  it('A withdrawal after the bank has given everything back gives nothing', async () => {
    const user = await buyer('m-99');
    await dispute(user, 'lost');
    expect(await post(user, withdrawPath)).toContain('nothing');
    expect(await money(user)).toEqual({ paid: 9_900, back: 0, credit: 0 });
  });

  it('A withdrawal just after the operator’s refund ends the plan and gives nothing more', async () => {
    const user = await buyer('m-99');
    const [order] = await orders(user);
    shop.stripe.engine.refund(order?.invoiceId ?? '', 9_900);
    await post(user, withdrawPath);
    await work(3);
    expect(await shop.membership.refresh(user.id)).toMatchObject({ status: 'canceled' });
    expect((await shop.userNow(user)).planId).toBeNull();
    await shop.membership.reconcile({ pauseMs: 0 });
    await work(14);
    expect(await money(user)).toMatchObject({ back: 0, credit: 0 });
    const { left } = await diffWithStripe(shop.membership.deps, { pauseMs: 0 });
    expect(left.filter(({ userId }) => userId === user.id)).toEqual([]);
  });

  it('A change to a cheaper period, which leaves credit, takes the withdrawal with it: the year is not refunded beside it', async () => {
    const user = await buyer('y-900', 'm-499');
    expect(await money(user)).toEqual({ paid: 90_000, back: 0, credit: 40_100 });
    expect(await post(user, withdrawPath)).toContain('nothing');
    expect(await money(user)).toEqual({ paid: 90_000, back: 0, credit: 40_100 });
    // A cancellation gives back what is left beside the credit, and no more.
    await post(user, cancelPath, await formAt(user, cancelPath));
    const { paid, back, credit } = await money(user);
    expect(back + credit).toBeLessThanOrEqual(paid);
  });

  it('An upgrade that a code pays leaves credit, and neither a withdrawal nor a cancellation pays it out', async () => {
    const coupon = await stripe().coupons.create({ percent_off: 100, duration: 'once' });
    await stripe().promotionCodes.create({ code: 'ALLFREE', promotion: { type: 'coupon', coupon: coupon.id } });
    const user = await buyer('m-99');
    await shop.membership.choose(user, shop.plan('m-499'));
    await shop.membership.applyPromotion(user, 'ALLFREE', from);
    expect(await shop.buy(user, 'm-499')).toMatchObject({ kind: 'paid' });
    expect(await money(user)).toEqual({ paid: 9_900, back: 0, credit: 9_900 });
    expect(await post(user, withdrawPath)).toContain('nothing');
    await post(user, cancelPath, await formAt(user, cancelPath));
    await post(user, cancelPath, { refundCents: '9900', creditCents: '0' });
    expect(await money(user)).toEqual({ paid: 9_900, back: 0, credit: 9_900 });
  });

  it('A withdrawal gives what credit has paid back as credit, not to the card', async () => {
    const user = await buyer();
    await stripe().customers.update(await customerOf(user), { balance: -4_000 });
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'paid' });
    expect(await wordsAt(user, withdrawPath)).toMatch(
      /We give \$59\.00 back to your card\. \$40\.00 .* becomes your credit/,
    );
    expect(await post(user, withdrawPath)).toContain('withdrawn');
    expect(await money(user)).toEqual({ paid: 5_900, back: 5_900, credit: 4_000 });
    const mails = await shop.foyer.mails(user.email);
    const received = mails.find(({ template }) => template === 'withdrawal-received');
    expect(received?.values).toMatchObject({ amountCents: 5_900, creditCents: 4_000 });
    expect(received?.text).toContain('Your credit again: $40.00');
  });

  it('A code for a first purchase is refused after a withdrawal', async () => {
    const coupon = await stripe().coupons.create({ percent_off: 50, duration: 'once' });
    const restrictions = { first_time_transaction: true };
    await stripe().promotionCodes.create({
      code: 'FIRST',
      promotion: { type: 'coupon', coupon: coupon.id },
      restrictions,
    });
    const user = await buyer();
    const apply = async () => {
      await shop.membership.choose(user, shop.plan('m-99'));
      return shop.membership.applyPromotion(user, 'FIRST', from);
    };
    expect(await apply()).toMatchObject({ kind: 'applied' });
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'paid' });
    expect(await post(user, withdrawPath)).toContain('withdrawn');
    expect(await apply()).toMatchObject({ kind: 'refused', refusal: { kind: 'first-purchase-only' } });
  });

  it.each(['open', 'lost', 'refunded'] as const)(
    'An upgrade credits nothing of a payment that is %s: the higher plan begins with the next period, at its price',
    async (state) => {
      const user = await buyer('m-499');
      const [order] = await orders(user);
      if (state === 'refunded') {
        shop.stripe.engine.refund(order?.invoiceId ?? '', 49_900);
        await shop.membership.reconcile({ pauseMs: 0 });
      } else await dispute(user, state === 'lost' ? 'lost' : undefined);
      const words = await wordsAt(user, '/plan-purchase/14');
      expect(words).toContain('A higher plan starts with the next period');
      expect(words).not.toContain('Unused time');
      // A form from before the dispute.
      const stale = { planId: '14', dueCents: '40000' };
      const browser = await shop.foyer.signedIn(user);
      expect((await browser.post('/plan-purchase/14', stale)).status).toBe(409);
      expect(await shop.buy(user, 'm-899')).toMatchObject({ kind: 'scheduled' });
      expect(await money(user)).toMatchObject({ paid: 49_900, credit: 0 });
      shop.passTime(31 * dayMs);
      await shop.membership.refresh(user.id);
      expect((await orders(user))[0]).toMatchObject({ planId: '14', paidCents: 89_900 });
    },
  );

  it('A dispute that is won gives its time back to an upgrade', async () => {
    const user = await buyer('m-499');
    await dispute(user, 'won');
    expect(await shop.buy(user, 'm-899')).toMatchObject({ kind: 'paid' });
    expect((await orders(user))[0]).toMatchObject({ paidCents: 40_000 });
  });
});

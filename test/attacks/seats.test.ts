import { listOrders } from '../../server/billing/index.ts';
import type { User } from '../../server/users/index.ts';
import { path, standing } from '../account/membership-steps.ts';
import { makeGift, redeem } from '../billing/gift-steps.ts';
import { charges, hourMs, pass, pauseFor } from '../billing/pause-steps.ts';
import { askForSeats, confirmOnPage, openPlan, seatsOf, startSeatsShop, typeSeats } from '../billing/seats-steps.ts';
import { cards, dayMs, from, type Shop } from '../billing/steps.ts';
import { fieldsIn } from '../billing/year-with-refund-steps.ts';

const minuteMs = 60_000;
const begins = { beginsAtOnce: '1' };

/** A member who combines seats with gifts, pauses, codes and withdrawals, to have more than they pay. */
describe('attacks on seats together with withdrawals, pauses, codes and gifts', () => {
  let shop: Shop;
  beforeAll(async () => {
    const consumers = { withdrawalDays: 14, refund: 'prorated' } as const;
    const more = { gifts: { months: [3] }, pause: { months: [1] } };
    shop = await startSeatsShop({}, { periods: 'days', consumers, ...more });
  });
  afterAll(() => shop?.close());

  const now = () => shop.stripe.engine.nowMs();
  const orders = ({ id }: User) => listOrders(shop.foyer.deps.database.db, id);
  async function visitor(card?: string) {
    const user = await shop.foyer.addUser();
    await shop.membership.ensure(user, 7);
    const { details } = await shop.membership.findDetails(user.id);
    await shop.membership.saveDetails(user, { ...details, country: 'DE', postalCode: '10115' });
    await shop.saveCard(user, card);
    return { user, browser: await shop.foyer.signedIn(user) };
  }
  async function buyer(seats: number) {
    const found = await visitor();
    await typeSeats(found.browser, '10', String(seats));
    await confirmOnPage(found.browser, '10', begins);
    expect(await charges(shop, found.user)).toEqual([seats * 9_900]);
    return found;
  }
  async function settle(user: User) {
    await shop.stripe.webhooks.idle();
    await shop.membership.work();
    await shop.membership.refresh(user.id);
  }
  async function toPeriodEnd(user: User, ms: number) {
    const { periodEnd } = await standing(shop, user);
    shop.passTime((periodEnd ?? 0) + ms - now());
    await settle(user);
  }
  async function setCard(user: User, number: string) {
    const { card } = await standing(shop, user);
    shop.stripe.engine.setCardBehaviour(card?.paymentMethodId ?? '', number);
  }
  const invoicesOf = async (user: User) => {
    const customer = (await standing(shop, user)).customerId ?? '';
    return (await shop.stripe.client().invoices.list({ customer, expand: ['data.payments'] })).data;
  };
  /** In cents. */
  async function kept(user: User): Promise<number> {
    const all = await orders(user);
    return all.reduce((sum, { paidCents, refundedCents }) => sum + paidCents - refundedCents, 0);
  }
  /** Opens the page that withdraws. @returns its form */
  async function openWithdrawal(user: User) {
    const own = await shop.foyer.signedIn(user);
    const fields = fieldsIn(await (await own.get(`${path}/withdraw`)).text());
    return async () => (await own.post(`${path}/withdraw`, fields)).headers.get('location') ?? '';
  }

  it('Attack: more seats that begin with a renewal, whose payment fails, are not given before it is paid', async () => {
    const { user, browser } = await buyer(1);
    // After a refund of a part more seats begin with the next period, as they do by debit.
    shop.stripe.engine.refund((await orders(user))[0]?.invoiceId ?? '', 100);
    await shop.membership.reconcile({ pauseMs: 0 });
    await askForSeats(browser, '50');
    await confirmOnPage(browser, '10');
    expect(await seatsOf(shop, user)).toMatchObject({ claim: 1, next: 50 });
    await setCard(user, cards.chargeDeclined);
    await toPeriodEnd(user, 5 * minuteMs);
    expect(await seatsOf(shop, user)).toMatchObject({ stored: 1, claim: 1, atStripe: 50 });
    shop.passTime(2 * hourMs);
    await settle(user);
    expect(await seatsOf(shop, user)).toMatchObject({ stored: 1, claim: 1, atStripe: 50 });
    expect(await standing(shop, user)).toMatchObject({ status: 'past_due', price: { amountCents: 9_900 } });
    await shop.saveCard(user, cards.visa);
    await shop.membership.payUnpaid(user, from);
    expect(await seatsOf(shop, user)).toMatchObject({ stored: 50, claim: 50 });
    expect(await charges(shop, user)).toEqual([9_900, 495_000]);
  });

  it('Attack: a gift of a plan with seats has one, not those of an earlier subscription', async () => {
    const { user } = await buyer(50);
    await shop.membership.cancel(user);
    await toPeriodEnd(user, 3 * hourMs);
    const { code } = await makeGift(shop, now(), { planId: '10' });
    expect(await redeem(await shop.foyer.signedIn(user), code)).toContain('gift');
    expect(await shop.userNow(user)).toMatchObject({ planId: '10', seats: null });
    await settle(user);
    expect(await shop.userNow(user)).toMatchObject({ planId: '10', seats: null });
  });

  it('Attack: a withdrawal while the bank asks about more seats ends both, and a late answer charges nothing', async () => {
    const { user, browser } = await buyer(1);
    await setCard(user, cards.authenticatesAlways);
    await askForSeats(browser, '5');
    expect((await confirmOnPage(browser, '10')).status).toBe(200);
    const open = (await invoicesOf(user)).find(({ status }) => status === 'open');
    const intent = open?.payments?.data[0]?.payment.payment_intent;
    expect(intent).toBeDefined();
    expect(await (await openWithdrawal(user))()).toContain('withdrawn');
    try {
      shop.stripe.engine.authenticate(String(intent), 'succeed');
    } catch {
      // Stripe has cancelled the payment with its invoice.
    }
    await settle(user);
    expect(await kept(user)).toBe(0);
    expect((await invoicesOf(user)).filter(({ status }) => status === 'open')).toEqual([]);
    expect((await shop.userNow(user)).planId).toBeNull();
  });

  it('Attack: of a withdrawal and more seats at once, nothing is charged that goes neither back nor into a plan', async () => {
    const { user, browser } = await buyer(2);
    await askForSeats(browser, '5');
    const { fields } = await openPlan(browser, '10');
    const withdraw = await openWithdrawal(user);
    await Promise.all([withdraw(), browser.post('/plan-purchase/10', fields)]);
    await settle(user);
    const { planId, seats } = await shop.userNow(user);
    if (planId === null) expect(await kept(user)).toBe(0);
    else expect({ seats, kept: await kept(user) }).toEqual({ seats: 5, kept: 49_500 });
  });

  it('Attack: a pause does not outlive a withdrawal: nothing is charged at its end', async () => {
    const { user, browser } = await buyer(2);
    expect(await pauseFor(browser, 1)).toContain('pause');
    expect(await (await openWithdrawal(user))()).toContain('withdrawn');
    await settle(user);
    await pass(shop, now() + 70 * dayMs);
    await settle(user);
    expect(await charges(shop, user)).toEqual([19_800]);
    expect(await kept(user)).toBe(0);
    expect(await standing(shop, user)).toMatchObject({ status: 'canceled', pause: null });
  });

  it('Attack: another number of seats, chosen when the bank has answered, does not take the request to begin from the order', async () => {
    const { user, browser } = await visitor(cards.authenticatesAlways);
    await typeSeats(browser, '10', '2');
    expect((await confirmOnPage(browser, '10', begins)).status).toBe(200);
    const open = (await invoicesOf(user)).find(({ status }) => status === 'open');
    shop.stripe.engine.authenticate(String(open?.payments?.data[0]?.payment.payment_intent), 'succeed');
    await typeSeats(browser, '10', '3');
    await settle(user);
    expect(await orders(user)).toMatchObject([{ paidCents: 19_800, seats: 2, beginWording: '1-en' }]);
  });

  it('Attack: seats quoted for the last minute of a period are not sold for the next one', async () => {
    const { user } = await buyer(1);
    await toPeriodEnd(user, -minuteMs);
    const browser = await shop.foyer.signedIn(user);
    await askForSeats(browser, '50');
    const { fields } = await openPlan(browser, '10');
    expect(Number(fields.dueCents)).toBeLessThan(1_000);
    shop.passTime(2 * minuteMs);
    expect((await browser.post('/plan-purchase/10', fields)).status).toBe(409);
    await settle(user);
    expect(await seatsOf(shop, user)).toMatchObject({ claim: 1, atStripe: 1 });
  });

  it('Attack: a code of a fixed amount for ten seats pays no single seat, neither before the purchase nor after it', async () => {
    const coupon = await shop.stripe
      .client()
      .coupons.create({ amount_off: 50_000, currency: 'usd', duration: 'forever' });
    const promotion = { type: 'coupon', coupon: coupon.id } as const;
    await shop.stripe.client().promotionCodes.create({ code: 'TENSEATS', promotion });
    const { user, browser } = await visitor();
    const apply = async () => (await shop.membership.applyPromotion(user, 'TENSEATS', from)).kind;
    await typeSeats(browser, '10', '10');
    expect(await apply()).toBe('applied');
    await typeSeats(browser, '10', '1');
    expect((await openPlan(browser, '10')).fields).toMatchObject({ dueCents: '9900' });
    expect(await apply()).toBe('refused');
    await typeSeats(browser, '10', '10');
    await apply();
    await confirmOnPage(browser, '10', begins);
    await askForSeats(browser, '1');
    expect((await openPlan(browser, '10')).fields).toMatchObject({ laterCents: '9900' });
    await confirmOnPage(browser, '10');
    await toPeriodEnd(user, dayMs);
    expect(await charges(shop, user)).toEqual([49_000, 9_900]);
  });

  it('Attack: fewer, more and fewer seats in one period give nothing back and sell nothing twice', async () => {
    const { user, browser } = await buyer(10);
    for (const seats of ['2', '3', '5']) {
      await askForSeats(browser, seats);
      await confirmOnPage(browser, '10');
      expect(await seatsOf(shop, user)).toMatchObject({ claim: 10, next: Number(seats) });
    }
    expect(await charges(shop, user)).toEqual([99_000]);
    await toPeriodEnd(user, dayMs);
    expect(await charges(shop, user)).toEqual([99_000, 49_500]);
  });

  it('Attack: a gift and a purchase at once, and a withdrawal: the gift stays, used once, and the money goes back once', async () => {
    const { user, browser } = await visitor();
    const { code } = await makeGift(shop, now());
    const { fields } = await openPlan(browser, '10');
    const buy = () => browser.post('/plan-purchase/10', { ...fields, ...begins });
    await Promise.all([redeem(browser, code), buy()]);
    await settle(user);
    expect((await shop.userNow(user)).planId).toBe('10');
    expect(await (await openWithdrawal(user))()).toContain('withdrawn');
    await settle(user);
    expect(await kept(user)).toBe(0);
    await redeem(await shop.foyer.signedIn(user), code);
    const { giftPlanId, giftUntil } = await standing(shop, user);
    expect(giftPlanId).toBe('11');
    expect(giftUntil).toBeLessThan(now() + 93 * dayMs);
    expect((await shop.userNow(user)).planId).toBe('11');
  });
});

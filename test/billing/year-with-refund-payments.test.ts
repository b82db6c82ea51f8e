import { plansWith } from '../support/plans.ts';
import { anyBackend } from '../support/stores.ts';
import { dayMs, manyCards, type Shop, startShop } from './steps.ts';
import { cancelPath, createSteps, yearWithRefund } from './year-with-refund-steps.ts';

const path = '/settings/membership';
const minuteMs = 60_000;

/** Section 309 no. 9 BGB: the following year of a consumer's contract ends on a month's notice. */
describe('the payments of a following year that ends on a month’s notice', () => {
  let shop: Shop;
  let steps: ReturnType<typeof createSteps>;
  beforeAll(async () => {
    shop = await startShop(anyBackend, { ...manyCards, PLANS_FILE: plansWith({ consumers: yearWithRefund }) });
    shop.stripe.tell(shop.foyer.url);
    shop.stripe.webhooks.mode = 'held';
    steps = createSteps(shop);
    const coupons = [
      { code: 'ALWAYS20', percent_off: 20, duration: 'forever' },
      { code: 'ONCE50', percent_off: 50, duration: 'once' },
    ] as const;
    for (const { code, ...coupon } of coupons) {
      const { id } = await steps.stripe.coupons.create(coupon);
      await steps.stripe.promotionCodes.create({ code, promotion: { type: 'coupon', coupon: id } });
    }
  });
  afterAll(() => shop?.close());

  const now = () => shop.stripe.engine.nowMs();
  const sum = (amounts: readonly number[]) => amounts.reduce((total, one) => total + one, 0);
  it.each([
    ['ALWAYS20', 72_000, 72_000],
    ['ONCE50', 45_000, 90_000],
  ])('With the code %s the part of what was paid is given back', async (code, first, following) => {
    const user = await steps.buyer('y-900', code);
    await steps.passMonths(user, 15);
    expect((await steps.ordersOf(user)).map(({ paidCents }) => paidCents)).toEqual([first, following]);
    const { cents, endsAt } = await steps.cancelOnNotice(user);
    expect(cents).toBe(await steps.unusedPart(user, endsAt));
    await steps.passTo(user, endsAt + minuteMs);
    expect(await steps.notesOf(user)).toEqual([cents]);
  });

  it('The part of the year that credit has paid becomes credit again', async () => {
    const user = await steps.buyer();
    await steps.stripe.customers.update(await steps.customerOf(user), { balance: -80_000 });
    await steps.passMonths(user, 14);
    const { fields, endsAt, words } = await steps.cancelOnNotice(user);
    const [card, credit] = [Number(fields.refundCents), Number(fields.creditCents)];
    expect(card).toBe(10_000);
    expect(words).toContain(`$${(credit / 100).toFixed(2)} that was paid from your credit becomes your credit again`);
    await steps.passTo(user, endsAt + minuteMs);
    expect(await shop.membership.refresh(user.id)).toMatchObject({ balanceCents: 0 - credit });
    expect((await steps.ordersOf(user)).at(-1)).toMatchObject({ paidCents: 10_000, refundedCents: 10_000 });
  });

  it('A year that credit alone has paid becomes credit again: the membership page names no refund of nothing', async () => {
    const user = await steps.buyer();
    await steps.stripe.customers.update(await steps.customerOf(user), { balance: -90_000 });
    await steps.passMonths(user, 14);
    const { fields } = await steps.cancelOnNotice(user);
    const credit = `$${(Number(fields.creditCents) / 100).toFixed(2)}`;
    const words = await steps.wordsAt(user, '/settings/membership');
    expect(words).toContain(`${credit} becomes your credit again then.`);
    expect(words).toContain(`Credit at the end ${credit}`);
    expect(words).not.toMatch(/Refund at the end|given back/);
  });

  it('What an operator gives back meanwhile is not given back twice', async () => {
    const user = await steps.buyer();
    await steps.passMonths(user, 14);
    const { cents, endsAt } = await steps.cancelOnNotice(user);
    const [invoice] = await steps.invoicesOf(user);
    await steps.stripe.creditNotes.create({ invoice: invoice?.id ?? '', amount: 50_000, refund_amount: 50_000 });
    await shop.stripe.webhooks.deliver();
    await steps.passTo(user, endsAt + minuteMs);
    const notes = await steps.notesOf(user);
    expect(sum(notes)).toBe(90_000);
    expect(cents).toBeGreaterThan(40_000);
    expect((await steps.ordersOf(user)).at(-1)).toMatchObject({ paidCents: 90_000, refundedCents: 90_000 });
    expect(await steps.left(user)).toEqual([]);
  });

  it('Of a year that is partly refunded, no more than the rest is announced', async () => {
    const user = await steps.buyer();
    await steps.passMonths(user, 13);
    const [invoice] = await steps.invoicesOf(user);
    await steps.stripe.creditNotes.create({ invoice: invoice?.id ?? '', amount: 80_000, refund_amount: 80_000 });
    await shop.stripe.webhooks.deliver();
    const { cents, endsAt } = await steps.cancelOnNotice(user);
    expect(cents).toBe(10_000);
    await steps.passTo(user, endsAt + minuteMs);
    expect(sum(await steps.notesOf(user))).toBe(90_000);
  });

  it.each([
    ['lost', 0],
    ['won', 1],
  ] as const)('A refund of a disputed payment waits for the bank: %s', async (outcome, refunds) => {
    const user = await steps.buyer();
    await steps.passMonths(user, 14);
    const { cents, endsAt } = await steps.cancelOnNotice(user);
    const [invoice] = await steps.invoicesOf(user);
    const dispute = shop.stripe.engine.dispute(invoice?.id ?? '');
    await shop.stripe.webhooks.deliver();
    await steps.passTo(user, endsAt + minuteMs);
    expect(await steps.notesOf(user)).toEqual([]);
    expect(await steps.left(user)).toContainEqual(expect.objectContaining({ kind: 'act unfinished' }));
    shop.stripe.engine.moveDispute(dispute, outcome);
    await shop.stripe.webhooks.deliver();
    await steps.passTo(user, endsAt + dayMs);
    expect(await steps.notesOf(user)).toEqual(Array(refunds).fill(cents));
    expect(await steps.left(user)).toEqual([]);
  });

  it('While a dispute is open the year runs out, and nothing is announced', async () => {
    const user = await steps.buyer();
    await steps.passMonths(user, 14);
    const [invoice] = await steps.invoicesOf(user);
    shop.stripe.engine.dispute(invoice?.id ?? '');
    await shop.stripe.webhooks.deliver();
    expect((await steps.announced(await steps.browser(user))).fields).toEqual({});
  });

  it('While Stripe is away the end on notice is noted, and the exact amount comes with the mail', async () => {
    const user = await steps.buyer();
    await steps.passMonths(user, 14);
    let isAway = true;
    for (let requests = 0; requests < 60; requests += 1) shop.stripe.fault('unreachable', () => isAway);
    const browser = await steps.browser(user);
    const { words, fields, day } = await steps.announced(browser);
    expect(words).toContain('Then we give back what you paid for the time after that day.');
    expect(Object.keys(fields)).toEqual(['endsAt']);
    expect((await browser.post(cancelPath, fields)).headers.get('location')).toContain('cancel-noted');
    expect(await steps.wordsAt(user, path)).toContain(day);
    // A second click asks for nothing more.
    expect((await browser.post(cancelPath, fields)).headers.get('location')).toMatch(/nothing|cancel-noted/);
    isAway = false;
    shop.passTime(10 * minuteMs);
    await shop.membership.work();
    const [mail] = await steps.mailsOf(user, 'plan-cancelled');
    const endsAt = Number(fields.endsAt);
    expect(mail?.values).toMatchObject({ endsAt, refundCents: await steps.unusedPart(user, endsAt) });
    await steps.passTo(user, endsAt + minuteMs);
    expect(await steps.notesOf(user)).toEqual([mail?.values.refundCents]);
  });

  it.each([
    ['unreachable', '/v1/subscriptions/'],
    ['lost', '/v1/subscriptions/'],
  ] as const)('An end that is interrupted (%s at %s) is finished without the member', async (kind, place) => {
    const user = await steps.buyer();
    await steps.passMonths(user, 14);
    const browser = await steps.browser(user);
    const { fields, cents } = await steps.announced(browser);
    shop.stripe.fault(kind, (method, at) => method !== 'GET' && at.startsWith(place));
    await browser.post(cancelPath, fields);
    shop.passTime(10 * minuteMs);
    await shop.membership.work();
    expect(await steps.subscriptionOf(user)).toMatchObject({ cancel_at: Number(fields.endsAt) / 1_000 });
    await steps.passTo(user, Number(fields.endsAt) + minuteMs);
    expect(await steps.notesOf(user)).toEqual([cents]);
  });

  it('Events in any order, also twice, leave one end, one mail and one refund', async () => {
    const user = await steps.buyer();
    await steps.passMonths(user, 14);
    const { cents, endsAt } = await steps.cancelOnNotice(user);
    const shuffle = { order: <E>(events: readonly E[]) => events.toReversed(), twice: true };
    await shop.stripe.webhooks.deliver(shuffle);
    shop.passTime(endsAt + minuteMs - now());
    await shop.stripe.webhooks.deliver(shuffle);
    await shop.membership.work();
    await shop.stripe.webhooks.deliver(shuffle);
    expect(await steps.notesOf(user)).toEqual([cents]);
    expect(await steps.mailsOf(user, 'plan-cancelled')).toHaveLength(1);
    expect(await steps.mailsOf(user, 'refund-made')).toHaveLength(1);
    expect((await shop.userNow(user)).planId).toBeNull();
  });
});

import type Stripe from 'stripe';
import { addMonths } from '../../server/shared/index.ts';
import { day, later, page, path, standing, withPlan } from '../account/membership-steps.ts';
import { anyBackend } from '../support/stores.ts';
import { wordsOf } from './checkout/shop.ts';
import { atStripe, charges, hourMs, openAct, pass, pauseFor, startPauseShop } from './pause-steps.ts';
import { cards, dayMs, from, type Shop, startShop } from './steps.ts';

describe('a pause of a paid plan', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startPauseShop();
  });
  afterAll(() => shop?.close());

  const planOf = async (user: Parameters<Shop['userNow']>[0]) => (await shop.userNow(user)).planId;
  const templates = async (user: { email: string }) =>
    (await shop.foyer.mails(user.email)).map(({ template }) => template);

  it('The page names the days and the amount before anything happens, and Stripe does exactly that', async () => {
    const { user, browser } = await withPlan(shop);
    const end = (await standing(shop, user)).periodEnd ?? 0;
    const resumesAt = addMonths(end, 2);
    expect(await page(browser)).toContain('Pause membership');
    const { html } = await openAct(browser, 'pause');
    const words = wordsOf(html);
    expect(words).toContain(`Until ${day(end)} you keep everything that your plan gives.`);
    expect(words).toContain('you have no plan, and nothing is charged');
    expect(words).toContain(`On ${day(resumesAt)} it resumes, and $99.00 is charged.`);
    expect(await pauseFor(browser, 2)).toBe(`${path}#membership:pause`);

    expect(await planOf(user)).toBe('10');
    expect((await standing(shop, user)).nextCharge).toMatchObject({ amountCents: 9_900, at: resumesAt });
    const shown = await page(browser);
    expect(shown).toContain(`Your pause begins on ${day(end)}`);
    expect(shown).toContain(`${day(resumesAt)} at $99.00`);
    expect(shown).not.toContain('Change plan');

    // Stripe pauses it an hour before its end: the member keeps what is paid.
    await pass(shop, end - hourMs / 2);
    expect(await atStripe(shop, user)).toMatchObject({ status: 'paused' });
    expect(await planOf(user)).toBe('10');
    await pass(shop, end + hourMs);
    expect(await planOf(user)).toBeNull();
    expect(await page(await shop.foyer.signedIn(user))).toContain(`Your membership is paused until ${day(resumesAt)}`);
    await pass(shop, resumesAt - hourMs);
    expect(await charges(shop, user)).toEqual([9_900]);
    expect(await planOf(user)).toBeNull();
    await pass(shop, resumesAt + hourMs);
    expect(await charges(shop, user)).toEqual([9_900, 9_900]);
    expect(await planOf(user)).toBe('10');
    expect(await standing(shop, user)).toMatchObject({
      status: 'active',
      pause: null,
      periodEnd: addMonths(resumesAt, 1),
    });
    expect((await atStripe(shop, user)).latest_invoice).toMatchObject({ amount_paid: 9_900 });
    expect((await templates(user)).filter((name) => name.startsWith('plan-'))).toEqual(['plan-pauses', 'plan-paused']);
    // It renews as before, a month later.
    await pass(shop, addMonths(resumesAt, 1) + 2 * dayMs);
    expect(await charges(shop, user)).toEqual([9_900, 9_900, 9_900]);
    expect((await atStripe(shop, user)).schedule).toBeNull();
    expect(await shop.membership.reconcile()).toMatchObject({ repaired: [], left: [] });
  });

  it('A pause is taken back before it begins, and the plan renews on its day', async () => {
    const { user, browser } = await withPlan(shop);
    const end = (await standing(shop, user)).periodEnd ?? 0;
    await pauseFor(browser, 1);
    const { html, fields } = await openAct(browser, 'resume');
    expect(wordsOf(html)).toContain(`The pause doesn’t happen. Starter continues and renews on ${day(end)} at $99.00.`);
    const answer = await browser.post(`${path}/resume`, fields);
    expect(answer.headers.get('location')).toBe(`${path}#membership:resumed`);
    expect(await standing(shop, user)).toMatchObject({ pause: null, status: 'active', nextCharge: { at: end } });
    await pass(shop, end + hourMs);
    expect(await charges(shop, user)).toEqual([9_900, 9_900]);
  });

  it('A pause that has begun is ended at once for the announced amount, and a whole period begins', async () => {
    const { user, browser } = await withPlan(shop);
    const end = (await standing(shop, user)).periodEnd ?? 0;
    await pauseFor(browser, 3);
    await pass(shop, end + 5 * dayMs);
    const again = await shop.foyer.signedIn(user);
    const { html, fields } = await openAct(again, 'resume');
    expect(wordsOf(html)).toContain('Starter resumes right away. $99.00 is charged today');
    expect(html).toMatch(/<button[^>]*>Pay \$99\.00</);
    const nowMs = shop.stripe.engine.nowMs();
    const answers = await Promise.all([again.post(`${path}/resume`, fields), again.post(`${path}/resume`, fields)]);
    expect(answers.map(({ headers }) => headers.get('location')).sort()).toEqual([
      `${path}#membership:nothing`,
      `${path}#membership:resumed`,
    ]);
    expect(await charges(shop, user)).toEqual([9_900, 9_900]);
    expect(await planOf(user)).toBe('10');
    const after = await standing(shop, user);
    expect(after.pause).toBeNull();
    expect(Math.abs((after.periodEnd ?? 0) - addMonths(nowMs, 1))).toBeLessThan(5_000);
    // The day on which the pause was to end charges nothing.
    await pass(shop, addMonths(end, 3) + dayMs);
    expect(await charges(shop, user)).toHaveLength(2 + 2);
  });

  it('A resumption without its announced amount, or with another one, charges nothing', async () => {
    const { user } = await withPlan(shop);
    await pauseFor(await shop.foyer.signedIn(user), 1);
    await pass(shop, ((await standing(shop, user)).periodEnd ?? 0) + dayMs);
    const again = await shop.foyer.signedIn(user);
    for (const laterCents of ['', '100']) {
      const refused = await again.post(`${path}/resume`, { laterCents });
      expect(refused.status).toBe(409);
    }
    expect(await charges(shop, user)).toEqual([9_900]);
    expect((await atStripe(shop, user)).status).toBe('paused');
  });

  it('A charge that fails at the end of a pause gives no plan; another card pays it and begins the period', async () => {
    const { user, browser } = await withPlan(shop);
    const end = (await standing(shop, user)).periodEnd ?? 0;
    await pauseFor(browser, 1);
    await shop.saveCard(user, cards.chargeDeclined);
    await pass(shop, addMonths(end, 1) + hourMs);
    expect(await planOf(user)).toBeNull();
    expect(await standing(shop, user)).toMatchObject({ status: 'paused', unpaid: { amountCents: 9_900 } });
    expect(await templates(user)).toContain('payment-failed');
    const words = await page(await shop.foyer.signedIn(user));
    expect(words).toContain('Pay $99.00 now');
    await shop.saveCard(user, cards.visa);
    expect(await shop.membership.payUnpaid(await shop.userNow(user), from)).toMatchObject({ kind: 'paid' });
    expect(await planOf(user)).toBe('10');
    expect(await charges(shop, user)).toEqual([9_900, 9_900]);
    expect(await standing(shop, user)).toMatchObject({ status: 'active', pause: null, unpaid: null });
  });

  it('A charge at the end of a pause that stays unpaid gives nothing, and ends the plan after the days of grace', async () => {
    const { user, browser } = await withPlan(shop);
    const resumesAt = addMonths((await standing(shop, user)).periodEnd ?? 0, 1);
    await pauseFor(browser, 1);
    await shop.saveCard(user, cards.chargeDeclined);
    for (const days of [1, 6]) {
      await pass(shop, resumesAt + days * dayMs);
      expect(await planOf(user)).toBeNull();
      expect((await standing(shop, user)).status).toBe('paused');
    }
    await pass(shop, resumesAt + 8 * dayMs);
    expect((await standing(shop, user)).status).toBe('canceled');
    expect(await charges(shop, user)).toEqual([9_900]);
    expect((await atStripe(shop, user)).latest_invoice).toMatchObject({ status: 'void' });
  });

  it('Cancelled before the pause begins, the plan ends with its period and nothing more is charged', async () => {
    const { user, browser } = await withPlan(shop);
    const end = (await standing(shop, user)).periodEnd ?? 0;
    await pauseFor(browser, 1);
    const { html, fields } = await openAct(browser, 'cancel');
    expect(wordsOf(html)).toContain('The pause doesn’t happen.');
    await browser.post(`${path}/cancel`, fields);
    expect(await standing(shop, user)).toMatchObject({ cancelAtPeriodEnd: true, pause: null, nextCharge: null });
    await pass(shop, addMonths(end, 2));
    expect((await standing(shop, user)).status).toBe('canceled');
    expect(await charges(shop, user)).toEqual([9_900]);
  });

  it('Cancelled in the pause, it ends at once and nothing is charged', async () => {
    const { user, browser } = await withPlan(shop);
    const end = (await standing(shop, user)).periodEnd ?? 0;
    await pauseFor(browser, 1);
    await pass(shop, end + dayMs);
    const again = await shop.foyer.signedIn(user);
    const { html, fields } = await openAct(again, 'cancel');
    expect(wordsOf(html)).toContain('It ends right away, because it’s paused.');
    await again.post(`${path}/cancel`, fields);
    await pass(shop, addMonths(end, 2));
    expect((await standing(shop, user)).status).toBe('canceled');
    expect(await charges(shop, user)).toEqual([9_900]);
    expect((await shop.membership.getMembership(user.id))?.balanceCents).toBe(0);
  });

  it('A code that ends during the pause is not in the announced amount, nor in the charge', async () => {
    const stripe = shop.stripe.client();
    const coupon = await stripe.coupons.create({
      id: 'HALF2',
      percent_off: 50,
      duration: 'repeating',
      duration_in_months: 2,
    });
    await stripe.promotionCodes.create({ promotion: { type: 'coupon', coupon: coupon.id }, code: 'HALFTWO' });
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    await shop.membership.choose(user, shop.plan('m-99'));
    await shop.membership.applyPromotion(user, 'HALFTWO', from);
    expect(await shop.buy(user, 'm-99')).toMatchObject({ kind: 'paid' });
    const browser = await shop.foyer.signedIn(user);
    const end = (await standing(shop, user)).periodEnd ?? 0;
    const words = wordsOf((await openAct(browser, 'pause')).html);
    expect(words).toContain(`On ${day(addMonths(end, 2))} it resumes, and $99.00 is charged.`);
    await pauseFor(browser, 2);
    await pass(shop, addMonths(end, 2) + hourMs);
    expect(await charges(shop, user)).toEqual([4_950, 9_900]);
  });

  it('While it is paused the JSON API and the claims have no plan, and calls that buy are answered 409', async () => {
    const { user } = await withPlan(shop);
    await pauseFor(await shop.foyer.signedIn(user), 1);
    await pass(shop, ((await standing(shop, user)).periodEnd ?? 0) + dayMs);
    expect((await shop.userNow(user)).planId).toBeNull();
    expect(await shop.buy(user, 'm-499').catch((error: Error) => error.message)).toMatch(/paused/);
    expect(await shop.membership.confirm(user, { planId: shop.plan('m-499').id, dueCents: 49_900 }, from)).toEqual(
      expect.objectContaining({ kind: 'paused' }),
    );
    expect(await charges(shop, user)).toEqual([9_900]);
  });

  it('Attack: an upgrade that was opened before the pause charges nothing after it, in neither order', async () => {
    const { user, browser } = await withPlan(shop);
    const plan = shop.plan('m-499');
    await shop.membership.choose(user, plan);
    const { dueCents } = await shop.membership.quote(user, plan, null);
    const { fields } = await openAct(browser, 'pause');
    await pauseFor(browser, 1);
    expect(await shop.membership.confirm(user, { planId: plan.id, dueCents }, from)).toMatchObject({ kind: 'paused' });
    expect((await browser.get('/plan-purchase')).headers.get('location')).toBe(path);
    await browser.post(`${path}/resume`, (await openAct(browser, 'resume')).fields);
    expect(await shop.membership.confirm(user, { planId: plan.id, dueCents }, from)).toMatchObject({ kind: 'paid' });
    // The days and the amount of the pause's page are those of the plan before.
    const late = await browser.post(`${path}/pause`, { ...fields, months: '1' });
    expect(late.status).toBe(409);
    expect((await atStripe(shop, user)).schedule).toBeNull();
  });

  it('Attack: a pause that is asked for twice, or with days or amounts of the member’s own, is one pause', async () => {
    const { user, browser } = await withPlan(shop);
    const { fields } = await openAct(browser, 'pause');
    const wrong = { months: '1', 'announced-1': (fields['announced-1'] ?? '').replace(/9900$/, '100') };
    expect((await browser.post(`${path}/pause`, wrong)).status).toBe(409);
    expect((await browser.post(`${path}/pause`, { ...fields, months: '9' })).status).toBe(409);
    expect((await browser.post(`${path}/pause`, { ...fields, months: '-1' })).status).toBe(422);
    expect((await atStripe(shop, user)).schedule).toBeNull();
    const form = { ...fields, months: '1' };
    const answers = await Promise.all([browser.post(`${path}/pause`, form), browser.post(`${path}/pause`, form)]);
    expect(answers.map(({ headers }) => headers.get('location')).sort()).toEqual([
      `${path}#membership:nothing`,
      `${path}#membership:pause`,
    ]);
    const schedule = (await atStripe(shop, user)).schedule as Stripe.SubscriptionSchedule;
    expect(schedule.pause_schedules).toHaveLength(1);
  });

  it('Attack: pausing again and again gives no time that is not paid', async () => {
    const { user } = await withPlan(shop);
    for (let times = 0; times < 3; times += 1) {
      const end = (await standing(shop, user)).periodEnd ?? 0;
      await pauseFor(await shop.foyer.signedIn(user), 1);
      await pass(shop, end + dayMs);
      const browser = await shop.foyer.signedIn(user);
      expect(await planOf(user)).toBeNull();
      // In a pause there is no further one.
      expect(await pauseFor(browser, 3)).toBe(`${path}#membership:nothing`);
      await browser.post(`${path}/resume`, (await openAct(browser, 'resume')).fields);
      expect(await charges(shop, user)).toHaveLength(2 + times);
    }
  });

  it('No pause is offered to a member with an unpaid renewal, a change to come, a trial or a cancellation', async () => {
    const { user, browser } = await withPlan(shop);
    await browser.post(`${path}/cancel`);
    expect(await pauseFor(browser, 1)).toBe(`${path}#membership:nothing`);
    await browser.post(`${path}/resume`);
    await shop.buy(user, 'm-899');
    await shop.buy(user, 'm-99');
    expect(await pauseFor(browser, 1)).toBe(`${path}#membership:nothing`);
    await browser.post(`${path}/resume`);
    const { card } = await standing(shop, user);
    shop.stripe.engine.setCardBehaviour(card?.paymentMethodId ?? '', cards.chargeDeclined);
    await later(shop, 32 * dayMs);
    expect((await standing(shop, user)).unpaid).not.toBeNull();
    const again = await shop.foyer.signedIn(user);
    expect(await pauseFor(again, 1)).toBe(`${path}#membership:nothing`);
    expect(await page(again)).not.toContain('Pause membership');
  });
});

it('Without the setting there is no pause, and its page leads back', async () => {
  const shop = await startShop(anyBackend);
  const { browser } = await withPlan(shop);
  expect(await page(browser)).not.toContain('Pause membership');
  expect(await pauseFor(browser, 1)).toBe(`${path}#membership:nothing`);
  await shop.close();
});

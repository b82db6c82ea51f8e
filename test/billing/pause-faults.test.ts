import { listOrders } from '../../server/billing/index.ts';
import { addMonths } from '../../server/shared/index.ts';
import { later, page, path, standing, withPlan } from '../account/membership-steps.ts';
import { wordsOf } from './checkout/shop.ts';
import {
  atStripe,
  charges,
  failing,
  hourMs,
  isWrite,
  faultKinds as kinds,
  openAct,
  pass,
  pauseFor,
  startPauseShop,
} from './pause-steps.ts';
import { dayMs, type Shop } from './steps.ts';

const minuteMs = 60_000;

/** A pause and its end are the same after every fault at every request, or nothing has happened. */
describe('pauses while Stripe fails', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await startPauseShop();
  });
  afterAll(() => shop?.close());

  const faults = kinds.flatMap((kind) => [1, 2, 3, 4].map((nth) => [kind, nth] as const));

  it('A pause that has just begun ends the plan for its time also when Foyer comes back weeks later', async () => {
    const { user, browser } = await withPlan(shop);
    const end = (await standing(shop, user)).periodEnd ?? 0;
    await pauseFor(browser, 2);
    // It begins a little before the end of what is paid.
    await pass(shop, end - hourMs + 5 * minuteMs);
    expect(await standing(shop, user)).toMatchObject({ status: 'paused' });
    expect((await shop.userNow(user)).planId).toBe('10');
    shop.passTime(20 * dayMs);
    await shop.membership.work();
    expect((await shop.userNow(user)).planId).toBeNull();
  });

  it.each(faults)(
    'A pause with %s at request %i is scheduled within minutes, or the page says that nothing happened',
    async (kind, nth) => {
      const { user, browser } = await withPlan(shop);
      const end = (await standing(shop, user)).periodEnd ?? 0;
      const { fields } = await openAct(browser, 'pause');
      let location: string | null = null;
      await failing(shop, { kind, nth }, async () => {
        location = (await browser.post(`${path}/pause`, { ...fields, months: '1' })).headers.get('location');
      });
      expect([`${path}#membership:pause`, `${path}#membership:pause-noted`]).toContain(location);
      if (location === `${path}#membership:pause-noted`) {
        expect(await page(browser)).toContain('Your pause is noted. It’s passed on as soon as');
        // Between its calls the plan renews as before.
        expect((await atStripe(shop, user)).cancel_at).toBeNull();
      }
      await later(shop, 5 * minuteMs);
      await shop.membership.work();
      expect(await standing(shop, user)).toMatchObject({ pause: { resumesAt: addMonths(end, 1) } });
      await pass(shop, end + dayMs);
      expect((await shop.userNow(user)).planId).toBeNull();
      expect(await charges(shop, user)).toEqual([9_900]);
    },
  );

  it.each(kinds)('A pause that is ended with %s is charged once', async (kind) => {
    const { user, browser } = await withPlan(shop);
    await pauseFor(browser, 1);
    await pass(shop, ((await standing(shop, user)).periodEnd ?? 0) + dayMs);
    const again = await shop.foyer.signedIn(user);
    const { fields } = await openAct(again, 'resume');
    await failing(shop, { kind, nth: 1 }, async () => {
      const answer = await again.post(`${path}/resume`, fields);
      // Lost, it has happened: the page of the membership shows it.
      if (kind === 'lost') expect(wordsOf(await answer.text())).toContain('Renews on');
      else expect(answer.status).toBe(503);
    });
    await later(shop, minuteMs);
    const answer = await again.post(`${path}/resume`, fields);
    expect(answer.headers.get('location')).toBe(`${path}#membership:${kind === 'lost' ? 'nothing' : 'resumed'}`);
    expect(await charges(shop, user)).toEqual([9_900, 9_900]);
    expect((await shop.userNow(user)).planId).toBe('10');
  });

  it.each(kinds)('A pause that is taken back with %s does not happen', async (kind) => {
    const { user, browser } = await withPlan(shop);
    const end = (await standing(shop, user)).periodEnd ?? 0;
    await pauseFor(browser, 1);
    const { fields } = await openAct(browser, 'resume');
    await failing(shop, { kind, nth: 1 }, () => browser.post(`${path}/resume`, fields));
    await later(shop, 2 * minuteMs);
    await shop.membership.work();
    expect(await standing(shop, user)).toMatchObject({ pause: null, nextCharge: { at: end } });
    await pass(shop, end + hourMs);
    expect(await charges(shop, user)).toEqual([9_900, 9_900]);
  });

  it('While Stripe is away no pause is accepted, because its amounts cannot be compared', async () => {
    const { user, browser } = await withPlan(shop);
    const { fields } = await openAct(browser, 'pause');
    let isAway = true;
    for (let tries = 0; tries < 60; tries += 1) shop.stripe.fault('unreachable', () => isAway);
    expect((await browser.get(`${path}/pause`)).headers.get('location')).toBe(path);
    const answer = await browser.post(`${path}/pause`, { ...fields, months: '1' });
    expect(wordsOf(await answer.text())).toContain('What you see here may not be quite up to date.');
    isAway = false;
    await shop.membership.work();
    expect((await standing(shop, user)).pause).toBeNull();
  });

  it('A pause that waits for Stripe until the plan has renewed does not happen, and a mail says so', async () => {
    const { user, browser } = await withPlan(shop);
    const end = (await standing(shop, user)).periodEnd ?? 0;
    const { fields } = await openAct(browser, 'pause');
    let isAway = true;
    for (let tries = 0; tries < 200; tries += 1)
      shop.stripe.fault('error', (method, at) => isAway && isWrite(method, at));
    await browser.post(`${path}/pause`, { ...fields, months: '1' });
    shop.passTime(end + dayMs - shop.stripe.engine.nowMs());
    isAway = false;
    await shop.membership.work();
    expect((await standing(shop, user)).pause).toBeNull();
    const told = (await shop.foyer.mails(user.email)).map(({ template }) => template);
    expect(told).toContain('plan-not-paused');
    await pass(shop, end + 3 * dayMs);
    expect(await charges(shop, user)).toEqual([9_900, 9_900]);
    expect((await shop.userNow(user)).planId).toBe('10');
  });

  it('Attack: a member cannot end a pause that an operator has made', async () => {
    const { user, browser } = await withPlan(shop);
    const { subscriptionId } = await standing(shop, user);
    shop.stripe.engine.pause(subscriptionId ?? '', 'pause_requested');
    await shop.membership.refresh(user.id);
    expect(await page(browser)).not.toContain('End the pause now');
    const answer = await browser.post(`${path}/resume`, { laterCents: '9900' });
    expect(answer.headers.get('location')).toBe(`${path}#membership:nothing`);
    expect((await atStripe(shop, user)).status).toBe('paused');
  });

  it('A customer who is deleted at Stripe with a pause has none any more, and is never charged again', async () => {
    const { user, browser } = await withPlan(shop);
    const end = (await standing(shop, user)).periodEnd ?? 0;
    await pauseFor(browser, 1);
    const { customerId } = await standing(shop, user);
    await shop.stripe.client().customers.del(customerId ?? '');
    await shop.membership.refresh(user.id);
    expect(await standing(shop, user)).toMatchObject({ pause: null, status: 'none' });
    await pass(shop, addMonths(end, 1) + dayMs);
    expect(await charges(shop, user)).toEqual([9_900]);
  });

  it('A deletion of the account ends a plan whose pause is to come or has begun, without a charge', async () => {
    for (const days of [-10, 5]) {
      const { user, browser } = await withPlan(shop);
      const { customerId, periodEnd } = await standing(shop, user);
      const end = periodEnd ?? 0;
      await pauseFor(browser, 1);
      await pass(shop, end + days * dayMs);
      const again = await shop.foyer.signedIn(user);
      const answer = await again.post('/settings/delete-account', { confirm: '1', membership: 'period-end' });
      expect(answer.status).toBe(303);
      await pass(shop, addMonths(end, 2));
      // The account may be erased by now: its orders stay, without the member.
      const { db } = shop.foyer.deps.database;
      const orders = await db.selectFrom('orders').select('paidCents').where('customerId', '=', customerId).execute();
      expect(orders).toEqual([{ paidCents: 9_900 }]);
    }
  });

  it('A cancellation before the pause drops it for good: resumed, the plan renews on its day', async () => {
    const { user, browser } = await withPlan(shop);
    const end = (await standing(shop, user)).periodEnd ?? 0;
    await pauseFor(browser, 1);
    await browser.post(`${path}/cancel`, (await openAct(browser, 'cancel')).fields);
    await browser.post(`${path}/resume`, (await openAct(browser, 'resume')).fields);
    expect(await standing(shop, user)).toMatchObject({ pause: null, nextCharge: { at: end } });
    await pass(shop, end + hourMs);
    expect(await charges(shop, user)).toEqual([9_900, 9_900]);
  });

  it.each([-5, 5])(
    'A dispute ends a plan whose pause begins in %i days or has begun, without a charge',
    async (days) => {
      const { user, browser } = await withPlan(shop);
      const end = (await standing(shop, user)).periodEnd ?? 0;
      await pauseFor(browser, 1);
      await pass(shop, end + days * dayMs);
      const [order] = await listOrders(shop.foyer.deps.database.db, user.id);
      shop.stripe.engine.dispute(order?.invoiceId ?? '');
      await later(shop, minuteMs);
      await shop.membership.work();
      expect((await standing(shop, user)).pause).toBeNull();
      await pass(shop, addMonths(end, 1) + dayMs);
      expect((await standing(shop, user)).status).toBe('canceled');
      expect(await charges(shop, user)).toEqual([9_900]);
    },
  );
});

it('A withdrawal from a purchase gives everything back before a pause and in it, and ends the plan', async () => {
  const shop = await startPauseShop({}, { consumers: { withdrawalDays: 60 } });
  for (const days of [-5, 5]) {
    const { user, browser } = await withPlan(shop);
    const end = (await standing(shop, user)).periodEnd ?? 0;
    await pauseFor(browser, 1);
    await pass(shop, end + days * dayMs);
    expect(await shop.membership.withdraw(await shop.userNow(user))).toBe('withdrawn');
    await pass(shop, addMonths(end, 1) + dayMs);
    expect((await standing(shop, user)).status).toBe('canceled');
    const [order, ...more] = await listOrders(shop.foyer.deps.database.db, user.id);
    expect([order?.refundedCents, more]).toEqual([9_900, []]);
  }
  await shop.close();
});

it('A plan that is cancelled with a refund gives the unused time back before a pause, and nothing in it', async () => {
  const shop = await startPauseShop({}, { cancel: 'prorated' });
  for (const days of [-15, 5]) {
    const { user, browser } = await withPlan(shop);
    const end = (await standing(shop, user)).periodEnd ?? 0;
    await pauseFor(browser, 1);
    await pass(shop, end + days * dayMs);
    const again = await shop.foyer.signedIn(user);
    const { html, fields } = await openAct(again, 'cancel');
    expect(wordsOf(html).includes('It ends right away, because it’s paused.')).toBe(days > 0);
    await again.post(`${path}/cancel`, fields);
    expect((await standing(shop, user)).status).toBe('canceled');
    const [order] = await listOrders(shop.foyer.deps.database.db, user.id);
    if (days < 0) expect(order?.refundedCents).toBeGreaterThan(4_000);
    else expect(order?.refundedCents).toBe(0);
    await pass(shop, addMonths(end, 1) + dayMs);
    expect(await charges(shop, user)).toEqual([9_900]);
  }
  await shop.close();
});

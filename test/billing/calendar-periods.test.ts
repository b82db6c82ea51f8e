import { shippedPlansFile } from '../../config/plans.ts';
import { listOrders } from '../../server/billing/index.ts';
import { languages } from '../../server/http/index.ts';
import type { User } from '../../server/users/index.ts';
import { page } from '../account/membership-steps.ts';
import { plansByDays } from '../support/plans.ts';
import { anyBackend } from '../support/stores.ts';
import { dayMs, from, type Shop, startShop } from './steps.ts';

let shop: Shop;
const open = async (plansFile: string) => {
  shop = await startShop(anyBackend, { PLANS_FILE: plansFile });
  shop.stripe.tell(shop.foyer.url);
};
const atStart = async () => open(shippedPlansFile);
afterEach(() => shop?.close());

const nowMs = () => shop.stripe.engine.nowMs();
const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** Lets time pass until noon of the next such day; the month counts from 1. */
function waitFor(isDay: (date: Date) => boolean): void {
  const now = nowMs();
  let at = Math.floor(now / dayMs) * dayMs + dayMs / 2;
  while (at <= now || !isDay(new Date(at))) at += dayMs;
  shop.passTime(at - now);
}

const member = async () => {
  const user = await shop.foyer.addUser();
  await shop.membership.ensure(user, 7);
  await shop.saveCard(user);
  return user;
};

async function buy(user: User, code: string): Promise<void> {
  const bought = await shop.buy(user, code);
  if (bought.kind !== 'paid') throw new Error(`not bought: ${bought.kind}`);
}

/** Lets the plan renew. @returns the days of the charges, the first first */
async function renew(user: User, times: number): Promise<string[]> {
  for (let count = 0; count < times; count += 1) {
    const membership = await shop.membership.refresh(user.id);
    shop.passTime((membership?.periodEnd ?? 0) - nowMs() + 60 * 60_000);
    await shop.stripe.webhooks.idle();
  }
  return (await ordersOf(user)).map(({ orderedAt }) => day(orderedAt));
}

const ordersOf = async (user: User) => (await listOrders(shop.foyer.deps.database.db, user.id)).toReversed();

describe('plans by the calendar', () => {
  beforeEach(atStart);

  it('A plan by the month is charged twelve times a year, and each charge is on the announced day', async () => {
    const user = await member();
    const begin = new Date(nowMs());
    await buy(user, 'm-99');
    await renew(user, 11);
    const orders = await ordersOf(user);
    expect(orders.map(({ paidCents }) => paidCents)).toEqual(Array.from({ length: 12 }, () => 9_900));
    // Each order announced the day of the next one.
    expect(orders.slice(1).map(({ orderedAt }) => day(orderedAt))).toEqual(
      orders.slice(0, -1).map(({ renewsAt }) => day(renewsAt ?? 0)),
    );
    const yearLater = Date.UTC(begin.getUTCFullYear() + 1, begin.getUTCMonth(), begin.getUTCDate());
    expect(orders.at(-1)?.orderedAt).toBeLessThan(yearLater);
    expect(orders.map(({ validityDays }) => validityDays)).toEqual(orders.map(() => 30));
  });

  it('A plan that begins on 31 January renews on the last day of February and on 31 March', async () => {
    waitFor((date) => date.getUTCMonth() === 0 && date.getUTCDate() === 31 && date.getUTCFullYear() % 4 !== 0);
    const year = new Date(nowMs()).getUTCFullYear();
    const user = await member();
    await buy(user, 'm-99');
    expect(await renew(user, 3)).toEqual([`${year}-01-31`, `${year}-02-28`, `${year}-03-31`, `${year}-04-30`]);
  });

  it('A cheaper plan that follows one from 31 January begins on the last day of February and renews on 31 March', async () => {
    waitFor((date) => date.getUTCMonth() === 0 && date.getUTCDate() === 31 && date.getUTCFullYear() % 4 !== 0);
    const year = new Date(nowMs()).getUTCFullYear();
    const user = await member();
    for (const code of ['m-499', 'm-99']) await shop.buy(user, code);
    expect(await renew(user, 3)).toEqual([`${year}-01-31`, `${year}-02-28`, `${year}-03-31`, `${year}-04-30`]);
    expect((await ordersOf(user)).map(({ paidCents }) => paidCents)).toEqual([49_900, 9_900, 9_900, 9_900]);
  });

  it('A cheaper plan that was scheduled and has begun in February ends on 31 March when it is cancelled', async () => {
    waitFor((date) => date.getUTCMonth() === 0 && date.getUTCDate() === 31 && date.getUTCFullYear() % 4 !== 0);
    const year = new Date(nowMs()).getUTCFullYear();
    const user = await member();
    for (const code of ['m-499', 'm-99']) await shop.buy(user, code);
    await renew(user, 1);
    expect(await shop.membership.cancel(user)).toBe('cancelled');
    expect(day((await shop.membership.refresh(user.id))?.periodEnd ?? 0)).toBe(`${year}-03-31`);
    expect(await renew(user, 1)).toEqual([`${year}-01-31`, `${year}-02-28`]);
  });

  it('A plan by the month that follows one by the year has whole months from the day of the change', async () => {
    const user = await member();
    for (const code of ['y-5000', 'm-99']) await shop.buy(user, code);
    const { periodEnd } = (await shop.membership.refresh(user.id)) ?? {};
    await renew(user, 3);
    const [, first, second, third] = (await ordersOf(user)).map(({ orderedAt }) => new Date(orderedAt));
    expect(day(first?.getTime() ?? 0)).toBe(day(periodEnd ?? 0));
    for (const [one, next] of [
      [first, second],
      [second, third],
    ]) {
      const days = ((next?.getTime() ?? 0) - (one?.getTime() ?? 0)) / dayMs;
      expect(Math.round(days)).toBeGreaterThanOrEqual(28);
      expect(Math.round(days)).toBeLessThanOrEqual(31);
    }
  });

  it('A plan that begins on 31 January of a leap year renews on 29 February', async () => {
    waitFor((date) => date.getUTCMonth() === 0 && date.getUTCDate() === 31 && date.getUTCFullYear() % 4 === 0);
    const year = new Date(nowMs()).getUTCFullYear();
    const user = await member();
    await buy(user, 'm-99');
    expect(await renew(user, 2)).toEqual([`${year}-01-31`, `${year}-02-29`, `${year}-03-31`]);
  });

  it('A plan by the year that begins on 29 February renews on 28 February', async () => {
    waitFor((date) => date.getUTCMonth() === 1 && date.getUTCDate() === 29);
    const year = new Date(nowMs()).getUTCFullYear();
    const user = await member();
    await buy(user, 'y-900');
    expect(await renew(user, 1)).toEqual([`${year}-02-29`, `${year + 1}-02-28`]);
    expect((await ordersOf(user)).map(({ validityDays, paidCents }) => [validityDays, paidCents])).toEqual([
      [365, 90_000],
      [365, 90_000],
    ]);
  });

  it('A code of 50 % for three months takes half off three payments', async () => {
    const { engine } = shop.stripe;
    const percent = { id: 'HALF3', percent_off: 50, duration: 'repeating', duration_in_months: 3 };
    engine.call({ method: 'POST', path: '/v1/coupons', params: percent });
    const promotion = { type: 'coupon', coupon: 'HALF3' };
    engine.call({ method: 'POST', path: '/v1/promotion_codes', params: { code: 'HALF', promotion } });
    const user = await member();
    await shop.membership.choose(user, shop.plan('m-99'));
    expect(await shop.membership.applyPromotion(user, 'HALF', from)).toMatchObject({ kind: 'applied' });
    const open = await shop.membership.purchase(user.id);
    if (!open) throw new Error('nothing was chosen');
    const { dueCents } = await shop.membership.quote(user, open.plan, open.promotion);
    await shop.membership.confirm(user, { planId: open.plan.id, dueCents }, from);
    await renew(user, 4);
    expect((await ordersOf(user)).map(({ paidCents }) => paidCents)).toEqual([4_950, 4_950, 4_950, 9_900, 9_900]);
  });
});

const words = {
  calendar: {
    en: ['Starter, monthly', 'a month', 'a year'],
    de: ['Starter, monatlich', 'im Monat', 'im Jahr'],
    fr: ['Starter, mensuelle', 'par mois', 'par an'],
    nl: ['Starter, maandelijks', 'per maand', 'per jaar'],
  },
  days: {
    en: ['Starter, every 30 days', 'every 30 days', 'every 365 days'],
    de: ['Starter, alle 30 Tage', 'alle 30 Tage', 'alle 365 Tage'],
    fr: ['Starter, tous les 30 jours', 'tous les 30 jours', 'tous les 365 jours'],
    nl: ['Starter, elke 30 dagen', 'elke 30 dagen', 'elke 365 dagen'],
  },
} as const;

describe('the words for a period', () => {
  it.each([
    { periods: 'calendar', file: () => shippedPlansFile, recurs: ['1 month', '1 year'] },
    { periods: 'days', file: plansByDays, recurs: ['30 day', '365 day'] },
  ] as const)(
    'Pages name the period of the price at Stripe in every language ($periods)',
    async ({ periods, file, recurs }) => {
      await open(file());
      const prices = await shop.stripe.client().prices.list({ lookup_keys: ['m-99', 'y-900'] });
      const intervals = prices.data.map(({ recurring }) => `${recurring?.interval_count} ${recurring?.interval}`);
      expect(intervals.toSorted()).toEqual([...recurs].toSorted());
      for (const lang of languages) {
        const { id } = await member();
        await shop.foyer.deps.database.db.updateTable('users').set({ locale: lang }).where('id', '=', id).execute();
        const user = await shop.userNow({ id } as User);
        await buy(user, 'm-99');
        const browser = await shop.foyer.signedIn(user);
        const [line, month, year] = words[periods][lang];
        expect(await page(browser)).toContain(line);
        expect(await page(browser)).toContain(month);
        expect(await page(browser, '/plan-purchase?type=2')).toContain(year);
        expect(await page(browser, '/plan-purchase/14')).toContain(month);
      }
    },
  );
});

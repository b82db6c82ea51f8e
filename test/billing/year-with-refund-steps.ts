import { diffWithStripe, listOrders } from '../../server/billing/index.ts';
import type { User } from '../../server/users/index.ts';
import type { Browser } from '../support/browser.ts';
import { wordsOf } from './checkout/shop.ts';
import { enter } from './details-steps.ts';
import { dayMs, type Shop } from './steps.ts';

export const cancelPath = '/settings/membership/cancel';
export const yearWithRefund = { withdrawalDays: 14, afterYear: 'year-with-refund' as const };

/** The hidden fields of the form that cancels. */
export function fieldsIn(html: string): Record<string, string> {
  const form = /<form class="(?:form|actions even)".*?<\/form>/s.exec(html)?.[0] ?? '';
  const fields = [...form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
  return Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value]));
}

/** The same day and time of another month, in UTC; the last day of a shorter one. */
export function monthsAfter(ms: number, months: number): number {
  const [from, to] = [new Date(ms), new Date(ms)];
  to.setUTCMonth(from.getUTCMonth() + months);
  if (to.getUTCDate() !== from.getUTCDate()) to.setUTCDate(0);
  return to.getTime();
}

export const cents = (amount: string | undefined) => Math.round(Number(amount?.replace(',', '')) * 100);

export interface Announced {
  words: string;
  /** The text of the day. */
  day: string | undefined;
  /** To the card; NaN: none is named. */
  cents: number;
  fields: Record<string, string>;
}

export function announcedIn(html: string): Announced {
  const words = wordsOf(html);
  return {
    words,
    day: / ends on (\w+ \d+, \d{4}), one month from now\./.exec(words)?.[1],
    cents: cents(/Then we give \$([\d,.]+) back to your card/.exec(words)?.[1]),
    fields: fieldsIn(html),
  };
}

export const toDay = (ms: number) => new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' }).format(ms);

/** Members of a shop that sells years, and what Stripe has of them. */
export function createSteps(shop: Shop) {
  const stripe = shop.stripe.client();
  const stored = async ({ id }: User) => {
    const membership = await shop.membership.getMembership(id);
    if (!membership) throw new Error('there is no membership');
    return membership;
  };
  const customerOf = async (user: User) => (await stored(user)).customerId ?? '';
  return {
    stripe,
    stored,
    customerOf,
    async passMonths(user: User, months: number): Promise<void> {
      const until = monthsAfter(shop.stripe.engine.nowMs(), months);
      while (shop.stripe.engine.nowMs() < until) {
        shop.passTime(Math.min(30 * dayMs, until - shop.stripe.engine.nowMs()));
        await shop.membership.work();
        await shop.membership.refresh(user.id);
      }
      // Only later events are delivered.
      shop.stripe.webhooks.drop();
    },
    async passTo(user: User, ms: number): Promise<void> {
      shop.passTime(Math.max(0, ms - shop.stripe.engine.nowMs()));
      await shop.membership.work();
      await shop.membership.refresh(user.id);
    },
    /** A member with a year, and the code of its purchase. */
    async buyer(code = 'y-900', promo?: string): Promise<User> {
      const user = await shop.foyer.addUser();
      await shop.saveCard(user);
      await enter(await shop.foyer.signedIn(user), {});
      if (promo) {
        await shop.membership.choose(user, shop.plan(code));
        await shop.membership.applyPromotion(user, promo, { ip: '203.0.113.7' });
        const { promotion = null } = (await shop.membership.purchase(user.id)) ?? {};
        const { dueCents } = await shop.membership.quote(user, shop.plan(code), promotion);
        const bought = await shop.membership.confirm(user, { planId: shop.plan(code).id, dueCents }, { ip: '::1' });
        expect(bought).toMatchObject({ kind: 'paid' });
      } else expect(await shop.buy(user, code)).toMatchObject({ kind: 'paid' });
      return user;
    },
    browser: (user: User) => shop.foyer.signedIn(user),
    wordsAt: async (user: User, at: string) => wordsOf(await (await (await shop.foyer.signedIn(user)).get(at)).text()),
    /** The differences from Stripe that are left. */
    left: async ({ id }: User) =>
      (await diffWithStripe(shop.membership.deps, { pauseMs: 0 })).left.filter(({ userId }) => userId === id),
    /** The part of the last paid year that is after an end, by the invoice at Stripe. */
    async unusedPart(user: User, endsAt: number): Promise<number> {
      const [invoice] = (await stripe.invoices.list({ customer: await customerOf(user) })).data;
      const { start = 0, end = 0 } = invoice?.lines.data[0]?.period ?? {};
      return Math.round(((invoice?.amount_paid ?? 0) * (end - endsAt / 1_000)) / (end - start));
    },
    /** Cancels as the page says. */
    async cancelOnNotice(user: User): Promise<Announced & { endsAt: number }> {
      const browser = await shop.foyer.signedIn(user);
      const found = announcedIn(await (await browser.get(cancelPath)).text());
      const answer = await browser.post(cancelPath, found.fields);
      expect(answer.headers.get('location')).toContain('cancelled-on-notice');
      return { ...found, endsAt: Number(found.fields.endsAt) };
    },
    async announced(browser: Browser): Promise<Announced> {
      return announcedIn(await (await browser.get(cancelPath)).text());
    },
    notesOf: async (user: User) =>
      (await stripe.creditNotes.list({ customer: await customerOf(user) })).data.map(({ total }) => total),
    ordersOf: async ({ id }: User) => (await listOrders(shop.foyer.deps.database.db, id)).toReversed(),
    invoicesOf: async (user: User) => (await stripe.invoices.list({ customer: await customerOf(user) })).data,
    async subscriptionOf(user: User) {
      return (await stripe.subscriptions.list({ customer: await customerOf(user), status: 'all' })).data[0];
    },
    mailsOf: async (user: User, template: string) =>
      (await shop.foyer.mails(user.email)).filter((mail) => mail.template === template),
  };
}

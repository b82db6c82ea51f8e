import { listOrders } from '../../server/billing/index.ts';
import type { User } from '../../server/users/index.ts';
import { wordsOf } from '../billing/checkout/shop.ts';
import { dayMs, manyCards, type Shop, startShop } from '../billing/steps.ts';
import { cents, fieldsIn } from '../billing/year-with-refund-steps.ts';
import type { Browser } from '../support/browser.ts';
import { plansWith } from '../support/plans.ts';
import { anyBackend } from '../support/stores.ts';

const minuteMs = 60_000;

/** A page that ends a plan, as the member sees it. */
interface ProratedPage {
  words: string;
  /** To the card; NaN: none is named. */
  cents: number;
  /** The hidden fields of its form. */
  fields: Record<string, string>;
}

/** Members of a shop in which cancelling gives the unused time back, and what Stripe has given back. */
export function setUpProrated() {
  let started: Shop | undefined;
  beforeAll(async () => {
    started = await startShop(anyBackend, {
      ...manyCards,
      PLANS_FILE: plansWith({ periods: 'days', cancel: 'prorated' }),
    });
  });
  afterAll(() => started?.close());
  const shop = () => {
    if (!started) throw new Error('the shop has not been started');
    return started;
  };
  const customerOf = async ({ id }: User) => (await shop().membership.getMembership(id))?.customerId ?? '';
  const notesOf = async (customer: string) =>
    (await shop().stripe.client().creditNotes.list({ customer })).data.map(({ total }) => total);
  return {
    get shop() {
      return shop();
    },
    customerOf,
    notesOf,
    refundsOf: async (user: User) => notesOf(await customerOf(user)),
    orders: ({ id }: User) => listOrders(shop().foyer.deps.database.db, id),
    /** @param days that have passed since the last purchase */
    async buyer(codes: string[], days = 0): Promise<{ user: User; browser: Browser }> {
      const user = await shop().foyer.addUser();
      await shop().saveCard(user);
      for (const code of codes) expect(await shop().buy(user, code)).toMatchObject({ kind: 'paid' });
      if (days > 0) shop().passTime(days * dayMs);
      return { user, browser: await shop().foyer.signedIn(user) };
    },
    async announcedAt(browser: Browser, path: string): Promise<ProratedPage> {
      const html = await (await browser.get(path)).text();
      const words = wordsOf(html);
      const amount = /We give \$([\d,.]+) back to your card/.exec(words)?.[1];
      return { words, cents: cents(amount), fields: fieldsIn(html) };
    },
    /** The minute job, every two minutes. */
    async work(times: number): Promise<void> {
      for (let minute = 0; minute < times; minute += 1) {
        shop().passTime(2 * minuteMs);
        await shop().membership.work();
      }
    },
  };
}

import type { Page } from 'playwright-core';
import { addBillingTask } from '../../server/billing/jobs/task-store.ts';
import type { User } from '../../server/users/index.ts';
import type { Shop } from '../billing/checkout/shop.ts';
import type { Browser } from '../support/browser.ts';
import { andLoad } from './steps.ts';
import type { Stop } from './tour.ts';

/** What the stops of a Foyer that sells plans need. */
export interface ShopTour {
  shop(): Promise<Shop>;
  become(page: Page, browser: Browser, url: string): Promise<void>;
}

const path = '/settings/membership';
const dayMs = 24 * 60 * 60_000;

/** The member has saved a card and bought the plan. */
export const buy =
  (code: string) =>
  async (user: User, { foyer, saveCard }: Shop): Promise<void> => {
    const { membership } = foyer.app;
    const plan = membership.catalogue.byCode(code);
    if (!plan) throw new Error(`no plan ${code}`);
    await saveCard(user);
    await membership.choose(user, plan);
    const { dueCents } = await membership.quote(user, plan, null);
    const bought = await membership.confirm(user, { planId: plan.id, dueCents }, { ip: '127.0.0.1' });
    if (bought.kind !== 'paid' && bought.kind !== 'scheduled') throw new Error(`not bought: ${bought.kind}`);
  };

/** The page of the membership in its states, its acts, and what becomes of a plan when its member leaves. */
export function membershipStops({ shop, become }: ShopTour): Stop[] {
  const names = { givenName: 'Vera', familyName: 'Lindqvist' };
  const visit = (at: string, prepare: (user: User, shop: Shop) => Promise<unknown>) => async (page: Page) => {
    const house = await shop();
    const user = await house.foyer.addUser(names);
    await prepare(user, house);
    await become(page, await house.foyer.signedIn(user), house.foyer.url);
    await page.goto(house.foyer.url + at);
  };
  /** Stripe has told of it: the clock of all the others stays where it is. */
  const unpaid =
    (why: string, more: { withoutGrace?: true } = {}) =>
    async (user: User, house: Shop) => {
      await buy('m-99')(user, house);
      const { database, now } = house.foyer.deps;
      const invoice = {
        invoiceId: 'in_1',
        amountCents: 9_900,
        why,
        attempts: 1,
        nextAttemptAt: now() + 3 * dayMs,
        ...more,
      };
      await database.db
        .updateTable('memberships')
        .set({
          status: 'past_due',
          unpaidSince: now(),
          unpaid: JSON.stringify({ ...invoice, url: `${house.standIn.url}/stand-in/invoices/in_1` }),
        })
        .where('userId', '=', user.id)
        .execute();
    };
  const pause = async (user: User, house: Shop) => {
    await buy('y-5000')(user, house);
    const { membership } = house.foyer.app;
    const { subscriptionId } = (await membership.getMembership(user.id)) ?? {};
    house.standIn.engine.pause(subscriptionId ?? '', 'pause_requested');
    await membership.refresh(user.id);
  };
  /** As while Stripe is away. */
  const note = (kind: 'cancel-later' | 'resume') => async (user: User, house: Shop) => {
    await buy('m-499')(user, house);
    const { database, now } = house.foyer.deps;
    await database.transaction((trx) => addBillingTask(trx, { kind, userId: user.id, customerId: null }, now()));
  };
  return [
    {
      name: 'membership, on trial',
      open: visit(path, (user, { customerOf }) => customerOf(user)),
    },
    { name: 'membership, paid', open: visit(path, buy('y-5000')) },
    { name: 'membership, payment failed', open: visit(path, unpaid('failed')) },
    {
      name: 'membership, payment failed again',
      otherWords: true,
      open: visit(path, unpaid('failed', { withoutGrace: true })),
    },
    { name: 'membership, unpaid on the home', open: visit('/settings', unpaid('action-required')) },
    {
      name: 'membership, change to come',
      open: visit(path, async (user, house) => {
        await buy('m-499')(user, house);
        await buy('m-99')(user, house);
      }),
    },
    {
      name: 'membership, cancelled',
      async open(page) {
        await visit(`${path}/cancel`, buy('m-99'))(page);
        await andLoad(page, () => page.locator('.dialog-card button.danger').click());
      },
    },
    { name: 'membership, paused', open: visit(path, pause) },
    { name: 'membership, cancel a paused one', open: visit(`${path}/cancel`, pause) },
    { name: 'membership, cancellation noted', open: visit(path, note('cancel-later')) },
    { name: 'membership, resumption noted', otherWords: true, open: visit(path, note('resume')) },
    {
      name: 'membership, billing details',
      open: visit(`${path}/details`, (user, { customerOf }) => customerOf(user)),
    },
    { name: 'membership, pay', open: visit(`${path}/pay`, unpaid('failed')) },
    { name: 'settings, delete account with a plan', open: visit('/settings/delete-account', buy('m-99')) },
    {
      name: 'plan, completed',
      async open(page) {
        // It would go on by itself.
        await page.route(/\/redirect-/, (route) => route.abort('aborted'));
        await visit('/signup/completed/m-99', buy('m-99'))(page);
      },
    },
  ];
}

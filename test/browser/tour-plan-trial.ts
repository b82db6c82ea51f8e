import type { Page } from 'playwright-core';
import type { User } from '../../server/users/index.ts';
import type { Shop } from '../billing/checkout/shop.ts';
import { forgetCards, plansWithTrials } from '../billing/plan-trial-steps.ts';
import { andLoad } from './steps.ts';
import type { Stop } from './tour.ts';

const path = '/settings/membership';

/** A shop with plans that begin with free days. */
export const trialShop = () => ({ PLANS_FILE: plansWithTrials() });

async function withFreshCard(user: User, house: Shop): Promise<void> {
  await forgetCards(house);
  await house.saveCard(user);
}

/** Presses the button of Starter's page. */
async function begin(user: User, house: Shop): Promise<void> {
  await withFreshCard(user, house);
  const { membership } = house.foyer.app;
  const starter = membership.catalogue.byCode('m-99');
  if (!starter) throw new Error('there is no Starter');
  const { plan } = await membership.choose(user, starter);
  const { dueCents, trial } = await membership.quoteOnPage(user, plan, null);
  if (!trial || !('endsAt' in trial)) throw new Error('no free days are offered');
  const seen = { planId: plan.id, dueCents, trialEnd: trial.endsAt };
  const began = await membership.confirm(user, seen, { ip: '203.0.113.7' });
  if (began.kind !== 'paid') throw new Error(`not begun: ${began.kind}`);
}

async function beginAndCancel(user: User, house: Shop): Promise<void> {
  await begin(user, house);
  await house.foyer.app.membership.cancel(user);
}

/** Another member has begun with the card since the page was opened. */
async function pressWithUsedCard(page: Page, house: Shop): Promise<void> {
  const other = await house.foyer.addUser();
  await house.foyer.app.membership.ensure(other, 7);
  await begin(other, house);
  await andLoad(page, () => page.locator('main form:has([name=trialEnd]) button').last().click());
}

interface Where {
  at: string;
  prepare?: (user: User, house: Shop) => Promise<void>;
  onwards?: (page: Page, house: Shop) => Promise<unknown>;
}

/** The pages of plans with free days. @param stop a page of a new member of this shop, after some acts */
export const trialStops = (stop: (name: string, where: Where) => Stop): Stop[] => [
  stop('plans with free days', { at: '/plan-purchase?type=1', prepare: withFreshCard }),
  stop('plan with free days', { at: '/plan-purchase/10', prepare: withFreshCard }),
  stop('card for free days', { at: '/plan-purchase/10/addPayment', prepare: withoutCard }),
  stop('free days, used card', { at: '/plan-purchase/10', prepare: withFreshCard, onwards: pressWithUsedCard }),
  stop('membership in free days', { at: path, prepare: begin }),
  stop('home in free days', { at: '/settings', prepare: begin }),
  stop('cancel free days', { at: `${path}/cancel`, prepare: begin }),
  stop('membership with canceled free days', { at: path, prepare: beginAndCancel }),
  stop('resume free days', { at: `${path}/resume`, prepare: beginAndCancel }),
];

/** The address of the payment leads to the summary until the plan is chosen. */
async function withoutCard(user: User, house: Shop): Promise<void> {
  await forgetCards(house);
  const { membership } = house.foyer.app;
  await membership.ensure(user, 7);
  const starter = membership.catalogue.byCode('m-99');
  if (starter) await membership.choose(user, starter);
}

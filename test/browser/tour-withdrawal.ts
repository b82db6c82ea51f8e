import type { User } from '../../server/users/index.ts';
import type { Shop } from '../billing/checkout/shop.ts';
import { plansWith } from '../support/plans.ts';
import { andLoad } from './steps.ts';
import type { Stop } from './tour.ts';

const plan = '/plan-purchase/13';
const path = '/settings/membership';
const dayMs = 24 * 60 * 60_000;

/** A shop that keeps the share of the days until a withdrawal. */
export const shareShop = () => ({
  PLANS_FILE: plansWith({ currency: 'eur', consumers: { withdrawalDays: 14, refund: 'prorated' } }),
});

type Prepare = (user: User, house: Shop) => Promise<void>;

/** In Berlin. */
const located: Prepare = async (user, { foyer, customerOf }) => {
  await customerOf(user);
  const { details } = await foyer.app.membership.findDetails(user.id);
  await foyer.app.membership.saveDetails(user, { ...details, postalCode: '10117', city: 'Berlin', country: 'DE' });
};

const withCard: Prepare = async (user, house) => {
  await located(user, house);
  await house.saveCard(user);
};

const begun: Prepare = async (user, house) => {
  await withCard(user, house);
  const { membership } = house.foyer.app;
  const { plan: chosen, promotion } = await membership.choose(user, membership.catalogue.defaultPlan);
  const { dueCents } = await membership.quote(user, chosen, promotion);
  const announced = { planId: chosen.id, dueCents, beginsAtOnce: '1-en' };
  await membership.confirm(user, announced, { ip: '127.0.0.1' });
};

/** All members of the shop have one clock. */
const afterDays: Prepare = async (user, house) => {
  await begun(user, house);
  house.standIn.engine.advance(5 * dayMs + 60_000);
};

/** The request that a plan begins before a withdrawal is over, and the withdrawal. */
export function withdrawalStops(stop: (name: string, where: { at: string; prepare: Prepare }) => Stop): Stop[] {
  const refused = stop('order without the request to begin', { at: plan, prepare: withCard });
  return [
    stop('quote that asks to begin', { at: plan, prepare: withCard }),
    {
      ...refused,
      async open(page, lang) {
        await refused.open(page, lang);
        await andLoad(page, () => page.locator('form:has([name=beginsAtOnce]) button').last().click());
      },
    },
    stop('card that asks to begin', { at: `${plan}/addPayment`, prepare: located }),
    stop('order begun at once', { at: path, prepare: begun }),
    stop('withdrawal after some days', { at: `${path}/withdraw`, prepare: afterDays }),
  ];
}

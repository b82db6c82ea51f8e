import { toAnnouncedPause } from '../../server/billing/index.ts';
import type { User } from '../../server/users/index.ts';
import type { Shop } from '../billing/checkout/shop.ts';
import { plansWith } from '../support/plans.ts';
import type { Stop } from './tour.ts';
import { buy } from './tour-membership.ts';

const path = '/settings/membership';
const dayMs = 24 * 60 * 60_000;

/** A shop whose members can pause their plan. */
export const pauseShop = () => ({ PLANS_FILE: plansWith({ pause: { months: [1, 2, 3] } }) });

const paid = buy('m-99');

async function pausing(user: User, house: Shop): Promise<void> {
  await paid(user, house);
  const { membership } = house.foyer.app;
  const [, offer] = await membership.quotePauses(user.id);
  if (!offer) throw new Error('no pause is offered');
  await membership.pause(user, { months: offer.months, announced: toAnnouncedPause(offer) });
}

/** All members of the shop have one clock. */
async function paused(user: User, house: Shop): Promise<void> {
  await pausing(user, house);
  const { membership } = house.foyer.app;
  const { periodEnd } = (await membership.getMembership(user.id)) ?? {};
  house.standIn.engine.advance((periodEnd ?? 0) + dayMs - house.standIn.engine.nowMs());
  await membership.refresh(user.id);
}

/** The acts of a pause. @param stop a page of a new member of this shop, after some acts */
export const pauseStops = (
  stop: (name: string, where: { at: string; prepare: (user: User, house: Shop) => Promise<void> }) => Stop,
): Stop[] => [
  stop('choose a pause', { at: `${path}/pause`, prepare: paid }),
  stop('membership with a pause to come', { at: path, prepare: pausing }),
  stop('take a pause back', { at: `${path}/resume`, prepare: pausing }),
  stop('membership in a pause', { at: path, prepare: paused }),
  stop('end a pause now', { at: `${path}/resume`, prepare: paused }),
  stop('cancel in a pause', { at: `${path}/cancel`, prepare: paused }),
];

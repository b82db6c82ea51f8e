import type { User } from '../../server/users/index.ts';
import type { Shop } from '../billing/checkout/shop.ts';
import { plansWithSeats } from '../billing/seats-steps.ts';
import type { Stop } from './tour.ts';

const path = '/settings/membership';

/** A shop with plans that are sold by the seat. */
export const seatsShop = () => ({ PLANS_FILE: plansWithSeats() });

/** Chooses a number of seats of Starter, and presses the button. */
async function buySeats(user: User, house: Shop, seats: number): Promise<void> {
  await chooseSeats(user, house, seats);
  const { membership } = house.foyer.app;
  const purchase = await membership.purchase(user.id);
  if (!purchase) throw new Error('nothing is chosen');
  const { dueCents } = await membership.quote(user, purchase.plan, purchase.promotion);
  const seen = { planId: purchase.plan.id, seats, dueCents };
  const bought = await membership.confirm(user, seen, { ip: '203.0.113.7' });
  if (bought.kind !== 'paid' && bought.kind !== 'scheduled') throw new Error(`not bought: ${bought.kind}`);
}

async function chooseSeats(user: User, house: Shop, seats: number): Promise<void> {
  const browser = await house.foyer.signedIn(user);
  await browser.post('/plan-purchase/10', { act: 'seats', planId: '10', seats: String(seats) });
}

async function withFive(user: User, house: Shop): Promise<void> {
  await house.saveCard(user);
  await buySeats(user, house, 5);
}

async function withMoreChosen(user: User, house: Shop): Promise<void> {
  await withFive(user, house);
  await chooseSeats(user, house, 8);
}

async function withFewerToCome(user: User, house: Shop): Promise<void> {
  await withFive(user, house);
  await buySeats(user, house, 3);
}

/** The pages of seats. @param stop a page of a new member of this shop, after some acts */
export const seatsStops = (
  stop: (name: string, where: { at: string; prepare: (user: User, house: Shop) => Promise<void> }) => Stop,
): Stop[] => [
  stop('buy a plan by the seat', { at: '/plan-purchase/10', prepare: (user, house) => house.saveCard(user) }),
  stop('membership with seats', { at: path, prepare: withFive }),
  stop('change seats', { at: `${path}/seats`, prepare: withFive }),
  stop('buy more seats', { at: '/plan-purchase/10', prepare: withMoreChosen }),
  stop('membership with fewer seats to come', { at: path, prepare: withFewerToCome }),
];

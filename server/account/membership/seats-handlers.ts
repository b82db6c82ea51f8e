import { ChangeSeatsPage } from '../../../views/account/change-seats-page.tsx';
import { membershipPath } from '../../../views/account/tabs.ts';
import {
  asSubscribed,
  findPlanOfSeats,
  ofOneSeat,
  parseSeats,
  planPageUrl,
  planPrice,
  priceText,
  withSeats,
} from '../../billing/index.ts';
import { requireUser } from '../../sign-in/index.ts';
import type { AccountDeps } from '../deps.ts';
import { membershipPageAfter } from '../notices.ts';
import { settingsPage } from '../settings-page.ts';
import { askStripe } from './ask-stripe.ts';

/** The user's plan that is sold by the seat. */
async function findPlan({ membership, billingNow }: AccountDeps, userId: Parameters<typeof membership.refresh>[0]) {
  const current = await membership.getMembership(userId);
  const plan = current && findPlanOfSeats(current, membership.catalogue, billingNow());
  return plan && { current, plan, seats: plan.chosenSeats ?? 1, range: plan.seats ?? { min: 1, max: 1 } };
}

/** Another number of seats: the page of the plan announces the amount, and charges or schedules it. */
export const seatsPage = settingsPage({
  path: `${membershipPath}/seats`,
  title: 'membership.seats.title',
  guard: requireUser,
  Page: ChangeSeatsPage,
  async toProps(r, deps) {
    const found = await findPlan(deps, r.user.id);
    if (!found) return membershipPageAfter('nothing');
    const { current, plan, seats, range } = found;
    // Every further seat has the price that the user has.
    const own = current.price ? asSubscribed(plan, current.price) : plan;
    const price = planPrice(r, ofOneSeat(own), deps.membership.catalogue);
    return { plan: plan.name, seats, range, price: price ? priceText(price) : '', until: current.periodEnd };
  },
  async act(r, deps) {
    const { membership } = deps;
    const found = await findPlan(deps, r.user.id);
    if (!found) return membershipPageAfter('nothing');
    const { current, plan, range } = found;
    const typed = r.field('seats');
    const seats = parseSeats(plan, typed);
    if (seats === undefined) return { status: 422, typed, error: r.t('checkout.seats.outside', range) };
    if (seats === found.seats) {
      // A change to come is taken back.
      if (current.nextPlanId !== null) return `${membershipPath}/resume`;
      return { status: 422, typed, error: r.t('membership.seats.same', { count: seats }) };
    }
    const answered = await askStripe(r, () => membership.choose(r.user, withSeats(plan, seats)));
    if ('status' in answered) return { ...answered, typed };
    return planPageUrl(plan, '') ?? membershipPath;
  },
});

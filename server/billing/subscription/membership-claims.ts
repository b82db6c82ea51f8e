import type { PlanId } from '../../shared/index.ts';
import type { GetMembershipClaims } from '../../users/index.ts';
import { type Catalogue, findPlan } from '../catalogue/catalogue.ts';

/** The entitlements of a user. @param facts of the user's own row */
export function listEntitlements(
  { planId, trialUntil: until }: { planId: PlanId | null; trialUntil: number | null },
  catalogue: Pick<Catalogue, 'byId' | 'trial'>,
  nowMs: number,
): readonly string[] {
  const own = catalogue.byId(planId)?.entitlements ?? [];
  const tried = until !== null && nowMs < until ? catalogue.trial.entitlements : [];
  return [...new Set([...own, ...tried])];
}

/** The claims of a membership: read from the user's own row, so they follow a change at once. */
export function membershipClaims(catalogue: Pick<Catalogue, 'byId' | 'trial'>, now: () => number): GetMembershipClaims {
  return (user) => {
    // A plan that is no longer in the catalogue gives nothing, so its id is omitted.
    const plan = findPlan(catalogue, user.planId, user.seats);
    return { plan: plan?.id, seats: plan?.chosenSeats, entitlements: listEntitlements(user, catalogue, now()) };
  };
}

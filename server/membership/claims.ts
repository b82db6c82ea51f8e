import type { GetMembershipClaims } from '../users/index.ts';
import type { Catalogue } from './catalogue.ts';
import { listEntitlements } from './effective-plan.ts';

/** What client apps may learn of a membership: read from the member's own row, so it follows a change at once. */
export function membershipClaims(catalogue: Pick<Catalogue, 'byId' | 'trial'>, now: () => number): GetMembershipClaims {
  return (user) => ({
    // A plan that is no longer in the catalogue gives nothing, so it is not named either.
    plan: catalogue.byId(user.planId)?.id,
    entitlements: listEntitlements(user, catalogue, now()),
  });
}

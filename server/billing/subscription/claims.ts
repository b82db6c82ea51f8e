import type { GetMembershipClaims } from '../../users/index.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { listEntitlements } from '../catalogue/effective-plan.ts';

/** The claims of a membership: read from the user's own row, so they follow a change at once. */
export function membershipClaims(catalogue: Pick<Catalogue, 'byId' | 'trial'>, now: () => number): GetMembershipClaims {
  return (user) => ({
    // A plan that is no longer in the catalogue gives nothing, so its id is omitted.
    plan: catalogue.byId(user.planId)?.id,
    entitlements: listEntitlements(user, catalogue, now()),
  });
}

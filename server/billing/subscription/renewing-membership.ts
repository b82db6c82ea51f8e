import type { Catalogue, Plan } from '../catalogue/catalogue.ts';
import { effectivePlan, graceEndsAt } from '../catalogue/effective-plan.ts';
import { type Membership, trialPlanKey } from './membership.ts';

/** A paid plan that renews. */
export interface RenewingMembership {
  plan: Plan | undefined;
  /** End of the paid or grace period (milliseconds since the epoch). */
  until: number | null;
  /** The last renewal could not be charged. */
  unpaid: boolean;
}

/**
 * The plan that would be charged again unless it is ended, possibly as another plan. Undefined: none, or it already
 * ends.
 */
export function findRenewingMembership(
  membership: Membership | undefined,
  catalogue: Pick<Catalogue, 'byId' | 'graceDays'>,
  nowMs: number,
): RenewingMembership | undefined {
  if (!membership) return undefined;
  const { status, pricedPlanId, paidPlanId, paidUntil, periodEnd, cancelAtPeriodEnd, nextPlanId } = membership;
  // A scheduled end with a following plan is a change of plan.
  if (cancelAtPeriodEnd && nextPlanId === null) return undefined;
  // The initial plan is never charged.
  if (pricedPlanId === trialPlanKey && paidPlanId === null) return undefined;
  if (status === 'past_due' || status === 'unpaid') {
    const plan = catalogue.byId(paidPlanId ?? pricedPlanId);
    return { plan, until: graceEndsAt(membership, catalogue) ?? null, unpaid: true };
  }
  if (status !== 'active' && status !== 'trialing') return undefined;
  const plan = catalogue.byId(effectivePlan(membership, catalogue, nowMs));
  if (plan?.kind !== 'paid') return undefined;
  return { plan, until: paidUntil ?? periodEnd, unpaid: false };
}

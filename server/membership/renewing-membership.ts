import type { Catalogue, Plan } from './catalogue.ts';
import { effectivePlan, graceEndsAt } from './effective-plan.ts';
import { type Membership, trialPlanKey } from './membership.ts';

/** Something that goes on by itself and is paid for. */
export interface RenewingMembership {
  plan: Plan | undefined;
  /** Until when it is paid, or what was not paid is waited for (milliseconds since the epoch). */
  until: number | null;
  /** The last renewal could not be charged. */
  unpaid: boolean;
}

/** What would be charged again, did nobody end it, if for another plan. Undefined: nothing, or it ends by itself already. */
export function findRenewingMembership(
  membership: Membership | undefined,
  catalogue: Pick<Catalogue, 'byId' | 'graceDays'>,
  nowMs: number,
): RenewingMembership | undefined {
  if (!membership) return undefined;
  const { status, pricedPlanId, paidPlanId, paidUntil, periodEnd, cancelAtPeriodEnd, nextPlanId } = membership;
  // Told to end, with another plan behind it, is a change of plan.
  if (cancelAtPeriodEnd && nextPlanId === null) return undefined;
  // Nothing is ever charged for the plan on which members begin.
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

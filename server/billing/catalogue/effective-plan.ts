import type { PlanId } from '../../shared/index.ts';
import type { GetMembershipClaims } from '../../users/index.ts';
import { type Membership, trialPlanKey } from '../subscription/membership.ts';
import { givenPlan, type MembershipFacts, toMembershipState } from '../subscription/membership-state.ts';
import { type Catalogue, type Plan, planRank } from './catalogue.ts';

/**
 * The plan of a user: that of the last *paid* invoice, while the subscription is running at Stripe; else the plan
 * without a subscription (free, a partner's); else none. A price on the subscription alone gives nothing.
 */
export function effectivePlan(
  facts: MembershipFacts & Pick<Membership, 'basePlanId'>,
  catalogue: Pick<Catalogue, 'graceDays' | 'byId'>,
  nowMs: number,
): PlanId | null {
  return givenPlan(toMembershipState(facts, catalogue, nowMs))?.id ?? facts.basePlanId;
}

/** End of the trial; null: there is none. */
export function trialUntil({
  status,
  pricedPlanId,
  trialEnd,
}: Pick<Membership, 'status' | 'pricedPlanId' | 'trialEnd'>): number | null {
  return status === 'trialing' && pricedPlanId === trialPlanKey ? trialEnd : null;
}

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
  return (user) => ({
    // A plan that is no longer in the catalogue gives nothing, so its id is omitted.
    plan: catalogue.byId(user.planId)?.id,
    entitlements: listEntitlements(user, catalogue, now()),
  });
}

/**
 * How to change from the present state to a plan. `first`: nothing is paid yet, the whole plan is charged now.
 * `upgrade`: charged now, with a credit for the unused time. `later`: at the end of the paid period.
 */
export type ChangeKind = 'none' | 'first' | 'upgrade' | 'later';

/** The paid plan with which the subscription continues, also while it is unpaid; undefined: there is none. */
export function currentPaidPlan(catalogue: Pick<Catalogue, 'byId'>, facts: MembershipFacts): Plan | undefined {
  // Whether an unpaid plan is kept depends on the time; that there is one does not.
  const state = toMembershipState(facts, { byId: catalogue.byId, graceDays: 0 }, 0);
  return state.kind === 'resting' ? catalogue.byId(facts.paidPlanId) : givenPlan(state);
}

/** A higher plan, or the same with a yearly instead of a monthly interval, is an upgrade. */
export function changeKind(
  catalogue: Pick<Catalogue, 'byId' | 'plans'>,
  membership: MembershipFacts,
  plan: Plan,
): ChangeKind {
  const current = currentPaidPlan(catalogue, membership);
  if (!current) return 'first';
  if (current.id === plan.id) return 'none';
  const [from, to] = [planRank(catalogue, current), planRank(catalogue, plan)];
  return to > from || (to === from && current.type === '1' && plan.type === '2') ? 'upgrade' : 'later';
}

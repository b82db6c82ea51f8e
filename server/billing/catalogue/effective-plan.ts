import { dayMs, type PlanId } from '../../shared/index.ts';
import type { GetMembershipClaims } from '../../users/index.ts';
import { type Membership, trialPlanKey } from '../subscription/membership.ts';
import { type Catalogue, type Plan, planRank } from './catalogue.ts';

type SubscriptionFacts = Pick<
  Membership,
  'status' | 'pricedPlanId' | 'trialEnd' | 'paidPlanId' | 'basePlanId' | 'unpaidSince' | 'subscriptionId'
> &
  Partial<Pick<Membership, 'unpaid'>>;

/** Until when an unpaid renewal can be paid; then its subscription ends. undefined: there is none. */
export function paymentGraceEnds(
  { status, unpaidSince }: Pick<SubscriptionFacts, 'status' | 'unpaidSince'>,
  { graceDays }: Pick<Catalogue, 'graceDays'>,
): number | undefined {
  if ((status !== 'past_due' && status !== 'unpaid') || unpaidSince === null) return undefined;
  return unpaidSince + graceDays * dayMs;
}

/** Until when a user with an unpaid renewal keeps the plan; undefined: it is not kept. */
export function graceEndsAt(facts: SubscriptionFacts, catalogue: Pick<Catalogue, 'graceDays'>): number | undefined {
  return facts.status === 'past_due' && !facts.unpaid?.withoutGrace ? paymentGraceEnds(facts, catalogue) : undefined;
}

/**
 * The plan of a user: that of the last *paid* invoice, while the subscription is running at Stripe; else the plan
 * without a subscription (free, a partner's); else none. A price on the subscription alone gives nothing.
 */
export function effectivePlan(
  facts: SubscriptionFacts,
  catalogue: Pick<Catalogue, 'graceDays' | 'byId'>,
  nowMs: number,
): PlanId | null {
  const { status, pricedPlanId, paidPlanId, basePlanId } = facts;
  const goesOn =
    status === 'active' ||
    // A change at the period's end: until then it counts as a trial of the next price.
    (status === 'trialing' && pricedPlanId !== trialPlanKey) ||
    nowMs < (graceEndsAt(facts, catalogue) ?? 0);
  if (goesOn && pricedPlanId !== trialPlanKey && catalogue.byId(paidPlanId)) return paidPlanId;
  return basePlanId;
}

/** End of the trial; null: there is none. */
export function trialUntil({ status, pricedPlanId, trialEnd }: SubscriptionFacts): number | null {
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

/** The paid plan with which the subscription continues; undefined: there is none. */
export function currentPaidPlan(
  catalogue: Pick<Catalogue, 'byId'>,
  { status, pricedPlanId, paidPlanId }: Pick<Membership, 'status' | 'pricedPlanId' | 'paidPlanId'>,
): Plan | undefined {
  const goesOn = ['active', 'past_due'].includes(status) || (status === 'trialing' && pricedPlanId !== trialPlanKey);
  return goesOn && pricedPlanId !== trialPlanKey ? catalogue.byId(paidPlanId) : undefined;
}

/** A higher plan, or the same with a yearly instead of a monthly interval, is an upgrade. */
export function changeKind(
  catalogue: Pick<Catalogue, 'byId' | 'plans'>,
  membership: Pick<Membership, 'status' | 'pricedPlanId' | 'paidPlanId'>,
  plan: Plan,
): ChangeKind {
  const current = currentPaidPlan(catalogue, membership);
  if (!current) return 'first';
  if (current.id === plan.id) return 'none';
  const [from, to] = [planRank(catalogue, current), planRank(catalogue, plan)];
  return to > from || (to === from && current.type === '1' && plan.type === '2') ? 'upgrade' : 'later';
}

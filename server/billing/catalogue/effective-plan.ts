import { dayMs, type PlanId } from '../../shared/index.ts';
import { type Membership, trialPlanKey } from '../subscription/membership.ts';
import type { Catalogue } from './catalogue.ts';

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

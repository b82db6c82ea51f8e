import { type Catalogue, type Plan, planRank } from './catalogue.ts';
import { type Membership, trialPlanKey } from './membership.ts';

/**
 * What it takes to get from what a member has to a plan. `first`: nothing is paid for yet, the whole plan is charged now.
 * `upgrade`: charged now, what is left of the plan before is given back. `later`: at the end of what is paid.
 */
export type ChangeKind = 'none' | 'first' | 'upgrade' | 'later';

/** The paid plan on which the subscription goes on; undefined: there is none. */
export function currentPaidPlan(
  catalogue: Pick<Catalogue, 'byId'>,
  { status, pricedPlanId, paidPlanId }: Pick<Membership, 'status' | 'pricedPlanId' | 'paidPlanId'>,
): Plan | undefined {
  const goesOn = ['active', 'past_due'].includes(status) || (status === 'trialing' && pricedPlanId !== trialPlanKey);
  return goesOn && pricedPlanId !== trialPlanKey ? catalogue.byId(paidPlanId) : undefined;
}

/** A higher plan, or the same for a year instead of a month, is an upgrade. */
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

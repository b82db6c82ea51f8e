import { type Membership, trialPlanKey } from '../subscription/membership.ts';
import { type Catalogue, type Plan, planRank } from './catalogue.ts';

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

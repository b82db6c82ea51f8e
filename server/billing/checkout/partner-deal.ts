import type { User } from '../../users/index.ts';
import type { Plan } from '../catalogue/catalogue.ts';
import type { CheckoutDeps } from './checkout-deps.ts';

/** The page of a partner's deal, as post-login routing names it. */
export function partnerDealUrl(plan: Plan | undefined, search: string): string {
  const parameters = new URLSearchParams(search);
  parameters.set('plan', plan?.id ?? '');
  return `/plan-purchase-appsumo/?${parameters}`;
}

/** The plan of a user's waiting deal; undefined: none, or already claimed. */
export async function findWaitingDeal(
  { membership }: Pick<CheckoutDeps, 'membership'>,
  user: User,
): Promise<Plan | undefined> {
  const plan = await membership.findDeal(user);
  if (!plan || plan.id === user.planId) return undefined;
  const currentMembership = await membership.getMembership(user.id);
  return currentMembership?.basePlanId === plan.id ? undefined : plan;
}

/** The same for a user from the partner without a plan, who has no choice. */
export async function findDealForSignUp(
  deps: Pick<CheckoutDeps, 'membership' | 'deals'>,
  user: User,
): Promise<Plan | undefined> {
  const isAhead = user.source !== 'general' && user.planId === null && !deps.deals.isPostponed(user);
  return isAhead ? findWaitingDeal(deps, user) : undefined;
}

import type { User } from '../account/index.ts';
import type { Plan } from '../membership/index.ts';
import type { CheckoutDeps } from './deps.ts';

/** The page of a partner's deal, as post-login routing names it. */
export function dealAddress(plan: Plan | undefined, search: string): string {
  const parameters = new URLSearchParams(search);
  parameters.set('plan', plan?.id ?? '');
  return `/plan-purchase-appsumo/?${parameters}`;
}

/** The plan of the partner's deal that waits for a member; undefined: none, or they have taken it. */
export async function waitingDeal(
  { membership }: Pick<CheckoutDeps, 'membership'>,
  user: User,
): Promise<Plan | undefined> {
  const plan = await membership.dealOf(user);
  if (!plan || plan.id === user.planId) return undefined;
  const standing = await membership.standing(user.id);
  return standing?.basePlanId === plan.id ? undefined : plan;
}

/** The same for whom came from the partner and has no plan yet: there is nothing for them to choose. */
export async function dealAhead(
  deps: Pick<CheckoutDeps, 'membership' | 'deals'>,
  user: User,
): Promise<Plan | undefined> {
  const isAhead = user.source !== 'general' && user.planId === null && !deps.deals.isPostponed(user);
  return isAhead ? waitingDeal(deps, user) : undefined;
}

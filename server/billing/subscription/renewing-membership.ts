import type { Catalogue, Plan } from '../catalogue/catalogue.ts';
import type { Membership } from './membership.ts';
import { graceEndsAt, toMembershipState } from './membership-state.ts';

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
  const { paidUntil, periodEnd, cancelAtPeriodEnd, nextPlanId } = membership;
  const state = toMembershipState(membership, catalogue, nowMs);
  switch (state.kind) {
    case 'paid':
    case 'changing':
      return state.plan.kind === 'paid'
        ? { plan: state.plan, until: paidUntil ?? periodEnd, unpaid: false }
        : undefined;
    case 'grace':
    case 'resting':
      // A scheduled end with a following plan is a change of plan.
      if (cancelAtPeriodEnd && nextPlanId === null) return undefined;
      return { plan: state.plan, until: graceEndsAt(membership, catalogue) ?? null, unpaid: true };
    default:
      return undefined;
  }
}

import { dayMs, hourMs, type PlanId } from '../../shared/index.ts';
import type { Row } from '../../store/index.ts';
import type { User } from '../../users/index.ts';
import type { Plan } from '../catalogue/catalogue.ts';

// The trial of a paid plan (`trialDays`): the user has the plan, and its first charge is at the end of the trial.

export interface PlanTrialService {
  /** The free days with which plans of a list begin for the user, by their ids. @throws {StripeUnavailableError} */
  listTrialDays(user: User, plans: readonly Plan[]): Promise<ReadonlyMap<PlanId, number>>;
}

/** The metadata key of a subscription with the plan that is tried. */
export const planTrialKey = 'foyer_trial';

/** Absent ones are unknown. */
type TrialFacts = Pick<Row<'memberships'>, 'status' | 'pricedPlanId'> &
  Partial<Pick<Row<'memberships'>, 'triedPlanId' | 'triedUntil' | 'paidUntil'>> & { unpaid?: object | null };

const isOnTriedPlan = ({ pricedPlanId, triedPlanId }: TrialFacts): boolean =>
  pricedPlanId !== null && pricedPlanId === triedPlanId;

/** Tests for a trial that runs: nothing is charged before its end. */
export const isTrying = (facts: TrialFacts): boolean => facts.status === 'trialing' && isOnTriedPlan(facts);

/** The invoice of the first charge is a draft for an hour; then the charge and its event need some time. */
export const firstChargeMs = 6 * hourMs;

/** Tests for a plan whose trial is over and whose first charge is not known yet. */
export const awaitsFirstCharge = (facts: TrialFacts): boolean => {
  const { status, triedUntil, paidUntil, unpaid } = facts;
  return status === 'active' && isOnTriedPlan(facts) && !unpaid && (paidUntil ?? 0) <= (triedUntil ?? 0);
};

/**
 * A trial whose plan is given; undefined: it is not given, or not by a trial. `isCharged`: it is over, and its first charge
 * is under way; `until` is the end of the period that it pays.
 */
export function findTrial(
  facts: TrialFacts & { cancelAtPeriodEnd?: boolean; periodEnd?: number | null },
  nowMs: number,
): { until: number; ends: boolean; isCharged: boolean } | undefined {
  const { triedUntil, periodEnd, cancelAtPeriodEnd: ends = false } = facts;
  const isCharged = awaitsFirstCharge(facts);
  if (triedUntil == null || !(isTrying(facts) || isCharged) || nowMs >= triedUntil + firstChargeMs) return undefined;
  return { until: (isCharged && periodEnd) || triedUntil, ends, isCharged };
}

/**
 * How long before its end a user is told of it. Visa and Mastercard want a week; of a short trial the mail of its
 * beginning says the same. undefined: no further mail.
 */
export function trialNoticeDays(trialMs: number): 7 | 3 | undefined {
  if (trialMs > 7 * dayMs) return 7;
  return trialMs > 3 * dayMs ? 3 : undefined;
}

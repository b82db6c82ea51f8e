import type { MembershipView, PlanStatusView, UserPlanView } from '../../../views/account/membership-view.ts';
import {
  type Catalogue,
  effectivePlan,
  graceEndsAt,
  isPaused,
  type Membership,
  type Plan,
  paymentGraceEnds,
  trialPlanKey,
} from '../../billing/index.ts';
import { dayMs } from '../../shared/index.ts';
import type { User } from '../../users/index.ts';

type CatalogueRules = Pick<Catalogue, 'byId' | 'graceDays' | 'trial'>;

interface StatusRules {
  catalogue: CatalogueRules;
  nowMs: number;
  /** Formats a plan in the user's language. */
  words(plan: Plan): UserPlanView;
}

/** The status of a membership, from the stored data. */
export function toPlanStatus(
  rules: StatusRules,
  user: Pick<User, 'planId'>,
  membership: Membership | undefined,
): PlanStatusView {
  const { catalogue, nowMs, words } = rules;
  const resting = membership && findRestingPlan(membership, catalogue, nowMs);
  if (resting) return { kind: 'unpaid', plan: words(resting), at: null };
  const paused = membership && isPaused(membership) ? catalogue.byId(membership.pricedPlanId) : undefined;
  if (paused) return { kind: 'paused', plan: words(paused) };
  const plan = catalogue.byId(membership ? effectivePlan(membership, catalogue, nowMs) : user.planId);
  if (plan) {
    return membership && plan.kind === 'paid'
      ? toPaidPlanStatus(rules, membership, plan)
      : { kind: 'lasting', plan: words(plan), isFree: plan.kind === 'free' };
  }
  const trial = membership && toTrialStatus(membership, catalogue, nowMs);
  if (trial) return { kind: 'trial', at: trial.endsAt };
  return { kind: membership && isTrialOver(membership) ? 'trial-over' : 'none' };
}

/** The plan is not kept, but can still be paid or cancelled: Stripe continues to try until then. */
function findRestingPlan(membership: Membership, catalogue: CatalogueRules, nowMs: number): Plan | undefined {
  const waits = nowMs < (paymentGraceEnds(membership, catalogue) ?? 0);
  return waits && membership.unpaid?.withoutGrace ? catalogue.byId(membership.paidPlanId) : undefined;
}

/**
 * Without a card Stripe pauses it; with one (or if a card has had its trial before) it continues free of charge,
 * without entitlements.
 */
const isTrialOver = ({ status, pricedPlanId }: Membership): boolean =>
  (status === 'paused' || status === 'active') && pricedPlanId === trialPlanKey;

function toPaidPlanStatus({ catalogue, words }: StatusRules, membership: Membership, plan: Plan): PlanStatusView {
  const { status, periodEnd, paidUntil, nextPlanId, cancelAtPeriodEnd, basePlanId } = membership;
  if (status === 'past_due')
    return { kind: 'unpaid', plan: words(plan), at: graceEndsAt(membership, catalogue) ?? null };
  const at = periodEnd ?? paidUntil;
  const next = catalogue.byId(nextPlanId);
  if (next) return { kind: 'changes', plan: words(plan), at, to: words(next).line };
  if (!cancelAtPeriodEnd) return { kind: 'renews', plan: words(plan), at };
  const after = catalogue.byId(basePlanId);
  return { kind: 'ends', plan: words(plan), at, after: after && words(after).line };
}

/** The trial of the initial plan; `days` that are left, rounded up, as in the mail. */
export function toTrialStatus(
  { status, pricedPlanId, trialEnd }: Pick<Membership, 'status' | 'pricedPlanId' | 'trialEnd'>,
  { trial }: Pick<Catalogue, 'trial'>,
  nowMs: number,
): MembershipView['trial'] {
  if (status !== 'trialing' || pricedPlanId !== 'trial' || trialEnd === null || trialEnd <= nowMs) return undefined;
  return { name: trial.name, endsAt: trialEnd, days: Math.ceil((trialEnd - nowMs) / dayMs) };
}

/** A card is valid to the end of its month in the last time zone. */
export function isExpired({ expMonth, expYear }: { expMonth: number; expYear: number }, nowMs: number): boolean {
  return Date.UTC(expYear, expMonth, 1) + dayMs <= nowMs;
}

import type { MembershipView, PlanStatusView, UserPlanView } from '../../../views/account/membership-view.ts';
import {
  type Catalogue,
  type Membership,
  type MembershipState,
  type Plan,
  planAfterYear,
  toMembershipState,
} from '../../billing/index.ts';
import { dayMs } from '../../shared/index.ts';
import type { User } from '../../users/index.ts';

type CatalogueRules = Pick<Catalogue, 'byId' | 'graceDays' | 'trial' | 'plans' | 'afterYear'>;

interface StatusRules {
  catalogue: CatalogueRules;
  nowMs: number;
  /** Formats a plan in the user's language. */
  words(plan: Plan): UserPlanView;
}

/** A plan without a subscription. */
const toLasting = ({ words }: StatusRules, plan: Plan | undefined): PlanStatusView =>
  plan ? { kind: 'lasting', plan: words(plan), isFree: plan.kind === 'free' } : { kind: 'none' };

/** Without the interval, which is that of the plan's price. */
function toGiftStatus({ words }: StatusRules, { plan, until }: { plan: Plan; until: number }): PlanStatusView {
  const view = words(plan);
  return { kind: 'gift', plan: { ...view, line: view.name }, at: until };
}

type GivenState = Extract<MembershipState, { kind: 'paid' | 'changing' | 'pausing' | 'ending' | 'grace' | 'trying' }>;

function toTriedStatus(
  words: StatusRules['words'],
  { plan, until: at, ends, isCharged }: Extract<MembershipState, { kind: 'trying' }>,
  base: Plan | undefined,
): PlanStatusView {
  // The next payment is that after the one that is under way.
  if (isCharged && !ends) return { kind: 'renews', plan: words(plan), at };
  return ends
    ? {
        kind: 'ends',
        ...(!isCharged && { isTrial: true as const }),
        plan: words(plan),
        at,
        after: base && words(base).line,
      }
    : { kind: 'tries', plan: words(plan), at };
}

/** A state in which the paid plan is given. @param about.base the plan without a subscription */
function toGivenStatus(
  { catalogue, words }: StatusRules,
  state: GivenState,
  { base, isPaused }: { base: Plan | undefined; isPaused: boolean },
): PlanStatusView {
  const at = state.until;
  switch (state.kind) {
    case 'paid':
      return { kind: 'renews', plan: words(state.plan), at };
    case 'changing':
      return {
        kind: 'changes',
        plan: words(state.plan),
        at,
        to: words(state.next).line,
        ...(planAfterYear(catalogue, state.plan)?.id === state.next.id && { byMonth: true }),
      };
    case 'pausing':
      return { kind: 'pauses', plan: words(state.plan), at, resumesAt: state.resumesAt, hasBegun: isPaused };
    case 'ending':
      return {
        kind: 'ends',
        isForDeal: base?.kind === 'partner',
        plan: words(state.plan),
        at,
        after: base && words(base).line,
      };
    case 'grace':
      return { kind: 'unpaid', plan: words(state.plan), at };
    case 'trying':
      return toTriedStatus(words, state, base);
  }
}

/** The status of a membership, from the stored data. */
export function toPlanStatus(
  rules: StatusRules,
  user: Pick<User, 'planId'>,
  membership: Membership | undefined,
): PlanStatusView {
  const { catalogue, nowMs, words } = rules;
  if (!membership) return toLasting(rules, catalogue.byId(user.planId));
  const state = toMembershipState(membership, catalogue, nowMs);
  const base = catalogue.byId(membership.basePlanId);
  switch (state.kind) {
    case 'resting': {
      // After that the subscription ends, and its invoice can no longer be paid.
      const canBePaid = state.until !== null && nowMs < state.until;
      return canBePaid && state.plan ? { kind: 'unpaid', plan: words(state.plan), at: null } : toLasting(rules, base);
    }
    case 'paused':
      return { kind: 'paused', plan: words(state.plan), resumesAt: state.resumesAt };
    case 'lasting':
      return toLasting(rules, state.plan);
    case 'gift':
      return toGiftStatus(rules, state);
    case 'trial':
      return { kind: 'trial', at: state.until };
    case 'trial-over':
    case 'none':
      return { kind: state.kind };
    case 'over':
      return { kind: 'none' };
    default:
      return toGivenStatus(rules, state, { base, isPaused: membership.status === 'paused' });
  }
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
export function isExpired(
  { expMonth, expYear }: { expMonth: number | null; expYear: number | null },
  nowMs: number,
): boolean {
  return expMonth !== null && expYear !== null && Date.UTC(expYear, expMonth, 1) + dayMs <= nowMs;
}

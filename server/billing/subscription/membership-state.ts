import { dayMs, type PlanId } from '../../shared/index.ts';
import { type Catalogue, findGiven, findPlan, type Plan, planRank } from '../catalogue/catalogue.ts';
import { isDebit, isPaused, type Membership, trialPlanKey } from './membership.ts';
import { findTrial } from './plan-trial-rules.ts';

/** The stored facts that decide the state; absent ones are unknown. */
type MembershipFacts = Pick<Membership, 'status' | 'pricedPlanId' | 'paidPlanId'> &
  Partial<
    Pick<
      Membership,
      | 'basePlanId'
      | 'trialEnd'
      | 'unpaidSince'
      | 'unpaid'
      | 'periodEnd'
      | 'paidUntil'
      | 'cancelAtPeriodEnd'
      | 'nextPlanId'
      | 'nextSeats'
      | 'seats'
      | 'pause'
      | 'giftPlanId'
      | 'giftUntil'
      | 'triedPlanId'
      | 'triedUntil'
    >
  >;

/**
 * The state of a membership. Times in milliseconds since the epoch; `until` null: unknown. The plan without a
 * subscription (free, a partner's) stands beside it in `basePlanId`, and is given where the state gives none.
 */
export type MembershipState =
  /** There is no subscription and never was a paid one. */
  | { kind: 'none' }
  /** A free plan or a partner's; nothing is paid. */
  | { kind: 'lasting'; plan: Plan }
  /** A plan by a gift code; nothing is paid, and it ends then. */
  | { kind: 'gift'; plan: Plan; until: number }
  | { kind: 'trial'; until: number }
  | { kind: 'trial-over' }
  /** A paid plan, free until then and charged from then on unless it `ends`. `isCharged`: it is charged, for the time until then. */
  | { kind: 'trying'; plan: Plan; until: number; ends: boolean; isCharged: boolean }
  /** The plan is paid and renews. */
  | { kind: 'paid'; plan: Plan; until: number | null }
  /** It is paid, and another plan follows. */
  | { kind: 'changing'; plan: Plan; until: number | null; next: Plan }
  /** It is paid, and its user's pause begins then. */
  | { kind: 'pausing'; plan: Plan; until: number | null; resumesAt: number }
  /** It is paid, and ends with its period. */
  | { kind: 'ending'; plan: Plan; until: number | null }
  /** A renewal could not be charged; the plan is kept until then. */
  | { kind: 'grace'; plan: Plan; until: number }
  /** The same, and the plan is not kept: it can still be paid, at most until then. `plan` undefined: not in the catalogue. */
  | { kind: 'resting'; plan: Plan | undefined; until: number | null }
  /** It gives nothing and is not charged. `resumesAt`: the end of the user's pause; null: the operator or Stripe has paused it. */
  | { kind: 'paused'; plan: Plan; resumesAt: number | null }
  /** It has ended after it was paid. */
  | { kind: 'over' };

/** Paused, or its user has asked for a pause: nothing is sold to it. */
export const isOnHold = (membership: Pick<Membership, 'status' | 'pricedPlanId' | 'pause'>): boolean =>
  membership.pause !== null || isPaused(membership);

type StateCatalogue = Pick<Catalogue, 'byId' | 'graceDays'>;

/** Until when an unpaid renewal, or the end of a pause, can be paid; then its subscription ends. undefined: there is none. */
export function paymentGraceEnds(
  { status, unpaidSince, pause }: Pick<MembershipFacts, 'status' | 'unpaidSince' | 'pause'>,
  { graceDays }: Pick<Catalogue, 'graceDays'>,
): number | undefined {
  // A pause whose end is not paid gives nothing, but has the same time for its payment.
  const isUnpaid = status === 'past_due' || status === 'unpaid' || (status === 'paused' && pause != null);
  if (!isUnpaid || unpaidSince == null) return undefined;
  return unpaidSince + graceDays * dayMs;
}

/** Until when a user with an unpaid renewal keeps the plan; undefined: it is not kept. */
export function graceEndsAt(facts: MembershipFacts, catalogue: Pick<Catalogue, 'graceDays'>): number | undefined {
  return facts.status === 'past_due' && !facts.unpaid?.withoutGrace ? paymentGraceEnds(facts, catalogue) : undefined;
}

function toBaseState(facts: MembershipFacts, catalogue: StateCatalogue, nowMs: number): MembershipState {
  const gift = findGiven(facts, catalogue, nowMs);
  if (gift) return { kind: 'gift', ...gift };
  const plan = catalogue.byId(facts.basePlanId);
  if (plan) return { kind: 'lasting', plan };
  return { kind: facts.paidPlanId === null ? 'none' : 'over' };
}

/** On the initial price nothing is ever charged, whatever was paid once. */
function toInitialState(facts: MembershipFacts, catalogue: StateCatalogue, nowMs: number): MembershipState {
  const { status, trialEnd } = facts;
  const base = toBaseState(facts, catalogue, nowMs);
  if (base.kind === 'gift' || base.kind === 'lasting') return base;
  if (status === 'trialing' && trialEnd != null && nowMs < trialEnd) return { kind: 'trial', until: trialEnd };
  // Without a card Stripe pauses it; with one it continues free of charge, without entitlements.
  return status === 'paused' || status === 'active' ? { kind: 'trial-over' } : base;
}

function toPaidState(facts: MembershipFacts, catalogue: StateCatalogue, nowMs: number): MembershipState {
  const { paidPlanId, nextPlanId, cancelAtPeriodEnd, periodEnd, paidUntil } = facts;
  const plan = findPlan(catalogue, paidPlanId, facts.seats);
  if (!plan) return toBaseState(facts, catalogue, nowMs);
  const until = periodEnd ?? paidUntil ?? null;
  const next = findPlan(catalogue, nextPlanId, facts.nextSeats);
  if (next) return { kind: 'changing', plan, until, next };
  if (facts.pause && !cancelAtPeriodEnd) return { kind: 'pausing', plan, until, resumesAt: facts.pause.resumesAt };
  return { kind: cancelAtPeriodEnd ? 'ending' : 'paid', plan, until };
}

/** A user's pause begins a little before the end of the paid period, which runs out. */
function toPausedState(facts: MembershipFacts, catalogue: StateCatalogue, nowMs: number): MembershipState {
  const { pause, paidUntil, paidPlanId, pricedPlanId } = facts;
  const plan = isPaused(facts) ? findPlan(catalogue, pricedPlanId, facts.seats) : undefined;
  if (!plan) return toBaseState(facts, catalogue, nowMs);
  const paid = findPlan(catalogue, paidPlanId, facts.seats);
  if (pause && paid && paidUntil != null && nowMs < paidUntil)
    return { kind: 'pausing', plan: paid, until: paidUntil, resumesAt: pause.resumesAt };
  return { kind: 'paused', plan, resumesAt: pause?.resumesAt ?? null };
}

function toUnpaidState(facts: MembershipFacts, catalogue: StateCatalogue, nowMs: number): MembershipState {
  const keptUntil = graceEndsAt(facts, catalogue);
  const plan = findPlan(catalogue, facts.paidPlanId, facts.seats);
  if (plan && keptUntil !== undefined && nowMs < keptUntil) return { kind: 'grace', plan, until: keptUntil };
  return {
    kind: 'resting',
    plan: plan ?? findPlan(catalogue, facts.pricedPlanId, facts.seats),
    until: paymentGraceEnds(facts, catalogue) ?? null,
  };
}

/** The state that pages, mails, calls and the comparison with Stripe share: one decision for each of Stripe's statuses. */
export function toMembershipState(facts: MembershipFacts, catalogue: StateCatalogue, nowMs: number): MembershipState {
  if (facts.pricedPlanId === trialPlanKey) return toInitialState(facts, catalogue, nowMs);
  const tried = catalogue.byId(facts.triedPlanId);
  const trial = tried && findTrial(facts, nowMs);
  if (trial) return { kind: 'trying', plan: tried, ...trial };
  switch (facts.status) {
    case 'active':
    // A change that was scheduled the former way: in its last days Stripe counts it as a trial of the next price.
    case 'trialing':
      return toPaidState(facts, catalogue, nowMs);
    case 'past_due':
    case 'unpaid':
      return toUnpaidState(facts, catalogue, nowMs);
    case 'paused':
      return toPausedState(facts, catalogue, nowMs);
    case 'none':
    case 'incomplete':
    case 'incomplete_expired':
    case 'canceled':
      return toBaseState(facts, catalogue, nowMs);
  }
}

const givingKinds: ReadonlySet<MembershipState['kind']> = new Set([
  ...(['paid', 'changing', 'pausing', 'ending', 'grace', 'trying'] as const),
]);

/** The paid plan that the state gives; undefined: none. */
const givenPlan = (state: MembershipState): Plan | undefined =>
  'plan' in state && givingKinds.has(state.kind) ? state.plan : undefined;

/**
 * The plan of a user: that of the last *paid* invoice, while the subscription is running at Stripe; else that of a gift;
 * else the plan without a subscription (free, a partner's); else none. A price on the subscription alone gives nothing.
 */
export function effectivePlan(
  facts: MembershipFacts & Pick<Membership, 'basePlanId'>,
  catalogue: Pick<Catalogue, 'graceDays' | 'byId'>,
  nowMs: number,
): PlanId | null {
  const paid = givenPlan(toMembershipState(facts, catalogue, nowMs));
  return (paid ?? findGiven(facts, catalogue, nowMs)?.plan)?.id ?? facts.basePlanId;
}

/** The seats of that plan if it is paid: another has none, or one. */
export const effectiveSeats = (facts: MembershipFacts, catalogue: StateCatalogue, nowMs: number): number | null =>
  givenPlan(toMembershipState(facts, catalogue, nowMs)) ? (facts.seats ?? null) : null;

/** End of the trial; null: there is none. */
export function trialUntil({
  status,
  pricedPlanId,
  trialEnd,
}: Pick<Membership, 'status' | 'pricedPlanId' | 'trialEnd'>): number | null {
  return status === 'trialing' && pricedPlanId === trialPlanKey ? trialEnd : null;
}

/**
 * How to change from the present state to a plan. `first`: nothing is paid yet, the whole plan is charged now.
 * `upgrade`: charged now, with a credit for the unused time. `later`: at the end of the paid period.
 */
export type ChangeKind = 'none' | 'first' | 'upgrade' | 'later';

/** The paid plan with which the subscription continues, also while it is unpaid; undefined: there is none. */
export function currentPaidPlan(catalogue: Pick<Catalogue, 'byId'>, facts: MembershipFacts): Plan | undefined {
  if (facts.status === 'paused') return undefined;
  // Whether an unpaid plan is kept depends on the time; that there is one does not.
  const state = toMembershipState(facts, { byId: catalogue.byId, graceDays: 0 }, 0);
  // Nothing of it is paid yet.
  if (state.kind === 'trying') return undefined;
  return state.kind === 'resting' ? findPlan(catalogue, facts.paidPlanId, facts.seats) : givenPlan(state);
}

/** The paid plan that is tried, and charged later unless it ends; undefined: there is none. */
export function findTriedPlan(catalogue: Pick<Catalogue, 'byId'>, facts: MembershipFacts): Plan | undefined {
  const state = toMembershipState(facts, { byId: catalogue.byId, graceDays: 0 }, 0);
  return state.kind === 'trying' ? state.plan : undefined;
}

/** The paid plan of a user who can change its number of seats; undefined: there is none, or it is not sold by the seat. */
export function findPlanOfSeats(
  membership: Membership,
  catalogue: Pick<Catalogue, 'byId' | 'graceDays'>,
  nowMs: number,
): Plan | undefined {
  if (membership.noted !== undefined || membership.pending !== null || membership.unpaid !== null) return undefined;
  const state = toMembershipState(membership, catalogue, nowMs);
  const isPaid = state.kind === 'paid' || state.kind === 'changing' || state.kind === 'ending';
  return isPaid && state.plan.seats !== null ? state.plan : undefined;
}

/**
 * A higher plan, or the same with a yearly instead of a monthly interval, is an upgrade. By debit it comes at the period's
 * end: a bank answers after days, and the plan before is paid.
 */
export function changeKind(
  catalogue: Pick<Catalogue, 'byId' | 'plans'>,
  membership: MembershipFacts & Partial<Pick<Membership, 'card'>>,
  plan: Plan,
): ChangeKind {
  const kind = changeKindByCard(catalogue, membership, plan);
  return kind === 'upgrade' && isDebit(membership.card ?? null) ? 'later' : kind;
}

/** More seats are an upgrade, fewer come at the period's end. */
function changeOfSeats({ chosenSeats: from = 1 }: Plan, { chosenSeats: to = from }: Plan): ChangeKind {
  if (from === to) return 'none';
  return to > from ? 'upgrade' : 'later';
}

/** The same with a card. */
export function changeKindByCard(
  catalogue: Pick<Catalogue, 'byId' | 'plans'>,
  membership: MembershipFacts,
  plan: Plan,
): ChangeKind {
  const current = currentPaidPlan(catalogue, membership);
  if (!current) return findTriedPlan(catalogue, membership)?.id === plan.id ? 'none' : 'first';
  if (current.id === plan.id) return changeOfSeats(current, plan);
  const [from, to] = [planRank(catalogue, current), planRank(catalogue, plan)];
  // Of a higher plan with fewer seats, which costs less: what is left of the present one would be given back.
  if ((current.seats ?? plan.seats) && current.type === plan.type && plan.amountCents < current.amountCents)
    return 'later';
  return to > from || (to === from && current.type === '1' && plan.type === '2') ? 'upgrade' : 'later';
}

/** A paid plan that renews. */
interface RenewingMembership {
  plan: Plan | undefined;
  /** End of the paid or grace period (milliseconds since the epoch). */
  until: number | null;
  /** The last renewal could not be charged. */
  unpaid: boolean;
  /** Nothing of it is paid yet: it is tried until then. */
  isTrial?: boolean;
}

/** The plan that would be charged again unless it is ended, possibly as another plan. Undefined: none, or it ends. */
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
    case 'pausing':
      return state.plan.kind === 'paid'
        ? { plan: state.plan, until: paidUntil ?? periodEnd, unpaid: false }
        : undefined;
    case 'trying':
      if (state.ends) return undefined;
      return { plan: state.plan, until: state.until, unpaid: false, isTrial: !state.isCharged };
    case 'grace':
    case 'resting':
      // A scheduled end with a following plan is a change of plan.
      if (cancelAtPeriodEnd && nextPlanId === null) return undefined;
      return { plan: state.plan, until: graceEndsAt(membership, catalogue) ?? null, unpaid: true };
    default:
      return undefined;
  }
}

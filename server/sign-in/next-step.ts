import type { PlanId } from '../shared/index.ts';
import { findOpenStep, isDealPostponed, type OpenStep, type TermsVersion, type User } from '../users/index.ts';

/** All facts that decide the next step of a sign-in. */
export interface NextStepInput {
  /** The password was right, but the second factor was not presented yet. */
  secondFactorPending: boolean;
  user: Pick<
    User,
    | 'emailVerified'
    | 'acceptedTosVersion'
    | 'source'
    | 'planId'
    | 'offeredPlanId'
    | 'dealAgainAt'
    | 'secondFactorRequired'
    | 'mfaPreference'
  >;
  terms: TermsVersion;
  /** The requested page is open to users who have not accepted the terms. */
  beforeTerms?: boolean;
  /** The id of the pending authorization request of a client app. */
  authorization?: string | undefined;
  /** The requested page of this site, already checked. */
  returnTo?: string | undefined;
  /** Whether plans can be bought. */
  plansAreSold: boolean;
  nowMs: number;
}

export type Step =
  | { kind: 'second-factor' }
  | { kind: OpenStep }
  | { kind: 'authorization'; id: string }
  | { kind: 'return'; address: string }
  | { kind: 'partner-upgrade'; planId: PlanId }
  | { kind: 'choose-plan' }
  | { kind: 'search-app' };

/**
 * The only place that decides the next step of a user (the specification's section 4, Post-login routing): the event
 * `continued` of `sign-in-state.ts`. Steps never name each other: each ends with a call of this function. Those before
 * every page are in `users/user.ts`, because guards ask for them at each request.
 */
export function nextStep(situation: NextStepInput): Step {
  const {
    secondFactorPending,
    user,
    terms,
    beforeTerms = false,
    authorization,
    returnTo,
    plansAreSold,
    nowMs,
  } = situation;
  if (secondFactorPending) return { kind: 'second-factor' };
  const open = findOpenStep(user, beforeTerms ? undefined : terms);
  if (open) return { kind: open };
  if (authorization !== undefined) return { kind: 'authorization', id: authorization };
  if (returnTo !== undefined) return { kind: 'return', address: returnTo };
  if (
    plansAreSold &&
    user.source === 'appsumo_update' &&
    user.offeredPlanId !== null &&
    !isDealPostponed(user, nowMs)
  ) {
    return { kind: 'partner-upgrade', planId: user.offeredPlanId };
  }
  if (plansAreSold && user.planId === null) return { kind: 'choose-plan' };
  return { kind: 'search-app' };
}

/** Steps that precede an authorization, also for users who are already signed in. */
const beforeAuthorization: ReadonlySet<Step['kind']> = new Set([
  'second-factor',
  'confirm-email',
  'accept-terms',
  'set-up-second-factor',
]);

export function blocksAuthorization(step: Step): boolean {
  return beforeAuthorization.has(step.kind);
}

import type { PlanId } from '../shared/index.ts';
import { isDealPostponed, mustAcceptTerms, type TermsVersion, type User } from '../users/index.ts';

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
  | { kind: 'confirm-email' }
  | { kind: 'accept-terms' }
  /** A provider of the user requires a second factor, and the user has none. */
  | { kind: 'set-up-second-factor' }
  | { kind: 'authorization'; id: string }
  | { kind: 'return'; address: string }
  | { kind: 'partner-upgrade'; planId: PlanId }
  | { kind: 'choose-plan' }
  | { kind: 'search-app' };

/** A provider of the user requires a second factor, and the user has none: no other page is open until then. */
export const mustSetUpSecondFactor = ({
  secondFactorRequired,
  mfaPreference,
}: Pick<User, 'secondFactorRequired' | 'mfaPreference'>): boolean => secondFactorRequired && mfaPreference === 'none';

/**
 * The only place that decides the next step of a user (the specification's section 4, Post-login routing): the event
 * `continued` of `sign-in-state.ts`. Steps never name each other: each ends with a call of this function.
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
  if (!user.emailVerified) return { kind: 'confirm-email' };
  if (!beforeTerms && mustAcceptTerms(user, terms)) return { kind: 'accept-terms' };
  if (mustSetUpSecondFactor(user)) return { kind: 'set-up-second-factor' };
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

import { isDealPostponed, mustAcceptTerms, type TermsVersion, type User } from '../users/index.ts';

/** Everything that decides what comes after a sign-in. */
export interface NextStepInput {
  /** The password was right, but a second factor has not been shown yet. */
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
  /** The page that is wanted is open to members who have not accepted the terms. */
  beforeTerms?: boolean;
  /** A client app waits: the pending authorization request's id. */
  authorization?: string | undefined;
  /** A page of this site that the visitor wanted, already checked. */
  returnTo?: string | undefined;
  /** Whether the room that sells plans is open. */
  plansAreSold: boolean;
  nowMs: number;
}

export type Step =
  | { kind: 'second-factor' }
  | { kind: 'confirm-email' }
  | { kind: 'accept-terms' }
  /** A provider of the member demands a second factor here, and they have none. */
  | { kind: 'set-up-second-factor' }
  | { kind: 'authorization'; id: string }
  | { kind: 'return'; address: string }
  | { kind: 'partner-upgrade'; planId: string }
  | { kind: 'choose-plan' }
  | { kind: 'search-app' };

/** A provider of the member demands a second factor here, and they have none: until then nothing else is open. */
export const mustSetUpSecondFactor = ({
  secondFactorRequired,
  mfaPreference,
}: Pick<User, 'secondFactorRequired' | 'mfaPreference'>): boolean => secondFactorRequired && mfaPreference === 'none';

/**
 * The one place that decides what a member does next (the specification's section 4, Post-login routing; architecture,
 * section 4). Steps never name each other: each ends by asking here.
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

/** Steps that come before a client app gets anything, also when the member is signed in already. */
const beforeAuthorization: ReadonlySet<Step['kind']> = new Set([
  'second-factor',
  'confirm-email',
  'accept-terms',
  'set-up-second-factor',
]);

export function blocksAuthorization(step: Step): boolean {
  return beforeAuthorization.has(step.kind);
}

import { type ApiAccess, HttpError, isRecentAt, recentAuthMs } from '../http/index.ts';
import type { Step } from '../sign-in/index.ts';
import type { User } from '../users/index.ts';
import { mustSetUpSecondFactor } from '../users/index.ts';
import { challenge } from './api-refusals.ts';

export interface UserRuleDeps {
  /** The next step of a user, from the sign-in. */
  toNextStep: (user: User) => Step;
  now: () => number;
}

/** The authentication of a call. */
interface CallAuthentication {
  user: User;
  amr: readonly string[];
  /** The time of the authentication with all factors of the user. */
  authTimeMs: number | undefined;
}

/** Refuses users who are not ready for the call, or whose authentication is too old for it. @throws {HttpError} */
export function refuseUser(
  { toNextStep, now }: UserRuleDeps,
  access: ApiAccess,
  authentication: CallAuthentication,
): void {
  refuseUnready(toNextStep, access, authentication.user);
  refuseLate(access, authentication, now());
}

/**
 * Steps that block a user on the pages also block the calls. Without a required second factor only its set-up is
 * open; before new terms are accepted only reads are. Reads stay open so that a client app does not fail for all
 * users on the day of new terms; the next sign-in, also a silent one, asks for them.
 */
function refuseUnready(toNextStep: UserRuleDeps['toNextStep'], { settingUp, reads }: ApiAccess, user: User): void {
  if (mustSetUpSecondFactor(user) && !settingUp)
    throw new HttpError('secondFactorRequired', { detail: 'second factor required but not set up' });
  const refusal = reads ? undefined : findChangeRefusal(toNextStep, user);
  if (refusal) throw refusal;
}

/** The refusal of every change by a user who has a step before them; undefined: the user may change. */
export function findChangeRefusal(toNextStep: UserRuleDeps['toNextStep'], user: User): HttpError | undefined {
  const { kind } = toNextStep(user);
  if (kind === 'accept-terms') return new HttpError('termsNotAccepted', { detail: 'new terms' });
  if (kind === 'confirm-email') return new HttpError('emailNotVerified', { detail: 'email address not verified' });
  return undefined;
}

/**
 * The rule requires a recent authentication with all factors of the user. RFC 9470, section 3: `max_age` names the age,
 * and `acr_values` is present if the second factor is missing, so that the client app can ask for both.
 */
function refuseLate({ recent }: ApiAccess, { user, amr, authTimeMs }: CallAuthentication, nowMs: number): void {
  const hasFactor = user.mfaPreference !== 'none';
  if (recent === undefined || (recent === 'with-second-factor' && !hasFactor) || isRecentAt(authTimeMs, nowMs)) return;
  const lacksFactor = hasFactor && !amr.includes('mfa');
  throw new HttpError('insufficientAuthentication', {
    detail: lacksFactor ? 'authenticated without the second factor' : 'authenticated too long ago',
    extra: { max_age: recentAuthMs / 1000, ...(lacksFactor && { acr_values: 'aal2' }) },
    ...challenge(
      'error="insufficient_user_authentication"',
      `error_description="${lacksFactor ? 'the second factor is needed' : 'a more recent authentication is needed'}"`,
      ...(lacksFactor ? ['acr_values="aal2"'] : []),
      `max_age=${recentAuthMs / 1000}`,
    ),
  });
}

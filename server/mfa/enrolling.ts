import type { Origin } from '../messages/index.ts';
import type { FlowId } from '../shared/index.ts';
import type { MfaPreference, User } from '../users/index.ts';
import { listAuthenticators, type UserAuthenticators } from './authenticators.ts';
import { changeMfaPreference, reissueRecoveryCodes, type SetMfaPreferenceResult } from './mfa-preference.ts';
import {
  type ActivateTotpResult,
  activateTotp,
  beginTotp,
  findTotpSetup,
  type TotpEnrolmentDeps,
  type TotpSetup,
} from './totp-enrolment.ts';

/** Management of second factors, for pages and calls alike. */
export interface Enrolling {
  findFactors(user: User): Promise<UserAuthenticators>;
  /** @returns the setup, and its id: a secret of the browser or caller that started it */
  beginTotp(user: User): Promise<TotpSetup & { setupId: FlowId }>;
  findTotpSetup(setupId: FlowId, user: User): Promise<TotpSetup | undefined>;
  activateTotp(setupId: FlowId, user: User, typed: string, from: Origin): Promise<ActivateTotpResult>;
  prefer(user: User, expected: MfaPreference, from: Origin): Promise<SetMfaPreferenceResult>;
  /** @returns undefined if there is no second factor that they could replace */
  reissueRecoveryCodes(user: User, from: Origin): Promise<string[] | undefined>;
}

export function createEnrolling(deps: TotpEnrolmentDeps): Enrolling {
  return {
    findFactors: (user) => listAuthenticators(deps.database, user),
    beginTotp: (user) => beginTotp(deps, user),
    findTotpSetup: (setupId, user) => findTotpSetup(deps, setupId, user),
    activateTotp: (setupId, user, typed, from) => activateTotp(deps, setupId, user, typed, from),
    prefer: (user, expected, from) => changeMfaPreference(deps, user, expected, from),
    reissueRecoveryCodes: (user, from) => reissueRecoveryCodes(deps, user, from),
  };
}

import type { MfaPreference, User } from '../account/index.ts';
import type { Origin } from '../messages/index.ts';
import {
  type Activated,
  activateTotp,
  beginTotp,
  type EnrolmentDeps,
  findTotpSetup,
  type TotpSetup,
} from './enrolment.ts';
import { type Factors, factorsOf } from './factors.ts';
import { type Preferred, preferFactor, reissueRecoveryCodes } from './preference.ts';

/** How members look after their second factors; pages and calls alike. */
export interface Enrolling {
  factorsOf(user: User): Promise<Factors>;
  /** @returns the setup, and its id: a secret of whoever began it */
  beginTotp(user: User): Promise<TotpSetup & { flow: string }>;
  findTotpSetup(flow: string, user: User): Promise<TotpSetup | undefined>;
  activateTotp(flow: string, user: User, typed: string, from: Origin): Promise<Activated>;
  prefer(user: User, wanted: MfaPreference, from: Origin): Promise<Preferred>;
  /** @returns undefined when there is no second factor in whose place they could stand */
  reissueRecoveryCodes(user: User, from: Origin): Promise<string[] | undefined>;
}

export function createEnrolling(deps: EnrolmentDeps): Enrolling {
  return {
    factorsOf: (user) => factorsOf(deps.database, user),
    beginTotp: (user) => beginTotp(deps, user),
    findTotpSetup: (flow, user) => findTotpSetup(deps, flow, user),
    activateTotp: (flow, user, typed, from) => activateTotp(deps, flow, user, typed, from),
    prefer: (user, wanted, from) => preferFactor(deps, user, wanted, from),
    reissueRecoveryCodes: (user, from) => reissueRecoveryCodes(deps, user, from),
  };
}

import type { User } from './user.ts';

/** A version of the terms of service. */
export interface TermsVersion {
  number: number;
  label: string;
}

/** Tests whether a user must accept the terms (again): never accepted, or an older version than the current one. */
export function mustAcceptTerms(user: Pick<User, 'acceptedTosVersion'>, current: TermsVersion): boolean {
  return user.acceptedTosVersion === null || current.number > user.acceptedTosVersion;
}

import { isMalformed } from '../http/index.ts';
import type { PasswordFault, PasswordPolicy } from '../password/index.ts';
import type { NormalisedEmail } from '../shared/index.ts';
import { maxNameLength, normaliseEmail } from '../users/index.ts';

/** The typed input of a sign-up; texts as they came. */
export interface ProfileInput {
  givenName: string;
  familyName: string;
  email: string;
  password: string;
}

/** Valid input. */
export type Profile = Omit<ProfileInput, 'email'> & { email: NormalisedEmail };

/** The faults of each field (the specification's section 5). */
export interface ProfileFaults {
  empty: (keyof ProfileInput)[];
  /** 'Invalid E-Mail Address' */
  email: boolean;
  /** The faults of the typed password. */
  password: PasswordFault[];
  /** Too long, or with characters that cannot be typed: 'Validation Error Detected'. */
  malformed: boolean;
}

/** Longer than any address, plus a margin for a typing error. */
export const maxEmailCharacters = 320;
const names = ['givenName', 'familyName'] as const;

/**
 * Reads the input: names trimmed, the address normalized, the password unchanged.
 * @returns valid input, or its faults
 */
export async function parseProfile(
  typed: ProfileInput,
  policy: PasswordPolicy,
): Promise<{ profile: Profile } | { faults: ProfileFaults }> {
  const trimmed = { ...typed, givenName: typed.givenName.trim(), familyName: typed.familyName.trim() };
  const email = normaliseEmail(typed.email);
  const empty = ([...names, 'email'] as const).filter((name) => trimmed[name].trim() === '');
  const faults: ProfileFaults = {
    empty: [...empty],
    email: email === undefined && !empty.includes('email'),
    password: [],
    malformed:
      names.some((name) => isMalformed(trimmed[name], maxNameLength)) ||
      isMalformed(typed.email.trim(), maxEmailCharacters),
  };
  if (typed.password === '') faults.empty.push('password');
  else faults.password = await policy.faults(typed.password, { ...trimmed, email: email ?? typed.email });
  if (faults.password.includes('malformed')) faults.malformed = true;
  const fine = faults.empty.length === 0 && !faults.email && faults.password.length === 0 && !faults.malformed;
  return fine && email !== undefined ? { profile: { ...trimmed, email } } : { faults };
}

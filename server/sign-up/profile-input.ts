import { isMalformed } from '../http/index.ts';
import type { PasswordFault, PasswordPolicy } from '../password/index.ts';
import { maxNameLength, normaliseEmail } from '../users/index.ts';

/** What is typed to begin an account; texts as they came. */
export interface ProfileInput {
  givenName: string;
  familyName: string;
  email: string;
  password: string;
}

/** What is wrong with it, field by field (the specification's section 5). */
export interface ProfileFaults {
  empty: (keyof ProfileInput)[];
  /** 'Invalid E-Mail Address' */
  email: boolean;
  /** Of a password that was typed: why it may not be used. */
  password: PasswordFault[];
  /** Too long, or with characters that nobody types: 'Validation Error Detected'. */
  malformed: boolean;
}

/** Of what is typed as an address: more than any has, with room for a slip. */
export const maxEmailCharacters = 320;
const names = ['givenName', 'familyName'] as const;

/**
 * Reads what was typed: names trimmed, the address as it is stored and compared, the password as it is.
 * @returns what can begin an account, or what is wrong with it
 */
export async function parseProfile(
  typed: ProfileInput,
  policy: PasswordPolicy,
): Promise<{ profile: ProfileInput } | { faults: ProfileFaults }> {
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

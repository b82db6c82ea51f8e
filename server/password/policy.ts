import { type PersonalData, passwordStrength } from '../../views/parts/password-strength.ts';
import { malformed } from '../http/index.ts';

export type { PersonalData } from '../../views/parts/password-strength.ts';

/** Longer than any password manager makes; the hash must not be given megabytes. */
export const mostPasswordCharacters = 256;

/** Each but the last is a line of the checklist that members see. */
export type PasswordFault = 'too-short' | 'no-number-or-symbol' | 'contains-personal-data' | 'malformed';

/**
 * What is wrong with a new password, nothing when it may be used (architecture, section 9: the three lines of the
 * checklist, all needed). Passwords are taken as they are, never trimmed.
 */
export function passwordFaults(password: string, personal: PersonalData): PasswordFault[] {
  const met = passwordStrength(password, personal);
  const faults: PasswordFault[] = [];
  if (!met.length) faults.push('too-short');
  if (!met.numberOrSymbol) faults.push('no-number-or-symbol');
  if (!met.notPersonal) faults.push('contains-personal-data');
  // What the sign-in form refuses unread must not become a password.
  if (malformed(password, mostPasswordCharacters)) faults.push('malformed');
  return faults;
}

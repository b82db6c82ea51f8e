import { malformed } from '../http/index.ts';

/** Longer than any password manager makes; the hash must not be given megabytes. */
export const mostPasswordCharacters = 256;
const leastCharacters = 8;
/** A name of one letter is in nearly every password. */
const leastNameCharacters = 2;

/** Each but the last is a line of the checklist that members see. */
export type PasswordFault = 'too-short' | 'no-number-or-symbol' | 'contains-personal-data' | 'malformed';

/** What a password must not contain. Empty when unknown. */
export interface PersonalData {
  email: string;
  givenName?: string;
  familyName?: string;
}

/** How texts are compared: neither case nor the way in which a letter is composed makes a difference. */
const plain = (text: string) => text.normalize('NFKC').toLowerCase();
const length = (text: string) => [...text].length;

/**
 * What is wrong with a new password, nothing when it may be used (architecture, section 9: the three lines of the
 * checklist, all needed). Passwords are taken as they are, never trimmed.
 */
export function passwordFaults(
  password: string,
  { email, givenName = '', familyName = '' }: PersonalData,
): PasswordFault[] {
  const faults: PasswordFault[] = [];
  if (length(password) < leastCharacters) faults.push('too-short');
  if (!/[\p{N}\p{P}\p{S}]/u.test(password)) faults.push('no-number-or-symbol');
  const text = plain(password);
  const names = [email, givenName, familyName].map((name) => plain(name.trim()));
  if (names.some((name) => length(name) >= leastNameCharacters && text.includes(name))) {
    faults.push('contains-personal-data');
  }
  // What the sign-in form refuses unread must not become a password.
  if (malformed(password, mostPasswordCharacters)) faults.push('malformed');
  return faults;
}

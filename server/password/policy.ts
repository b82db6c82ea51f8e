import { type PersonalData, passwordStrength } from '../../views/parts/password-strength.ts';
import { type Logger, malformedSecret } from '../http/index.ts';
import { breachedByApi } from './breached-api.ts';
import { isListed, shippedList } from './breached-list.ts';

export type { PersonalData } from '../../views/parts/password-strength.ts';

/** Longer than any password manager makes; the hash must not be given megabytes. */
export const maxPasswordLength = 256;

/** The first three are the lines of the checklist that members see; a breached one meets them all. */
export type PasswordFault = 'too-short' | 'no-number-or-symbol' | 'contains-personal-data' | 'malformed' | 'breached';

/**
 * What is wrong with a new password, nothing when it may be used (`specification.md`, section 5: the three lines of the
 * checklist, all needed, and none that is commonly breached). Passwords are taken as they are, never trimmed.
 */
export function passwordFaults(password: string, personal: PersonalData): PasswordFault[] {
  const met = passwordStrength(password, personal);
  const faults: PasswordFault[] = [];
  if (!met.length) faults.push('too-short');
  if (!met.numberOrSymbol) faults.push('no-number-or-symbol');
  if (!met.notPersonal) faults.push('contains-personal-data');
  // What the sign-in form refuses unread must not become a password.
  if (malformedSecret(password, maxPasswordLength)) faults.push('malformed');
  if (faults.length === 0 && isListed(shippedList(), password)) faults.push('breached');
  return faults;
}

/** Which new passwords may be used: at sign-up, when one is reset or changed, and by the command line. */
export interface PasswordPolicy {
  /** As `passwordFaults`, and also asks whom the configuration says to ask. */
  faults(password: string, personal: PersonalData): Promise<PasswordFault[]>;
}

/**
 * @param settings.breachedApi the address of a range interface to ask as well; unset: the list that comes with Foyer decides
 *   alone
 */
export function createPasswordPolicy({
  breachedApi,
  log,
}: {
  breachedApi?: string | undefined;
  log: Logger;
}): PasswordPolicy {
  // Where the list is missing, Foyer does not start.
  shippedList();
  const ask = breachedApi === undefined ? undefined : breachedByApi(breachedApi, log);
  return {
    async faults(password, personal) {
      const faults = passwordFaults(password, personal);
      // Nobody else is asked about a password that is refused anyway.
      return faults.length === 0 && (await ask?.(password)) ? ['breached'] : faults;
    },
  };
}

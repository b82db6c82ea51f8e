import { type PersonalData, passwordStrength } from '../../views/parts/password-strength.ts';
import { type Logger, malformedSecret } from '../http/index.ts';
import { breachedByApi } from './breached-api.ts';
import { isListed, shippedList } from './breached-list.ts';

/** Longer than any password manager creates; bounds the input of the hash. */
export const maxPasswordLength = 256;

/** The first three are the lines of the checklist that users see; a breached password meets them all. */
export type PasswordFault = 'too-short' | 'no-number-or-symbol' | 'contains-personal-data' | 'malformed' | 'breached';

/**
 * The faults of a new password, none if it is acceptable (`specification.md`, section 5: the three lines of the
 * checklist, all required, and not commonly breached). Passwords are used unchanged, never trimmed.
 */
export function passwordFaults(password: string, personal: PersonalData): PasswordFault[] {
  const met = passwordStrength(password, personal);
  const faults: PasswordFault[] = [];
  if (!met.length) faults.push('too-short');
  if (!met.numberOrSymbol) faults.push('no-number-or-symbol');
  if (!met.notPersonal) faults.push('contains-personal-data');
  // The sign-in form rejects such input, so it must not become a password.
  if (malformedSecret(password, maxPasswordLength)) faults.push('malformed');
  if (faults.length === 0 && isListed(shippedList(), password)) faults.push('breached');
  return faults;
}

/** Decides which new passwords are acceptable: at sign-up, reset and change, and on the command line. */
export interface PasswordPolicy {
  /** Like `passwordFaults`, and also asks the service that is configured. */
  faults(password: string, personal: PersonalData): Promise<PasswordFault[]>;
}

/**
 * @param settings.breachedApi the address of an additional range interface; unset: only the list that comes with Foyer
 * decides
 */
export function createPasswordPolicy({
  breachedApi,
  log,
}: {
  breachedApi?: string | undefined;
  log: Logger;
}): PasswordPolicy {
  // Without the list, Foyer does not start.
  shippedList();
  const ask = breachedApi === undefined ? undefined : breachedByApi(breachedApi, log);
  return {
    async faults(password, personal) {
      const faults = passwordFaults(password, personal);
      // A password that is refused anyway is not sent anywhere.
      return faults.length === 0 && (await ask?.(password)) ? ['breached'] : faults;
    },
  };
}

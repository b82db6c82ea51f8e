import { createHash } from 'node:crypto';
import type { Logger } from '../http/index.ts';
import { readShortText } from '../shared/index.ts';

/** Longer than the service needs; a user who chooses a password does not wait longer. */
const timeoutMs = 1_500;
/** Padded answers have 800 to 1,000 lines of some 40 characters. */
const maxBytes = 200_000;

/**
 * Asks the range interface of Have I Been Pwned whether a password has been breached. It gets the first 5 of the 40
 * digits of the password's SHA-1, and returns all hashes with that prefix (k-anonymity; "Pwned Passwords" API v3). If
 * it does not answer, only the list that comes with Foyer decides.
 * @param base the address before the five digits, as in `https://api.pwnedpasswords.com/range`
 */
export function breachedByApi(base: string, log: Logger): (password: string) => Promise<boolean> {
  return async (password) => {
    const sha1 = createHash('sha1').update(password).digest('hex').toUpperCase();
    const [prefix, suffix] = [sha1.slice(0, 5), sha1.slice(5)];
    try {
      const answer = await fetch(`${base.replace(/\/$/, '')}/${prefix}`, {
        // Answers of equal length do not reveal the requested range to an eavesdropper.
        headers: { 'add-padding': 'true', 'user-agent': 'Foyer' },
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      });
      if (!answer.ok) throw new Error(`it answered ${answer.status}`);
      const text = await readShortText(answer, maxBytes);
      if (text === undefined) throw new Error('its answer is too long');
      return text.split(/\r?\n/).some((line) => {
        const [rest, count] = line.split(':');
        // Padding has a count of 0.
        return rest === suffix && Number(count) > 0;
      });
    } catch (error) {
      log.warn({ err: error }, 'breached password service unavailable: built-in list used');
      return false;
    }
  };
}

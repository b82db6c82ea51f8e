import type { Transaction } from 'kysely';
import type { User } from '../account/index.ts';
import type { Outbox, SecurityChange } from '../messages/index.ts';
import type { Schema } from '../store/index.ts';
import { mailAbout, type Origin } from './origin.ts';

/** Long enough to recognise one's own words. */
const mostDetailCharacters = 80;

/**
 * Tells a member by mail what has been changed, in the transaction of the change. Call `outbox.wake` after the commit.
 * @param user as they are reached: where the address itself changes, the one before
 * @param detail which one, in the member's words: a passkey's name, say
 */
export async function tellOfChange(
  trx: Transaction<Schema>,
  { outbox, now }: { outbox: Outbox; now: () => number },
  user: Pick<User, 'email' | 'givenName' | 'locale'>,
  change: SecurityChange,
  from: Origin,
  detail?: string,
): Promise<void> {
  const { mail, values } = mailAbout(user, from, now());
  const short = detail !== undefined && { detail: Array.from(detail).slice(0, mostDetailCharacters).join('') };
  await outbox.add(trx, { ...mail, template: 'security-notice', values: { ...values, change, ...short } });
}

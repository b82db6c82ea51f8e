import type { Request } from 'express';
import type { Transaction } from 'kysely';
import type { User } from '../account/index.ts';
import { type Language, languageOf, translator } from '../http/index.ts';
import type { Outbox, SecurityChange } from '../messages/index.ts';
import type { Schema } from '../store/index.ts';
import { deviceName } from './device-name.ts';

/** Where a change came from, as the mail about it says. */
export interface Origin {
  ip: string;
  userAgent: string | undefined;
  /** What the browser asks for; a member's own choice goes before it. */
  lang: Language;
}

export const originOf = (req: Request): Origin => ({
  ip: req.ip ?? '',
  userAgent: req.get('user-agent'),
  lang: languageOf(req.get('accept-language')),
});

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
  const lang = languageOf(from.lang, user.locale ?? undefined);
  await outbox.add(trx, {
    channel: 'mail',
    to: user.email,
    template: 'security-notice',
    lang,
    values: {
      givenName: user.givenName,
      atMs: now(),
      change,
      ...(detail !== undefined && { detail: Array.from(detail).slice(0, mostDetailCharacters).join('') }),
      device: deviceName(translator(lang), from.userAgent),
      address: from.ip.replace(/^::ffff:/, ''),
    },
  });
}

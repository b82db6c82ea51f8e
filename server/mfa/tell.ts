import type { User } from '../account/index.ts';
import { languageOf, translator } from '../http/index.ts';
import { deviceName, type Origin } from '../session/index.ts';
import type { MfaDeps } from './deps.ts';

type TellDeps = Pick<MfaDeps, 'database' | 'kv' | 'outbox' | 'log' | 'now'>;

/** What every mail about a challenge says: when, and from where. */
export function addressed({ now }: Pick<MfaDeps, 'now'>, user: User, from: Origin) {
  const lang = languageOf(from.lang, user.locale ?? undefined);
  return {
    mail: { channel: 'mail', to: user.email, lang },
    values: {
      givenName: user.givenName,
      atMs: now(),
      device: deviceName(translator(lang), from.userAgent),
      address: from.ip.replace(/^::ffff:/, ''),
    },
  } as const;
}

const onceInMs = 24 * 60 * 60_000;

/**
 * Tells a member by mail that somebody who has the password tries codes. Once a day; the answer to the guess does not
 * depend on it.
 */
export async function tellOfGuesses(deps: TellDeps, user: User, from: Origin): Promise<void> {
  const { database, kv, outbox, log } = deps;
  const told = `mfa-guesses-told:${user.id}`;
  try {
    if (!(await kv.setIfAbsent(told, '1', onceInMs))) return;
    const { mail, values } = addressed(deps, user, from);
    await database.transaction((trx) => outbox.add(trx, { ...mail, template: 'second-factor-guessed', values }));
    outbox.wake();
  } catch (error) {
    log.error({ err: error }, 'no mail about guesses at a second factor');
  }
}

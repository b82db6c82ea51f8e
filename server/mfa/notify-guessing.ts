import { mailAbout, type Origin } from '../messages/index.ts';
import type { User } from '../users/index.ts';
import type { MfaDeps } from './deps.ts';

type NotifyDeps = Pick<MfaDeps, 'database' | 'kv' | 'outbox' | 'log' | 'now'>;

const onceInMs = 24 * 60 * 60_000;

/**
 * Notifies a user by mail that someone who knows the password tries codes. Once a day; the answer to the attempt does
 * not depend on it.
 */
export async function notifyGuessing(deps: NotifyDeps, user: User, from: Origin): Promise<void> {
  const { database, kv, outbox, log } = deps;
  const notified = `mfa-guesses-told:${user.id}`;
  try {
    if (!(await kv.setIfAbsent(notified, '1', onceInMs))) return;
    const { mail, values } = mailAbout(user, from, deps.now());
    await database.transaction((trx) => outbox.add(trx, { ...mail, template: 'second-factor-guessed', values }));
    outbox.wake();
  } catch (error) {
    log.error({ err: error }, 'could not mail about second factor attempts');
  }
}

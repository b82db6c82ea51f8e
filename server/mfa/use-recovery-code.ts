import { mailAbout, type Origin } from '../messages/index.ts';
import type { User } from '../users/index.ts';
import type { MfaDeps } from './deps.ts';
import { consumeRecoveryCode, countRecoveryCodes, hashRecoveryCode } from './recovery-code-store.ts';

/**
 * Uses up a recovery code and notifies the user by mail, in one transaction, so that no code is used unnoticed.
 * @param code from `normaliseRecoveryCode`
 * @returns false if the user has no such unused code
 */
export async function consumeRecoveryCodeAndNotify(
  deps: Pick<MfaDeps, 'database' | 'outbox' | 'now'>,
  user: User,
  { code, from }: { code: string; from: Origin },
): Promise<boolean> {
  const { database, outbox, now } = deps;
  const used = await database.transaction(async (trx) => {
    if (!(await consumeRecoveryCode(trx, user.id, { hash: hashRecoveryCode(code), nowMs: now() }))) return false;
    const { left } = await countRecoveryCodes(trx, user.id);
    const { mail, values } = mailAbout(user, from, now());
    await outbox.add(trx, { ...mail, template: 'recovery-code-used', values: { ...values, left } });
    return true;
  });
  if (used) outbox.wake();
  return used;
}

import type { Language } from '../http/index.ts';
import type { EndedBy } from '../sessions/index.ts';
import { setPassword, type User } from '../users/index.ts';
import type { PasswordRuleDeps } from './deps.ts';
import type { PasswordWork } from './queue.ts';
import { mailLanguage } from './request-reset.ts';

export interface NewPassword {
  password: string;
  lang: Language;
  emailVerified?: true;
  /** Of whoever asked for it; undefined: a command of the operator. */
  ip?: string | undefined;
  /** The known device's id, when this browser has signed in to this account before. */
  device?: string | undefined;
}

/** For whom a new password is hashed (`queue.ts`). */
export const toWork = (
  { email }: Pick<User, 'email'>,
  { ip, device }: Pick<NewPassword, 'ip' | 'device'>,
): PasswordWork => (ip === undefined ? 'operator' : { account: email, ip, device });

/**
 * Sets a member's new password and ends everything that was begun with the old one: sessions, the client apps' grants and
 * refresh tokens, known devices, codes under way. The member is told by mail, in the same transaction.
 * @param user as they were when the right to do so was shown
 * @returns the member as they are now; undefined where password or address have changed meanwhile, and nothing was done
 * @throws {PasswordQueueFull}
 */
export async function replacePassword(
  {
    database,
    passwords,
    outbox,
    sessions,
    now,
  }: Pick<PasswordRuleDeps, 'database' | 'passwords' | 'outbox' | 'now'> & {
    sessions: { endAll(userId: string, which: EndedBy): Promise<unknown> };
  },
  user: User,
  { password, lang, emailVerified, ...from }: NewPassword,
): Promise<User | undefined> {
  const passwordHash = await passwords.hash(password, toWork(user, from));
  const voided = { upToEpoch: user.passwordEpoch };
  // Before as well: should this process die right after the commit, next to nothing is left to end. Of many changes at once
  // one succeeds: the others end no session that it has begun.
  await sessions.endAll(user.id, voided);
  const nowMs = now();
  const { id, email, givenName } = user;
  const isSet = await database.transaction(async (trx) => {
    const set = await setPassword(trx, user, { passwordHash, ...(emailVerified && { emailVerified }) }, nowMs);
    if (!set) return false;
    await outbox.add(trx, {
      channel: 'mail',
      to: email,
      template: 'password-changed',
      lang: mailLanguage(user, lang),
      values: { givenName, atMs: nowMs },
    });
    return true;
  });
  if (!isSet) return undefined;
  outbox.wake();
  // A sign-in that is under way sees the new epoch, or stands in the list by now (session/).
  await sessions.endAll(id, voided);
  return {
    ...user,
    passwordHash,
    passwordEpoch: user.passwordEpoch + 1,
    emailVerified: user.emailVerified || emailVerified === true,
    updatedAt: nowMs,
  };
}

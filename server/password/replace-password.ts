import type { Language } from '../http/index.ts';
import type { EndedBy } from '../sessions/index.ts';
import type { UserId } from '../shared/index.ts';
import { setPassword, type User } from '../users/index.ts';
import type { PasswordRuleDeps } from './deps.ts';
import type { PasswordWork } from './queue.ts';
import { mailLanguage } from './request-reset.ts';

interface NewPassword {
  password: string;
  lang: Language;
  emailVerified?: true;
  /** Address of the requester; undefined: a command of the operator. */
  ip?: string | undefined;
  /** The known device's id, if this browser has signed in to this account before. */
  device?: string | undefined;
}

/** The owner of the hashing job for a new password (`queue.ts`). */
const toWork = ({ email }: Pick<User, 'email'>, { ip, device }: Pick<NewPassword, 'ip' | 'device'>): PasswordWork =>
  ip === undefined ? 'operator' : { account: email, ip, device };

/**
 * Sets a user's new password and ends everything that was started with the old one: sessions, the client apps' grants
 * and refresh tokens, known devices, pending codes. A mail in the same transaction notifies the user.
 * @param user as they were when the right to do so was proven
 * @returns the updated user; undefined if password or address have changed meanwhile, and nothing was done
 * @throws {PasswordQueueFullError}
 */
export async function replacePassword(
  {
    database,
    passwords,
    outbox,
    sessions,
    now,
  }: Pick<PasswordRuleDeps, 'database' | 'passwords' | 'outbox' | 'now'> & {
    sessions: { endAll(userId: UserId, which: EndedBy): Promise<unknown> };
  },
  user: User,
  { password, lang, emailVerified, ...from }: NewPassword,
): Promise<User | undefined> {
  const passwordHash = await passwords.hash(password, toWork(user, from));
  const voided = { upToEpoch: user.passwordEpoch };
  // Also before: if this process dies right after the commit, almost nothing remains to end. One of several parallel
  // changes succeeds; the others do not end the session that it has started.
  await sessions.endAll(user.id, voided);
  const nowMs = now();
  const { id, email, givenName } = user;
  const isSet = await database.transaction(async (trx) => {
    const set = await setPassword(trx, user, { passwordHash, ...(emailVerified && { emailVerified }), nowMs });
    if (!set) return false;
    await outbox.record(trx, { type: 'password.changed', details: {}, subject: id, atMs: nowMs });
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
  // A sign-in in progress sees the new epoch, or is in the list by now (sessions/).
  await sessions.endAll(id, voided);
  return {
    ...user,
    passwordHash,
    passwordEpoch: user.passwordEpoch + 1,
    emailVerified: user.emailVerified || emailVerified === true,
    updatedAt: nowMs,
  };
}

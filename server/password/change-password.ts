import { type HttpExchange, type Language, malformedSecret } from '../http/index.ts';
import type { SessionUser } from '../sessions/index.ts';
import type { User } from '../users/index.ts';
import type { PasswordDeps, PasswordRuleDeps } from './deps.ts';
import { checkPassword } from './guess-limits.ts';
import { maxPasswordLength, type PasswordFault } from './policy.ts';
import { replacePassword } from './replace-password.ts';

export type ChangePasswordRefusal =
  /** The specification's CHANGE_PASSWORD_MESSAGE_EROR: both are required. */
  | { kind: 'empty' }
  | { kind: 'too-many'; retryAfterMs: number }
  | { kind: 'wrong-password' }
  | { kind: 'faults'; faults: PasswordFault[] }
  /** The new one is the old one: nothing would change, but all sessions would end. */
  | { kind: 'same' }
  /** A parallel change was faster. */
  | { kind: 'meanwhile' };

type ChangePasswordResult =
  /** The user with the new password: a caller that keeps this browser signed in starts a new session. */
  { kind: 'changed'; user: User } | { kind: 'refused'; refusal: ChangePasswordRefusal };

const refuse = (refusal: ChangePasswordRefusal): ChangePasswordResult => ({ kind: 'refused', refusal });

/** The browser that changes a password: its address, and the known device's id if it has signed in as the user before. */
interface PasswordRequester {
  ip: string;
  device: string | undefined;
  lang: Language;
}

/**
 * Sets a new password for a user who knows the old one. Attempts with the old one count like those of the sign-in, so
 * that an open browser, or a stolen token, is no better place to guess. Ends all sessions and grants of the user.
 * @throws {PasswordQueueFullError}
 */
export async function changePassword(
  deps: PasswordRuleDeps,
  user: User,
  { oldPassword, newPassword, from }: { oldPassword: string; newPassword: string; from: PasswordRequester },
): Promise<ChangePasswordResult> {
  const { passwords, policy, log } = deps;
  if (oldPassword === '' || newPassword === '') return refuse({ kind: 'empty' });
  if (malformedSecret(oldPassword, maxPasswordLength)) return refuse({ kind: 'wrong-password' });
  const { ip, device } = from;
  const checked = await checkPassword(deps, { identifier: user.email, userId: user.id, ip, device }, async (work) =>
    (await passwords.verify(user.passwordHash, oldPassword, work)) ? user : undefined,
  );
  if (checked.kind === 'too-many') return refuse({ kind: 'too-many', retryAfterMs: checked.retryAfterMs });
  if (checked.kind === 'incorrect') return refuse({ kind: 'wrong-password' });
  if (newPassword === oldPassword) return refuse({ kind: 'same' });
  const faults = await policy.faults(newPassword, user);
  if (faults.length > 0) return refuse({ kind: 'faults', faults });
  const changed = await replacePassword(deps, user, { password: newPassword, ...from });
  if (!changed) return refuse({ kind: 'meanwhile' });
  log.info({ act: 'password-change' }, 'password changed');
  return { kind: 'changed', user: changed };
}

/**
 * Sets the password of a user who has none because they sign in with a provider or a passkey. The caller ensures a
 * recent authentication. As with a change, all sessions and grants of the user end.
 * @throws {PasswordQueueFullError}
 */
export async function setInitialPassword(
  deps: PasswordRuleDeps,
  user: User,
  { newPassword, from }: { newPassword: string; from: PasswordRequester },
): Promise<ChangePasswordResult> {
  if (user.passwordHash !== null) return refuse({ kind: 'meanwhile' });
  if (newPassword === '') return refuse({ kind: 'empty' });
  const faults = await deps.policy.faults(newPassword, user);
  if (faults.length > 0) return refuse({ kind: 'faults', faults });
  const changed = await replacePassword(deps, user, { password: newPassword, ...from });
  if (!changed) return refuse({ kind: 'meanwhile' });
  deps.log.info({ act: 'password-first' }, 'initial password set');
  return { kind: 'changed', user: changed };
}

/**
 * All sessions of the user have ended with the old password; the browser that changed it continues with a new session.
 * It keeps its time of authentication if more than a password was presented, or would be required: the password alone
 * is no second factor.
 */
export async function rotateSessionAfterPasswordChange(
  exchange: HttpExchange,
  { sessions }: Pick<PasswordDeps, 'sessions'>,
  { user, session }: { user: User; session: SessionUser },
): Promise<void> {
  const { amr, remember, authTimeMs, onRememberedDevice = false } = session;
  const passwordIsAll = user.mfaPreference === 'none' && amr.every((method) => method === 'pwd');
  await sessions.createSession(exchange, user, {
    amr,
    remember,
    onRememberedDevice,
    ...(!passwordIsAll && { authTimeMs }),
  });
}

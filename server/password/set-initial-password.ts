import type { User } from '../users/index.ts';
import type { ChangePasswordRefusal, ChangePasswordResult, PasswordRequester } from './change-password.ts';
import type { PasswordRuleDeps } from './deps.ts';
import { replacePassword } from './replace-password.ts';

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
  const refuse = (refusal: ChangePasswordRefusal): ChangePasswordResult => ({ kind: 'refused', refusal });
  if (user.passwordHash !== null) return refuse({ kind: 'meanwhile' });
  if (newPassword === '') return refuse({ kind: 'empty' });
  const faults = await deps.policy.faults(newPassword, user);
  if (faults.length > 0) return refuse({ kind: 'faults', faults });
  const changed = await replacePassword(deps, user, { password: newPassword, ...from });
  if (!changed) return refuse({ kind: 'meanwhile' });
  deps.log.info({ act: 'password-first' }, 'initial password set');
  return { kind: 'changed', user: changed };
}

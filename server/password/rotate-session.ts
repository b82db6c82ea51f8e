import type { HttpExchange } from '../http/index.ts';
import type { SessionUser } from '../sessions/index.ts';
import type { User } from '../users/index.ts';
import type { PasswordDeps } from './deps.ts';

/**
 * All sessions of the user have ended with the old password; the browser that changed it continues with a new session.
 * It keeps its time of authentication if more than a password was presented, or would be required: the password alone
 * is no second factor.
 */
export async function rotateSessionAfterPasswordChange(
  exchange: HttpExchange,
  { sessions, devices }: Pick<PasswordDeps, 'sessions' | 'devices'>,
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
  await devices.remember(exchange.req, exchange.res, user);
}

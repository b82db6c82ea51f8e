import type { Request, Response } from 'express';
import type { SessionUser } from '../sessions/index.ts';
import type { User } from '../users/index.ts';
import type { PasswordDeps } from './deps.ts';

/**
 * Everything of the member has ended with the old password; the browser in which it was changed goes on with a new session.
 * That is no younger than the one before where more than a password had been shown, or would be asked for: the password
 * alone is no second factor.
 */
export async function rotateSessionAfterPasswordChange(
  { sessions, devices }: Pick<PasswordDeps, 'sessions' | 'devices'>,
  req: Request,
  res: Response,
  { user, session }: { user: User; session: SessionUser },
): Promise<void> {
  const { amr, remember, authTimeMs, onRememberedDevice = false } = session;
  const passwordIsAll = user.mfaPreference === 'none' && amr.every((method) => method === 'pwd');
  await sessions.createSession(req, res, user, {
    amr,
    remember,
    onRememberedDevice,
    ...(!passwordIsAll && { authTimeMs }),
  });
  await devices.remember(req, res, user);
}

import type { Request, Response } from 'express';
import type { CurrentSession } from '../sessions/index.ts';
import type { AccountDeps } from './deps.ts';
import type { SignedInUser } from './require-recent-auth.ts';

/**
 * A code that turned a second factor on was one of it, too: the session goes on as one in which both were shown, under a new
 * id and no younger than before. Without that the member would be asked for another code at the very next step.
 * @param method what was shown (RFC 8176)
 */
export async function recordPresentedFactor(
  { sessions }: Pick<AccountDeps, 'sessions'>,
  req: Request,
  res: Response,
  { user, session }: SignedInUser,
  method: 'otp' | 'sms',
): Promise<CurrentSession> {
  const { amr, remember, authTimeMs } = session;
  if (amr.includes('mfa')) return session;
  return sessions.createSession(req, res, user, {
    amr: [...amr, method, 'mfa'],
    remember,
    authTimeMs,
    onlyIfLive: true,
  });
}

import type { Request, Response } from 'express';
import type { CurrentSession } from '../sessions/index.ts';
import type { AccountDeps } from './deps.ts';
import type { SignedInUser } from './require-recent-auth.ts';

/**
 * The code that activates a second factor also counts as presenting it: rotates the session id, adds the factor to
 * `amr`, and keeps the time of authentication. Otherwise the user would have to enter another code at the very next
 * step.
 * @param method the presented one (RFC 8176)
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

import type { UserRequest } from '../../sign-in/index.ts';
import type { AccountDeps } from '../deps.ts';

/**
 * The code that activates a second factor also counts as presenting it: rotates the session id, adds the factor to
 * `amr`, and keeps the time of authentication. Otherwise the user would have to enter another code at the very next
 * step.
 * @param method the presented one (RFC 8176)
 * @returns the request, with the new session
 */
export async function recordPresentedFactor(
  r: UserRequest,
  { sessions }: Pick<AccountDeps, 'sessions'>,
  method: 'otp' | 'sms',
): Promise<UserRequest> {
  const { amr, remember, authTimeMs } = r.session;
  if (amr.includes('mfa')) return r;
  const session = await sessions.createSession(r, r.user, {
    amr: [...amr, method, 'mfa'],
    remember,
    authTimeMs,
    onlyIfLive: true,
  });
  return Object.assign(r, { session });
}

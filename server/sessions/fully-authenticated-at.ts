import type { User } from '../users/index.ts';
import type { SessionUser } from './session.ts';

/**
 * The time at which a user last presented all factors that they have now (milliseconds since the epoch). Undefined if
 * one is missing: the device was remembered, or the second factor was enabled after the sign-in. Such a session is
 * signed in but cannot change credentials: a thief with a stolen password must not disable the factor that was enabled
 * against them.
 */
export function fullyAuthenticatedAt(
  { mfaPreference }: Pick<User, 'mfaPreference'>,
  { amr, authTimeMs, onRememberedDevice }: Pick<SessionUser, 'amr' | 'onRememberedDevice'> & { authTimeMs?: number },
): number | undefined {
  if (onRememberedDevice) return undefined;
  return mfaPreference === 'none' || amr.includes('mfa') ? authTimeMs : undefined;
}

import type { User } from '../users/index.ts';
import type { SessionUser } from './session.ts';

/**
 * When a member has last shown all that is asked of them now (milliseconds since the epoch). Undefined: something is missing,
 * because the device was remembered, or because the second factor was turned on after the sign-in. Enough to be signed in, not
 * to change what signs in: whoever was in by a stolen password must not switch off what was turned on against them.
 */
export function fullyAuthenticatedAt(
  { mfaPreference }: Pick<User, 'mfaPreference'>,
  { amr, authTimeMs, onRememberedDevice }: Pick<SessionUser, 'amr' | 'onRememberedDevice'> & { authTimeMs?: number },
): number | undefined {
  if (onRememberedDevice) return undefined;
  return mfaPreference === 'none' || amr.includes('mfa') ? authTimeMs : undefined;
}

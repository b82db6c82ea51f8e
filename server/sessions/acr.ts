import type { User } from '../users/index.ts';
import type { SessionUser } from './session.ts';

/**
 * Authentication context classes, the strongest last: the password alone, two factors, a phishing-resistant key (`phr`,
 * OpenID Connect Extended Authentication Profile ACR Values 1.0).
 */
export const acrValues = ['aal1', 'aal2', 'phr'] as const;
export type Acr = (typeof acrValues)[number];

/** Derives the class from the methods of the authentication (RFC 8176). Only a passkey gives `pop`. */
export function toAcr(amr: readonly string[]): Acr {
  if (!amr.includes('mfa')) return 'aal1';
  return amr.includes('pop') ? 'phr' : 'aal2';
}

/** Tests whether an authentication is at least as strong as expected. No authentication satisfies an unknown class. */
export function meetsAcr(acr: Acr, expected: string): boolean {
  const at = (acrValues as readonly string[]).indexOf(expected);
  return at >= 0 && acrValues.indexOf(acr) >= at;
}

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

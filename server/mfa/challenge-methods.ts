import type { UserAuthenticators } from './authenticators.ts';

/** Ways to answer a challenge. */
export const methods = ['totp', 'sms', 'recovery'] as const;
export type ChallengeMethod = (typeof methods)[number];

/** One-time codes that stand for the authentication methods of RFC 8176; a recovery code is one, too. */
export const methodAmr: Record<ChallengeMethod, string> = { totp: 'otp', sms: 'sms', recovery: 'otp' };

/**
 * What a member may answer a challenge with, the preferred way first. Empty: nothing is asked, because the member has not
 * turned a second factor on. Whoever has, and has nothing left of it, may still type a recovery code: the challenge is
 * never left out.
 */
export function listChallengeMethods(
  { preference, sms, totp }: UserAuthenticators,
  smsOffered: boolean,
): ChallengeMethod[] {
  if (preference === 'none') return [];
  const apps: ChallengeMethod[] = totp ? ['totp'] : [];
  const phones: ChallengeMethod[] = sms && smsOffered ? ['sms'] : [];
  return [...(preference === 'sms' ? [...phones, ...apps] : [...apps, ...phones]), 'recovery'];
}

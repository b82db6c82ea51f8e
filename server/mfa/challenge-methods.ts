import type { Database } from '../store/index.ts';
import type { User } from '../users/index.ts';
import { countRecoveryCodes } from './recovery-code-store.ts';
import { hasTotp } from './totp-store.ts';

/** Methods to answer a challenge. */
export const methods = ['totp', 'sms', 'recovery'] as const;
export type ChallengeMethod = (typeof methods)[number];

/** The authentication methods of RFC 8176; a recovery code counts as a one-time code. */
export const methodAmr: Record<ChallengeMethod, string> = { totp: 'otp', sms: 'sms', recovery: 'otp' };

/**
 * The methods with which a user can answer a challenge, the preferred one first. Empty: no challenge, because the user
 * has no second factor enabled. A user who enabled one but cannot use it any more can still enter a recovery code: the
 * challenge is never skipped.
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

/** The same for a user, from the stored factors. */
export async function findChallengeMethods(
  { database, smsOffered }: { database: Pick<Database, 'db'>; smsOffered: boolean },
  user: User,
): Promise<ChallengeMethod[]> {
  if (user.mfaPreference === 'none') return [];
  return listChallengeMethods(await listAuthenticators(database, user), smsOffered);
}

/** The second factors of a user. */
interface UserAuthenticators {
  /** The factor that the sign-in asks for; `none`: no factor. */
  preference: User['mfaPreference'];
  /** There is a verified number for codes by SMS. */
  sms: boolean;
  /** An authenticator app is active. */
  totp: boolean;
  recoveryCodesLeft: number;
}

export async function listAuthenticators({ db }: Pick<Database, 'db'>, user: User): Promise<UserAuthenticators> {
  const [totp, { left }] = await Promise.all([hasTotp(db, user.id), countRecoveryCodes(db, user.id)]);
  return {
    preference: user.mfaPreference,
    sms: user.phone !== null && user.phoneVerified,
    totp,
    recoveryCodesLeft: left,
  };
}

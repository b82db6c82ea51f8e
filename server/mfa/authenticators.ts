import type { Database } from '../store/index.ts';
import type { User } from '../users/index.ts';
import { countRecoveryCodes } from './recovery-code-store.ts';
import { hasTotp } from './totp-store.ts';

/** The second factors of a user. */
export interface UserAuthenticators {
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

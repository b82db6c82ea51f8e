import type { Database } from '../store/index.ts';
import type { User } from '../users/index.ts';
import { countRecoveryCodes } from './recovery-code-store.ts';
import { hasTotp } from './totp-store.ts';

/** What a member has beside the password. */
export interface UserAuthenticators {
  /** Which is asked for at the sign-in; `none`: nothing is. */
  preference: User['mfaPreference'];
  /** A verified number, to which codes can be sent. */
  sms: boolean;
  /** An authenticator app that has been activated. */
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

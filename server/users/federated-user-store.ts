import type { Transaction } from 'kysely';
import type { Schema } from '../store/index.ts';
import type { User } from './user.ts';

/**
 * Gives an account that nobody has ever confirmed to whoever has just shown that its address is theirs: it is confirmed, and
 * the password of whoever made it is gone, with everything that was given out under it (`passwordEpoch`) and their number.
 * @param user as they were when it was decided
 * @param names of a provider: they stand where none were given
 * @returns false when it is confirmed by now, or its address or password are others, or it is disabled
 */
export async function claimUnverifiedUser(
  trx: Transaction<Schema>,
  user: Pick<User, 'id' | 'email' | 'passwordEpoch' | 'givenName' | 'familyName'>,
  names: Pick<User, 'givenName' | 'familyName'>,
  nowMs: number,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('users')
    .set({
      email_verified: 1,
      password_hash: null,
      password_profile: null,
      password_epoch: user.passwordEpoch + 1,
      mfa_preference: 'none',
      phone: null,
      phone_verified: 0,
      phone_changed_at: nowMs,
      given_name: user.givenName || names.givenName,
      family_name: user.familyName || names.familyName,
      updated_at: nowMs,
    })
    .where('id', '=', user.id)
    .where('email', '=', user.email)
    .where('email_verified', '=', 0)
    .where('password_epoch', '=', user.passwordEpoch)
    .where('disabled_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Whether a provider of the member demands a second factor here. Written only where it changes. */
export async function setSecondFactorRequired(
  trx: Transaction<Schema>,
  id: string,
  required: boolean,
  nowMs: number,
): Promise<void> {
  await trx
    .updateTable('users')
    .set({ second_factor_required: Number(required), updated_at: nowMs })
    .where('id', '=', id)
    .where('second_factor_required', '!=', Number(required))
    .execute();
}

import type { Transaction } from 'kysely';
import type { UserId } from '../shared/index.ts';
import type { Schema } from '../store/index.ts';
import type { User } from './user.ts';

/**
 * Gives an account that was never confirmed to a user who has just proven its address: it becomes confirmed, and the
 * password and number of its creator are removed, with everything that was issued under them (`passwordEpoch`).
 * @param user as they were when it was decided
 * @param names from a provider; they replace empty names
 * @returns false if it is confirmed by now, its address or password have changed, or it is disabled
 */
export async function claimUnverifiedUser(
  trx: Transaction<Schema>,
  user: Pick<User, 'id' | 'email' | 'passwordEpoch' | 'givenName' | 'familyName'>,
  { names, nowMs }: { names: Pick<User, 'givenName' | 'familyName'>; nowMs: number },
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

/** Sets whether a provider of the user requires a second factor. Written only if it changes. */
export async function setSecondFactorRequired(
  trx: Transaction<Schema>,
  id: UserId,
  { required, nowMs }: { required: boolean; nowMs: number },
): Promise<void> {
  await trx
    .updateTable('users')
    .set({ second_factor_required: Number(required), updated_at: nowMs })
    .where('id', '=', id)
    .where('second_factor_required', '!=', Number(required))
    .execute();
}

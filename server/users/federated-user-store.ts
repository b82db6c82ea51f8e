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
      emailVerified: 1,
      passwordHash: null,
      passwordProfile: null,
      passwordEpoch: user.passwordEpoch + 1,
      mfaPreference: 'none',
      phone: null,
      phoneVerified: 0,
      phoneChangedAt: nowMs,
      givenName: user.givenName || names.givenName,
      familyName: user.familyName || names.familyName,
      updatedAt: nowMs,
    })
    .where('id', '=', user.id)
    .where('email', '=', user.email)
    .where('emailVerified', '=', 0)
    .where('passwordEpoch', '=', user.passwordEpoch)
    .where('disabledAt', 'is', null)
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
    .set({ secondFactorRequired: Number(required), updatedAt: nowMs })
    .where('id', '=', id)
    .where('secondFactorRequired', '!=', Number(required))
    .execute();
}

import type { Transaction } from 'kysely';
import type { E164, UserId } from '../shared/index.ts';
import { isUniqueViolation, type Schema } from '../store/index.ts';
import { AlreadyInUseError, type User } from './user.ts';

/**
 * Gives a user a number. If it is proven, another user with the same unproven number loses it.
 * @param user as they were when they asked: if the password has changed, nothing is done
 * @returns whether it was changed
 * @throws {AlreadyInUseError} if another user has proven it, or has it while this one has not
 */
export async function setPhone(
  trx: Transaction<Schema>,
  user: Pick<User, 'id' | 'passwordEpoch'>,
  { phone, verified = true, nowMs }: { phone: E164; verified?: boolean; nowMs: number },
): Promise<boolean> {
  if (verified) {
    await trx
      .updateTable('users')
      .set({ phone: null, updatedAt: nowMs })
      .where('phone', '=', phone)
      .where('phoneVerified', '=', 0)
      .where('id', '!=', user.id)
      .execute();
  }
  const others = trx.selectFrom('users').select('id').where('phone', '=', phone).where('id', '!=', user.id);
  if (await others.executeTakeFirst()) throw new AlreadyInUseError('phone');
  try {
    const { numUpdatedRows } = await trx
      .updateTable('users')
      .set({ phone, phoneVerified: Number(verified), phoneChangedAt: nowMs, updatedAt: nowMs })
      .where('id', '=', user.id)
      .where('passwordEpoch', '=', user.passwordEpoch)
      .where('disabledAt', 'is', null)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  } catch (error) {
    if (isUniqueViolation(error, 'users.phone')) throw new AlreadyInUseError('phone');
    throw error;
  }
}

/**
 * Removes a user's number.
 * @returns false if there is none, or the second factor uses it
 */
export async function removePhone(trx: Transaction<Schema>, userId: UserId, nowMs: number): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('users')
    .set({ phone: null, phoneVerified: 0, phoneChangedAt: nowMs, updatedAt: nowMs })
    .where('id', '=', userId)
    .where('phone', 'is not', null)
    .where('mfaPreference', '!=', 'sms')
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/**
 * Removes a number that was added since a time. Its second factor is removed first.
 * @param sinceMs milliseconds since the epoch
 */
export async function hasPhoneChangedSince(
  trx: Transaction<Schema>,
  userId: UserId,
  sinceMs: number,
): Promise<boolean> {
  const row = await trx
    .selectFrom('users')
    .select('id')
    .where('id', '=', userId)
    .where('phone', 'is not', null)
    .where('phoneChangedAt', '>=', sinceMs)
    .executeTakeFirst();
  return row !== undefined;
}

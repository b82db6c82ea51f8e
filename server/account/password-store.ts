import type { Transaction } from 'kysely';
import type { Schema } from '../store/index.ts';
import type { User } from './user.ts';

export interface NewPassword {
  /** argon2id in PHC format. */
  passwordHash: string;
  /** The member has just shown that the address is theirs: by a code that was sent there. */
  emailVerified?: true;
}

/**
 * Sets a member's password, and with it voids everything that was given out under the one before (`passwordEpoch`).
 * @param user as they were when the right to do so was shown: where password or address are others by now, nothing is set
 * @returns whether it was set
 */
export async function setPassword(
  trx: Transaction<Schema>,
  user: Pick<User, 'id' | 'email' | 'passwordEpoch'>,
  { passwordHash, emailVerified }: NewPassword,
  nowMs: number,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('users')
    .set({
      password_hash: passwordHash,
      password_epoch: user.passwordEpoch + 1,
      updated_at: nowMs,
      ...(emailVerified && { email_verified: 1 }),
    })
    .where('id', '=', user.id)
    .where('email', '=', user.email)
    .where('password_epoch', '=', user.passwordEpoch)
    .where('disabled_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

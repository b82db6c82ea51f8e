import type { Transaction } from 'kysely';
import { toUserId } from '../shared/index.ts';
import { isUniqueViolation, type NewRow, type Schema, uuidv7 } from '../store/index.ts';
import { isEmailReserved } from './email-change-store.ts';
import { AlreadyInUseError, type NewUser, type User } from './user.ts';
import { toUser } from './user-store.ts';

/** @throws {AlreadyInUseError} if the address or number belongs to another user, or the address is reserved for one */
async function requireUnused(
  trx: Transaction<Schema>,
  { email, phone }: Pick<NewUser, 'email' | 'phone'>,
  nowMs: number,
): Promise<void> {
  if (await trx.selectFrom('users').select('id').where('email', '=', email).executeTakeFirst())
    throw new AlreadyInUseError('email');
  // After the users, in this order: an address that is given up at this moment is then still the user's or already
  // reserved.
  if (await isEmailReserved(trx, email, { nowMs })) throw new AlreadyInUseError('email');
  if (phone && (await trx.selectFrom('users').select('id').where('phone', '=', phone).executeTakeFirst())) {
    throw new AlreadyInUseError('phone');
  }
}

const toNewRow = (
  {
    emailVerified = false,
    phoneVerified = false,
    givenName = '',
    familyName = '',
    locale,
    zoneinfo = null,
    acceptedTosVersion = null,
    source = 'general',
    ...user
  }: NewUser,
  nowMs: number,
): NewRow<'users'> => ({
  id: toUserId(uuidv7(nowMs)),
  email: user.email,
  emailVerified: Number(emailVerified),
  phone: user.phone,
  phoneVerified: Number(phoneVerified),
  passwordHash: user.passwordHash,
  passwordChangedAt: user.passwordHash === null ? null : nowMs,
  givenName,
  familyName,
  locale: locale ?? '',
  zoneinfo,
  acceptedTosVersion,
  acceptedTosAt: acceptedTosVersion === null ? null : nowMs,
  source,
  planId: user.planId,
  createdAt: nowMs,
  updatedAt: nowMs,
});

/**
 * Adds a user.
 * @throws {AlreadyInUseError} if the address or number belongs to another user
 */
export async function insertUser(trx: Transaction<Schema>, user: NewUser, nowMs: number): Promise<User> {
  await requireUnused(trx, user, nowMs);
  try {
    const row = await trx.insertInto('users').values(toNewRow(user, nowMs)).returningAll().executeTakeFirstOrThrow();
    return toUser(row);
  } catch (error) {
    // A parallel insert was faster than the check.
    if (isUniqueViolation(error, 'users.email')) throw new AlreadyInUseError('email');
    if (isUniqueViolation(error, 'users.phone')) throw new AlreadyInUseError('phone');
    throw error;
  }
}

import type { Transaction } from 'kysely';
import type { NormalisedEmail, Sha256, UserId } from '../shared/index.ts';
import { type Db, isUniqueViolation, type Row, type Schema, uuidv7 } from '../store/index.ts';
import { AlreadyInUseError, type User } from './user.ts';

/** A change of a user's address that can still be undone. Times in milliseconds since the epoch. */
export type EmailChange = Omit<Row<'emailChanges'>, 'undoHash' | 'undoneAt'>;

/**
 * Tests whether an address is reserved for its former user, because the change can still be undone (`security.md`, rule
 * 14).
 * @param except the user who may have it nevertheless: it is their own
 */
export async function isEmailReserved(
  db: Db,
  email: NormalisedEmail,
  { except, nowMs }: { except?: UserId; nowMs: number },
): Promise<boolean> {
  const reservations = db
    .selectFrom('emailChanges')
    .select('id')
    .where('oldEmail', '=', email)
    .where('undoUntil', '>', nowMs)
    .where('undoneAt', 'is', null);
  const others = except === undefined ? reservations : reservations.where('userId', '!=', except);
  return (await others.executeTakeFirst()) !== undefined;
}

/** The reserved ones among these addresses, each with its user. */
export async function listReservedEmails(
  db: Db,
  emails: readonly NormalisedEmail[],
  nowMs: number,
): Promise<{ email: NormalisedEmail; userId: UserId }[]> {
  return db
    .selectFrom('emailChanges')
    .select(['oldEmail as email', 'userId'])
    .where('oldEmail', 'in', emails)
    .where('undoUntil', '>', nowMs)
    .where('undoneAt', 'is', null)
    .execute();
}

interface NewEmail {
  email: NormalisedEmail;
  /** False: an operator has set it, and the user must prove it at the next sign-in. */
  verified?: boolean;
  /** SHA-256 of the token in the undo link. */
  undoHash: Sha256;
  undoUntil: number;
  nowMs: number;
}

/**
 * Gives a user another address, and reserves the former one for them.
 * @param user as they were when they asked: if password or address have changed, nothing is done
 * @returns the change's id; undefined if nothing was changed
 * @throws {AlreadyInUseError} if the address belongs to another user, or is reserved for one
 */
export async function changeEmail(
  trx: Transaction<Schema>,
  user: Pick<User, 'id' | 'email' | 'passwordEpoch'>,
  { email, verified = true, undoHash, undoUntil, nowMs }: NewEmail,
): Promise<string | undefined> {
  // In this order, as for new users.
  if (await trx.selectFrom('users').select('id').where('email', '=', email).executeTakeFirst())
    throw new AlreadyInUseError('email');
  if (await isEmailReserved(trx, email, { except: user.id, nowMs })) throw new AlreadyInUseError('email');
  try {
    const { numUpdatedRows } = await trx
      .updateTable('users')
      .set({ email, emailVerified: Number(verified), updatedAt: nowMs })
      .where('id', '=', user.id)
      .where('email', '=', user.email)
      .where('passwordEpoch', '=', user.passwordEpoch)
      .where('disabledAt', 'is', null)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return undefined;
  } catch (error) {
    if (isUniqueViolation(error, 'users.email')) throw new AlreadyInUseError('email');
    throw error;
  }
  // Changes that can no longer be undone are deleted.
  await trx.deleteFrom('emailChanges').where('userId', '=', user.id).where('undoUntil', '<=', nowMs).execute();
  const id = uuidv7(nowMs);
  await trx
    .insertInto('emailChanges')
    .values({
      id,
      userId: user.id,
      oldEmail: user.email,
      newEmail: email,
      undoHash,
      changedAt: nowMs,
      undoUntil,
    })
    .execute();
  return id;
}

/** A change by its undo token, as long as it can be undone. */
export async function findEmailChange(
  db: Db,
  { id, undoHash }: { id: string; undoHash: Sha256 },
  nowMs: number,
): Promise<EmailChange | undefined> {
  return db
    .selectFrom('emailChanges')
    .select(['id', 'userId', 'oldEmail', 'newEmail', 'changedAt', 'undoUntil'])
    .where('id', '=', id)
    .where('undoHash', '=', undoHash)
    .where('undoUntil', '>', nowMs)
    .where('undoneAt', 'is', null)
    .executeTakeFirst();
}

/**
 * Gives a user the address from before a change, whatever the current address is, with a new password, and invalidates
 * everything that was issued under the earlier one. Later changes can no longer be undone, so that the attacker who
 * made them cannot regain the account.
 * @param credential.passwordHash argon2id in PHC format
 * @returns false if it was already undone, or the user is deleted
 * @throws {AlreadyInUseError} if its time ran out at this moment, and another user has the address by now
 */
export async function undoEmailChange(
  trx: Transaction<Schema>,
  { id, userId, oldEmail, changedAt }: EmailChange,
  { passwordHash, nowMs }: { passwordHash: string; nowMs: number },
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('emailChanges')
    .set({ undoneAt: nowMs })
    .where('id', '=', id)
    .where('undoneAt', 'is', null)
    .where('undoUntil', '>', nowMs)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  let restored: boolean;
  try {
    const { numUpdatedRows: users } = await trx
      .updateTable('users')
      .set(({ eb }) => ({
        email: oldEmail,
        emailVerified: 1,
        passwordHash,
        passwordProfile: null,
        passwordEpoch: eb('passwordEpoch', '+', 1),
        passwordChangedAt: nowMs,
        updatedAt: nowMs,
      }))
      .where('id', '=', userId)
      .executeTakeFirst();
    restored = users > 0n;
  } catch (error) {
    if (isUniqueViolation(error, 'users.email')) throw new AlreadyInUseError('email');
    throw error;
  }
  // After the user's own row: a parallel change is written by now, and is visible here.
  await trx
    .updateTable('emailChanges')
    .set({ undoneAt: nowMs })
    .where('userId', '=', userId)
    .where('changedAt', '>=', changedAt)
    .where('undoneAt', 'is', null)
    .execute();
  return restored;
}

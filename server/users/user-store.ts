import type { Transaction } from 'kysely';
import { withoutSteering } from '../http/index.ts';
import { toUserId, type UserId } from '../shared/index.ts';
import { type Db, isUniqueViolation, type NewRow, type Row, type Schema, uuidv7 } from '../store/index.ts';
import { isEmailReserved } from './email-change-store.ts';
import { AlreadyInUseError, type NewUser, type User, type UserIdentifier } from './user.ts';

export function toUser({ signedInEpoch: _, phoneChangedAt: __, ...row }: Row<'users'>): User {
  return {
    ...row,
    emailVerified: row.emailVerified === 1,
    phoneVerified: row.phoneVerified === 1,
    // Old or imported names may contain characters that are refused today.
    givenName: withoutSteering(row.givenName),
    familyName: withoutSteering(row.familyName),
    locale: row.locale === '' ? null : row.locale,
    companyName: row.companyName && withoutSteering(row.companyName),
    jobTitle: row.jobTitle && withoutSteering(row.jobTitle),
    newsletter: row.newsletter === 1,
    secondFactorRequired: row.secondFactorRequired === 1,
  };
}

export async function findUser(db: Db, id: UserId): Promise<User | undefined> {
  const row = await db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst();
  return row && toUser(row);
}

/** A phone number signs in only if it is verified: an unproven one could belong to anyone. */
export async function findUserByIdentifier(db: Db, identifier: UserIdentifier): Promise<User | undefined> {
  const from = db.selectFrom('users').selectAll();
  const row =
    'email' in identifier
      ? await from.where('email', '=', identifier.email).executeTakeFirst()
      : await from.where('phone', '=', identifier.phone).where('phoneVerified', '=', 1).executeTakeFirst();
  return row && toUser(row);
}

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

/**
 * Locks the user row until the end of the transaction: an undo of an address change or a password reset runs before or
 * after it, not in between.
 * @returns undefined if the authorization is void: another password, disabled, deleted
 */
export async function lockUser(
  trx: Transaction<Schema>,
  { id, passwordEpoch }: Pick<User, 'id' | 'passwordEpoch'>,
): Promise<User | undefined> {
  const { numUpdatedRows } = await trx
    .updateTable('users')
    .set(({ ref }) => ({ passwordEpoch: ref('passwordEpoch') }))
    .where('id', '=', id)
    .where('passwordEpoch', '=', passwordEpoch)
    .where('disabledAt', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n ? findUser(trx, id) : undefined;
}

export async function setDisabled(
  db: Db,
  id: UserId,
  { disabledAt, nowMs }: { disabledAt: number | null; nowMs: number },
): Promise<boolean> {
  const result = await db
    .updateTable('users')
    .set({ disabledAt, updatedAt: nowMs })
    .where('id', '=', id)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Sets where a user comes from (the specification's source), and the partner's plan that waits for them. */
export async function setSource(
  trx: Transaction<Schema>,
  id: UserId,
  { source, offeredPlanId, nowMs }: Pick<User, 'source' | 'offeredPlanId'> & { nowMs: number },
): Promise<void> {
  await trx
    .updateTable('users')
    .set({ source, offeredPlanId, dealAgainAt: null, updatedAt: nowMs })
    .where('id', '=', id)
    .execute();
}

/** Confirms the user's address. @returns false if it has changed, or the user is deleted or disabled */
export async function confirmEmail(db: Db, user: Pick<User, 'id' | 'email'>, nowMs: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('users')
    .set({ emailVerified: 1, updatedAt: nowMs })
    .where('id', '=', user.id)
    .where('email', '=', user.email)
    .where('disabledAt', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Sets whether the address or number of a user is verified. */
export async function setVerified(
  trx: Transaction<Schema>,
  id: UserId,
  { flag, verified, nowMs }: { flag: 'email' | 'phone'; verified: boolean; nowMs: number },
): Promise<void> {
  const column = flag === 'email' ? { emailVerified: Number(verified) } : { phoneVerified: Number(verified) };
  await trx
    .updateTable('users')
    .set({ ...column, updatedAt: nowMs })
    .where('id', '=', id)
    .execute();
}

/** Stores the user's language. */
export async function setLocale(
  db: Db,
  id: UserId,
  { locale, nowMs }: { locale: string; nowMs: number },
): Promise<void> {
  await db.updateTable('users').set({ locale, updatedAt: nowMs }).where('id', '=', id).execute();
}

/**
 * Records that the user has signed in with the current password.
 * @returns whether it was the first time
 */
export async function recordSignIn(db: Db, user: Pick<User, 'id' | 'passwordEpoch'>): Promise<boolean> {
  // Mostly it is already recorded: then nothing is written.
  const known = await db.selectFrom('users').select('signedInEpoch').where('id', '=', user.id).executeTakeFirst();
  if (known === undefined || (known.signedInEpoch ?? -1) >= user.passwordEpoch) return false;
  const result = await db
    .updateTable('users')
    .set({ signedInEpoch: user.passwordEpoch })
    .where('id', '=', user.id)
    .where(({ or, eb }) => or([eb('signedInEpoch', 'is', null), eb('signedInEpoch', '<', user.passwordEpoch)]))
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Sets the second factor of the sign-in. @returns false if the user is deleted, or has no verified number for `sms` */
export async function setMfaPreference(
  trx: Transaction<Schema>,
  id: UserId,
  { preference, nowMs }: { preference: User['mfaPreference']; nowMs: number },
): Promise<boolean> {
  let change = trx.updateTable('users').set({ mfaPreference: preference, updatedAt: nowMs }).where('id', '=', id);
  // In the same statement, so that a number that is being removed cannot be used.
  if (preference === 'sms') change = change.where('phone', 'is not', null).where('phoneVerified', '=', 1);
  const { numUpdatedRows } = await change.executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Sets a user's plan, which billing/ decides. @returns whether it changed */
export async function setUserPlan(
  trx: Transaction<Schema>,
  { userId, planId, seats, trialUntil }: Pick<User, 'planId' | 'seats' | 'trialUntil'> & { userId: UserId },
  nowMs: number,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('users')
    .set({ planId, seats, trialUntil, updatedAt: nowMs })
    .where('id', '=', userId)
    .where(({ or, eb }) =>
      or([
        eb('planId', 'is distinct from', planId),
        eb('seats', 'is distinct from', seats),
        eb('trialUntil', 'is distinct from', trialUntil),
      ]),
    )
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

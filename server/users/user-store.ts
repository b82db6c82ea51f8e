import type { Selectable, Transaction } from 'kysely';
import { withoutSteering } from '../http/index.ts';
import { toUserId, type UserId } from '../shared/index.ts';
import {
  cacheUntilChanged,
  type Database,
  type Db,
  isUniqueViolation,
  prepare,
  type Schema,
  type UserTable,
  uuidv7,
} from '../store/index.ts';
import { AlreadyInUseError } from './already-in-use.ts';
import { isEmailReserved } from './email-change-store.ts';
import type { NewUser, User, UserIdentifier } from './user.ts';

function fromRow(row: Selectable<UserTable>): User {
  return {
    id: row.id,
    email: row.email,
    emailVerified: row.email_verified === 1,
    phone: row.phone,
    phoneVerified: row.phone_verified === 1,
    passwordHash: row.password_hash,
    passwordProfile: row.password_profile,
    passwordEpoch: row.password_epoch,
    // Old or imported names may contain characters that are refused today.
    givenName: withoutSteering(row.given_name),
    familyName: withoutSteering(row.family_name),
    locale: row.locale === '' ? null : row.locale,
    acceptedTosVersion: row.accepted_tos_version,
    acceptedTosAt: row.accepted_tos_at,
    source: row.source === 'appsumo' || row.source === 'appsumo_update' ? row.source : 'general',
    planId: row.plan_id,
    trialUntil: row.trial_until,
    offeredPlanId: row.offered_plan_id,
    dealAgainAt: row.deal_again_at,
    picture: row.picture,
    birthdate: row.birthdate,
    address: row.address,
    companyName: row.company_name && withoutSteering(row.company_name),
    jobTitle: row.job_title && withoutSteering(row.job_title),
    preferredLanguage: row.preferred_language,
    gender: row.gender,
    newsletter: row.newsletter === 1,
    mfaPreference: row.mfa_preference === 'sms' || row.mfa_preference === 'totp' ? row.mfa_preference : 'none',
    secondFactorRequired: row.second_factor_required === 1,
    disabledAt: row.disabled_at,
    importedAt: row.imported_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

export async function findUser(db: Db, id: UserId): Promise<User | undefined> {
  const row = await db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst();
  return row && fromRow(row);
}

type ReadUser = (id: UserId) => Promise<User | undefined>;
const currentUsers = new WeakMap<Database, ReadUser>();

function readsThrough(database: Database): ReadUser {
  const { db } = database;
  const cachedUser = cacheUntilChanged<User>(() => database.changes.ofRows('users'));
  const select = prepare<{ id: UserId }, Selectable<UserTable>>((v) =>
    db.selectFrom('users').selectAll().where('id', '=', v.id),
  );
  return (id) =>
    cachedUser(id, async () => {
      const row = (await select(db, { id })).rows[0];
      return row && Object.freeze(fromRow(row));
    });
}

/** The same from a cache that lasts until the users change, because every request reads it. */
export async function findCurrentUser(database: Database, id: UserId): Promise<User | undefined> {
  let read = currentUsers.get(database);
  if (!read) {
    read = readsThrough(database);
    currentUsers.set(database, read);
  }
  return read(id);
}

/** A phone number signs in only if it is verified: an unproven one could belong to anyone. */
export async function findUserByIdentifier(db: Db, identifier: UserIdentifier): Promise<User | undefined> {
  const from = db.selectFrom('users').selectAll();
  const row =
    'email' in identifier
      ? await from.where('email', '=', identifier.email).executeTakeFirst()
      : await from.where('phone', '=', identifier.phone).where('phone_verified', '=', 1).executeTakeFirst();
  return row && fromRow(row);
}

export async function listUsers(db: Db, { limit, offset }: { limit: number; offset: number }): Promise<User[]> {
  const rows = await db
    .selectFrom('users')
    .selectAll()
    .orderBy('created_at')
    .orderBy('id')
    .limit(limit)
    .offset(offset)
    .execute();
  return rows.map(fromRow);
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

/** The columns in which all new users are equal. */
const unsetAttributes = {
  phone_changed_at: null,
  password_profile: null,
  password_epoch: 0,
  signed_in_epoch: null,
  trial_until: null,
  offered_plan_id: null,
  deal_again_at: null,
  picture: null,
  birthdate: null,
  address: null,
  company_name: null,
  job_title: null,
  preferred_language: null,
  gender: '0',
  newsletter: 0,
  mfa_preference: 'none',
  second_factor_required: 0,
  disabled_at: null,
  imported_at: null,
} as const;

const newRow = (
  {
    email,
    emailVerified = false,
    phone = null,
    phoneVerified = false,
    passwordHash,
    givenName = '',
    familyName = '',
    locale,
    acceptedTosVersion = null,
    planId = null,
    source = 'general',
  }: NewUser,
  nowMs: number,
): Selectable<UserTable> => ({
  ...unsetAttributes,
  id: toUserId(uuidv7(nowMs)),
  email,
  email_verified: Number(emailVerified),
  phone,
  phone_verified: Number(phoneVerified),
  password_hash: passwordHash,
  given_name: givenName,
  family_name: familyName,
  locale: locale ?? '',
  accepted_tos_version: acceptedTosVersion,
  accepted_tos_at: acceptedTosVersion === null ? null : nowMs,
  source,
  plan_id: planId,
  created_at: nowMs,
  updated_at: nowMs,
});

/**
 * Adds a user.
 * @throws {AlreadyInUseError} if the address or number belongs to another user
 */
export async function insertUser(trx: Transaction<Schema>, user: NewUser, nowMs: number): Promise<User> {
  await requireUnused(trx, user, nowMs);
  const row = newRow(user, nowMs);
  try {
    await trx.insertInto('users').values(row).execute();
  } catch (error) {
    // A parallel insert was faster than the check.
    if (isUniqueViolation(error, 'users.email')) throw new AlreadyInUseError('email');
    if (isUniqueViolation(error, 'users.phone')) throw new AlreadyInUseError('phone');
    throw error;
  }
  return fromRow(row);
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
    .set(({ ref }) => ({ password_epoch: ref('password_epoch') }))
    .where('id', '=', id)
    .where('password_epoch', '=', passwordEpoch)
    .where('disabled_at', 'is', null)
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
    .set({ disabled_at: disabledAt, updated_at: nowMs })
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
    .set({ source, offered_plan_id: offeredPlanId, deal_again_at: null, updated_at: nowMs })
    .where('id', '=', id)
    .execute();
}

/** Confirms the user's address. @returns false if it has changed, or the user is deleted or disabled */
export async function confirmEmail(db: Db, user: Pick<User, 'id' | 'email'>, nowMs: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('users')
    .set({ email_verified: 1, updated_at: nowMs })
    .where('id', '=', user.id)
    .where('email', '=', user.email)
    .where('disabled_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Stores the user's language. */
export async function setLocale(
  db: Db,
  id: UserId,
  { locale, nowMs }: { locale: string; nowMs: number },
): Promise<void> {
  await db.updateTable('users').set({ locale, updated_at: nowMs }).where('id', '=', id).execute();
}

/**
 * Records that the user has signed in with the current password.
 * @returns whether it was the first time
 */
export async function recordSignIn(db: Db, user: Pick<User, 'id' | 'passwordEpoch'>): Promise<boolean> {
  // Mostly it is already recorded: then nothing is written.
  const known = await db.selectFrom('users').select('signed_in_epoch').where('id', '=', user.id).executeTakeFirst();
  if (known === undefined || (known.signed_in_epoch ?? -1) >= user.passwordEpoch) return false;
  const result = await db
    .updateTable('users')
    .set({ signed_in_epoch: user.passwordEpoch })
    .where('id', '=', user.id)
    .where(({ or, eb }) => or([eb('signed_in_epoch', 'is', null), eb('signed_in_epoch', '<', user.passwordEpoch)]))
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** Sets the second factor of the sign-in. @returns false if the user is deleted, or has no verified number for `sms` */
export async function setMfaPreference(
  trx: Transaction<Schema>,
  id: UserId,
  { preference, nowMs }: { preference: User['mfaPreference']; nowMs: number },
): Promise<boolean> {
  let change = trx.updateTable('users').set({ mfa_preference: preference, updated_at: nowMs }).where('id', '=', id);
  // In the same statement, so that a number that is being removed cannot be used.
  if (preference === 'sms') change = change.where('phone', 'is not', null).where('phone_verified', '=', 1);
  const { numUpdatedRows } = await change.executeTakeFirst();
  return numUpdatedRows > 0n;
}

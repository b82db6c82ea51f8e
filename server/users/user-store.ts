import type { Transaction } from 'kysely';
import { withoutSteering } from '../http/index.ts';
import type { NormalisedEmail, UserId } from '../shared/index.ts';
import {
  type BoundQuery,
  cacheUntilChanged,
  type Database,
  type Db,
  prepare,
  prepareOnce,
  type Row,
  readTogether,
  type Schema,
} from '../store/index.ts';
import type { User, UserIdentifier } from './user.ts';

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

const selectByEmail = prepareOnce<{ email: NormalisedEmail }, Row<'users'>>((db, v) =>
  db.selectFrom('users').selectAll().where('email', '=', v.email),
);

/** A phone number signs in only if it is verified: an unproven one could belong to anyone. */
export async function findUserByIdentifier(db: Db, identifier: UserIdentifier): Promise<User | undefined> {
  if ('email' in identifier) {
    const [row] = (await selectByEmail(db, identifier)).rows;
    return row && toUser(row);
  }
  const { phone } = identifier;
  const from = db.selectFrom('users').selectAll().where('phone', '=', phone);
  const row = await from.where('phoneVerified', '=', 1).executeTakeFirst();
  return row && toUser(row);
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

type UserRow = Row<'users'> & { imageName: string | null };
type ReadUser = (id: UserId) => Promise<User | undefined>;
interface UserReads {
  read: ReadUser;
  bind(id: UserId): BoundQuery<UserRow>;
}
const userReads = new WeakMap<Database, UserReads>();
/** Of users that were read with it. */
const imageNames = new WeakMap<User, string>();
/** By request: each reads a user once. */
const ofRequests = new WeakMap<object, Map<UserId, Promise<User | undefined>>>();

/** The user of a row that `currentUserQuery` found. */
export function toCurrentUser({ imageName, ...row }: UserRow): User {
  const user = Object.freeze(toUser(row));
  imageNames.set(user, imageName ?? '');
  return user;
}

function createUserReads(database: Database): UserReads {
  const { db } = database;
  const cachedUser = cacheUntilChanged<User>(() => database.changes.ofRows('users'));
  const one = (id: UserId) => db.selectFrom('users').selectAll('users').where('users.id', '=', id);
  const select = prepare<{ id: UserId }, Row<'users'>>((v) => one(v.id));
  // Nothing of PostgreSQL is kept: one statement reads the name of the picture too.
  const { bind } = prepare<{ id: UserId }, UserRow>((v) =>
    one(v.id).leftJoin('userRecords', 'userRecords.userId', 'users.id').select('userRecords.imageName'),
  );
  return {
    bind: (id) => bind({ id }),
    read: (id) =>
      cachedUser(id, async () => {
        if (database.kind === 'sqlite') {
          const row = (await select(db, { id })).rows[0];
          return row && Object.freeze(toUser(row));
        }
        const { user } = await readTogether(database, { user: bind({ id }) });
        return user && toCurrentUser(user);
      }),
  };
}

function findReads(database: Database): UserReads {
  const known = userReads.get(database) ?? createUserReads(database);
  userReads.set(database, known);
  return known;
}

/** The query of `findCurrentUser`, for a statement that reads more than the user. */
export const currentUserQuery = (database: Database, id: UserId): BoundQuery<UserRow> => findReads(database).bind(id);

/** Gives a user that was just read to this request. */
export function rememberCurrentUser(request: object, id: UserId, user: Promise<User | undefined>): void {
  const known = ofRequests.get(request) ?? new Map<UserId, Promise<User | undefined>>();
  ofRequests.set(request, known);
  known.set(id, user);
}

/**
 * Reads a user; on SQLite from a cache that lasts until the users change, because every request reads it.
 * @param request that is answered: it reads the user once
 */
export async function findCurrentUser(database: Database, id: UserId, request?: object): Promise<User | undefined> {
  const known = request && ofRequests.get(request)?.get(id);
  if (known) return known;
  const user = findReads(database).read(id);
  if (request) rememberCurrentUser(request, id, user);
  return user;
}

/** Reads a user's imageName ('' for none), once or from a cache that lasts until the records change. */
export function createImageNameReader({ db, changes }: Database): (user: User) => Promise<string> {
  const cachedImageName = cacheUntilChanged<string>(() => changes.ofRows('user_records'));
  return async (user) => {
    const known = imageNames.get(user);
    if (known !== undefined) return known;
    const name = await cachedImageName(user.id, async () => {
      const from = db.selectFrom('userRecords').select('imageName').where('userId', '=', user.id);
      const row = await from.executeTakeFirst();
      return row?.imageName ?? '';
    });
    return name ?? '';
  };
}

import { type Kysely, sql, type Transaction } from 'kysely';
import type { Schema } from '../store/index.ts';
import type { User } from './user.ts';

interface NewPassword {
  /** argon2id in PHC format. */
  passwordHash: string;
  /** A code to the address has just proven it. */
  emailVerified?: true;
  nowMs: number;
}

/**
 * Sets a user's password, and invalidates everything that was issued under the earlier one (`passwordEpoch`).
 * @param user as they were when the right to do so was proven: if password or address have changed, nothing is set
 * @returns whether it was set
 */
export async function setPassword(
  trx: Transaction<Schema>,
  user: Pick<User, 'id' | 'email' | 'passwordEpoch'>,
  { passwordHash, emailVerified, nowMs }: NewPassword,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('users')
    .set({
      passwordHash,
      passwordProfile: null,
      passwordEpoch: user.passwordEpoch + 1,
      passwordChangedAt: nowMs,
      updatedAt: nowMs,
      ...(emailVerified && { emailVerified: 1 }),
    })
    .where('id', '=', user.id)
    .where('email', '=', user.email)
    .where('passwordEpoch', '=', user.passwordEpoch)
    .where('disabledAt', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/**
 * Replaces an imported or outdated hash by a new hash of the same password. Sessions and grants stay valid, because the
 * password is the same.
 * @returns false if the password has changed, or a parallel sign-in was faster
 */
export async function rehashPassword(
  db: Kysely<Schema>,
  { id, passwordHash }: Pick<User, 'id' | 'passwordHash'>,
  newHash: string,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('users')
    .set({ passwordHash: newHash, passwordProfile: null })
    .where('id', '=', id)
    .where('passwordHash', '=', passwordHash)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** The profiles of imported hashes that users still have, the most frequent first. */
export async function listImportedHashProfiles(db: Kysely<Schema>, max: number): Promise<string[]> {
  const rows = await db
    .selectFrom('users')
    .select('passwordProfile')
    .where('passwordProfile', 'is not', null)
    .groupBy('passwordProfile')
    .orderBy(({ fn }) => fn.countAll(), 'desc')
    .orderBy('passwordProfile')
    .limit(max)
    .execute();
  return rows.flatMap(({ passwordProfile }) => passwordProfile ?? []);
}

/** Tests whether any imported user has no password yet (`users_awaiting_password`). */
export async function someAwaitPassword(db: Kysely<Schema>): Promise<boolean> {
  const row = await db
    .selectFrom('users')
    .select('id')
    .where('importedAt', 'is not', null)
    .where('passwordHash', 'is', null)
    .where('disabledAt', 'is', null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** The number of users for each profile of imported hashes. */
export async function countForeignProfiles(db: Kysely<Schema>): Promise<{ profile: string; count: number }[]> {
  const rows = await db
    .selectFrom('users')
    .select(({ fn }) => ['passwordProfile', fn.countAll<number | string>().as('count')])
    .where('passwordProfile', 'is not', null)
    .groupBy('passwordProfile')
    .execute();
  return rows.map(({ passwordProfile, count }) => ({ profile: passwordProfile ?? '', count: Number(count) }));
}

/** The number of Foyer's own hashes with this prefix; only for the operator, because it reads every user. */
export async function countOwnHashes(db: Kysely<Schema>, beginning = ''): Promise<number> {
  const { count } = await db
    .selectFrom('users')
    .select(({ fn }) => fn.countAll<number | string>().as('count'))
    .where('passwordHash', 'is not', null)
    .where('passwordProfile', 'is', null)
    .where(sql<string>`substr(password_hash, 1, ${sql.lit(beginning.length)})`, '=', beginning)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/**
 * The number of wrapped imported hashes that contain this text; only for the operator, because it reads every user.
 * @param profileStart prefix of their profiles
 */
export async function countWrappedHashes(db: Kysely<Schema>, profileStart: string, text = ''): Promise<number> {
  const { count } = await db
    .selectFrom('users')
    .select(({ fn }) => fn.countAll<number | string>().as('count'))
    .where(sql<string>`substr(password_profile, 1, ${sql.lit(profileStart.length)})`, '=', profileStart)
    // Both databases have this function, and it has no wildcards.
    .$if(text !== '', (query) => query.where(sql<boolean>`replace(password_hash, ${text}, '') <> password_hash`))
    .executeTakeFirstOrThrow();
  return Number(count);
}

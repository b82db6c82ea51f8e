import { type Kysely, sql, type Transaction } from 'kysely';
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
      password_profile: null,
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

/**
 * Puts a new hash of the same password in the place of one that another service made, or that was made with another key or at
 * another cost. Nothing that was given out
 * under it is void, as the password is the one that it was.
 * @returns false when the password is another one by now, or another sign-in was faster
 */
export async function rehashPassword(
  db: Kysely<Schema>,
  { id, passwordHash }: Pick<User, 'id' | 'passwordHash'>,
  newHash: string,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('users')
    .set({ password_hash: newHash, password_profile: null })
    .where('id', '=', id)
    .where('password_hash', '=', passwordHash)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** With what hashes from other services were made that some member still has, the most frequent first. */
export async function listImportedHashProfiles(db: Kysely<Schema>, max: number): Promise<string[]> {
  const rows = await db
    .selectFrom('users')
    .select('password_profile')
    .where('password_profile', 'is not', null)
    .groupBy('password_profile')
    .orderBy(({ fn }) => fn.countAll(), 'desc')
    .orderBy('password_profile')
    .limit(max)
    .execute();
  return rows.flatMap(({ password_profile }) => password_profile ?? []);
}

/** Whether any member came from another service without a password and has not set one yet (`users_awaiting_password`). */
export async function someAwaitPassword(db: Kysely<Schema>): Promise<boolean> {
  const row = await db
    .selectFrom('users')
    .select('id')
    .where('imported_at', 'is not', null)
    .where('password_hash', 'is', null)
    .where('disabled_at', 'is', null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** How many members have a hash of each profile that another service made. */
export async function countForeignProfiles(db: Kysely<Schema>): Promise<{ profile: string; count: number }[]> {
  const rows = await db
    .selectFrom('users')
    .select(({ fn }) => ['password_profile', fn.countAll<number | string>().as('count')])
    .where('password_profile', 'is not', null)
    .groupBy('password_profile')
    .execute();
  return rows.map(({ password_profile, count }) => ({ profile: password_profile ?? '', count: Number(count) }));
}

/** How many hashes of Foyer's own begin so: for the operator alone, as it reads every member. */
export async function countOwnHashes(db: Kysely<Schema>, beginning = ''): Promise<number> {
  const { count } = await db
    .selectFrom('users')
    .select(({ fn }) => fn.countAll<number | string>().as('count'))
    .where('password_hash', 'is not', null)
    .where('password_profile', 'is', null)
    .where(sql<string>`substr(password_hash, 1, ${sql.lit(beginning.length)})`, '=', beginning)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/**
 * How many hashes from elsewhere have one of Foyer's own around them, and hold this text: for the operator alone, as it reads
 * every member.
 * @param profileStart the beginning of their profiles
 */
export async function countWrappedHashes(db: Kysely<Schema>, profileStart: string, text = ''): Promise<number> {
  const { count } = await db
    .selectFrom('users')
    .select(({ fn }) => fn.countAll<number | string>().as('count'))
    .where(sql<string>`substr(password_profile, 1, ${sql.lit(profileStart.length)})`, '=', profileStart)
    // Both databases have it, and take no character for a wildcard.
    .$if(text !== '', (query) => query.where(sql<boolean>`replace(password_hash, ${text}, '') <> password_hash`))
    .executeTakeFirstOrThrow();
  return Number(count);
}

import type { Transaction } from 'kysely';
import type { UserId } from '../shared/index.ts';
import { type Db, isUniqueViolation, type Row, type Schema } from '../store/index.ts';

/** A user's passkey. Times in milliseconds since the epoch. */
export type Passkey = Omit<Row<'passkeys'>, 'transports' | 'backedUp'> & {
  /** The transports of the browser: `internal`, `hybrid`, `usb`, … */
  transports: string[];
  /** Backed up by a password manager, so on several devices. */
  backedUp: boolean;
};

const toPasskey = (row: Row<'passkeys'>): Passkey => ({
  ...row,
  transports: row.transports.split(' ').filter(Boolean),
  backedUp: row.backedUp === 1,
});

/** @returns false if this passkey already belongs to any user (WebAuthn, section 7.1, step 27) */
export async function insertPasskey(trx: Transaction<Schema>, passkey: Passkey): Promise<boolean> {
  if (await findPasskey(trx, passkey.id)) return false;
  const row = { ...passkey, transports: passkey.transports.join(' '), backedUp: Number(passkey.backedUp) };
  await trx.insertInto('passkeys').values(row).execute();
  return true;
}

/** Tests whether two parallel transactions have stored the same passkey. */
export const isSamePasskey = (error: unknown) => isUniqueViolation(error, 'passkeys.id');

export async function findPasskey(db: Db, id: string): Promise<Passkey | undefined> {
  const row = await db.selectFrom('passkeys').selectAll().where('id', '=', id).executeTakeFirst();
  return row && toPasskey(row);
}

/** A user's, the oldest first. */
export async function listPasskeys(db: Db, userId: UserId): Promise<Passkey[]> {
  const rows = await db
    .selectFrom('passkeys')
    .selectAll()
    .where('userId', '=', userId)
    .orderBy('createdAt')
    .orderBy('id')
    .execute();
  return rows.map(toPasskey);
}

export async function countPasskeys(db: Db, userId: UserId): Promise<number> {
  const { count } = await db
    .selectFrom('passkeys')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('userId', '=', userId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/**
 * Records a use and the counter. The counter must have increased, unless it is always 0 (WebAuthn, section 6.1.1): of
 * two answers with the same counter one is accepted, in any process.
 * @returns false if it has not increased, or the passkey does not exist any more
 */
export async function notePasskeyUse(
  db: Db,
  id: string,
  { counter, backedUp, nowMs }: { counter: number; backedUp: boolean; nowMs: number },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('passkeys')
    .set({ counter, backedUp: Number(backedUp), lastUsedAt: nowMs })
    .where('id', '=', id)
    .where((of) =>
      of.or([of('counter', '<', counter), of.and([of('counter', '=', 0), of.eb(of.val(counter), '=', 0)])]),
    )
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** @returns false if the user has no such passkey */
export async function renamePasskey(
  db: Db,
  userId: UserId,
  { id, name }: Pick<Passkey, 'id' | 'name'>,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('passkeys')
    .set({ name })
    .where('userId', '=', userId)
    .where('id', '=', id)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** @returns false if the user has no such passkey */
export async function removePasskey(db: Db, userId: UserId, id: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('passkeys')
    .where('userId', '=', userId)
    .where('id', '=', id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Removes passkeys added at or after a time, for example when an address change is undone. @returns the number */
export async function removePasskeysAddedSince(
  db: Db,
  { userId, sinceMs }: { userId: UserId; sinceMs: number },
): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('passkeys')
    .where('userId', '=', userId)
    .where('createdAt', '>=', sinceMs)
    .executeTakeFirst();
  return Number(numDeletedRows);
}

/** @returns the number */
export async function removeAllPasskeys(db: Db, userId: UserId): Promise<number> {
  const { numDeletedRows } = await db.deleteFrom('passkeys').where('userId', '=', userId).executeTakeFirst();
  return Number(numDeletedRows);
}

import type { Transaction } from 'kysely';
import type { Sha256, UserId } from '../shared/index.ts';
import { type Db, type Schema, uuidv7 } from '../store/index.ts';

/** Replaces all earlier ones. @param hashes SHA-256 (base64url) of each code as `recovery-codes.ts` normalizes it */
export async function replaceRecoveryCodes(
  trx: Transaction<Schema>,
  userId: UserId,
  { hashes, nowMs }: { hashes: readonly Sha256[]; nowMs: number },
): Promise<void> {
  await trx.deleteFrom('recoveryCodes').where('userId', '=', userId).execute();
  if (hashes.length === 0) return;
  await trx
    .insertInto('recoveryCodes')
    .values(hashes.map((codeHash) => ({ id: uuidv7(nowMs), userId, codeHash, createdAt: nowMs })))
    .execute();
}

/** Tests whether there is such an unused code. */
export async function hasRecoveryCode(db: Db, userId: UserId, hash: Sha256): Promise<boolean> {
  const row = await db
    .selectFrom('recoveryCodes')
    .select('id')
    .where('userId', '=', userId)
    .where('codeHash', '=', hash)
    .where('usedAt', 'is', null)
    .executeTakeFirst();
  return row !== undefined;
}

/** Uses up a code, for exactly one of several parallel calls. @returns false if there is no such unused code */
export async function consumeRecoveryCode(
  db: Db,
  userId: UserId,
  { hash, nowMs }: { hash: Sha256; nowMs: number },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('recoveryCodes')
    .set({ usedAt: nowMs })
    .where('userId', '=', userId)
    .where('codeHash', '=', hash)
    .where('usedAt', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/**
 * The number of unused codes and the time of their creation (milliseconds since the epoch; undefined: never created).
 */
export async function countRecoveryCodes(
  db: Db,
  userId: UserId,
): Promise<{ left: number; createdAtMs: number | undefined }> {
  const rows = await db
    .selectFrom('recoveryCodes')
    .select(['usedAt', 'createdAt'])
    .where('userId', '=', userId)
    .execute();
  return { left: rows.filter(({ usedAt }) => usedAt === null).length, createdAtMs: rows[0]?.createdAt };
}

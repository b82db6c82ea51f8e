import { randomBytes } from 'node:crypto';
import type { Transaction } from 'kysely';
import { type Sha256, sha256, type UserId } from '../shared/index.ts';
import { type Db, type Schema, uuidv7 } from '../store/index.ts';

const recoveryCodeCount = 10;
/** Base32 (RFC 4648): without 0, 1, 8 and 9, which are confused with letters. */
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
/** 80 bits cannot be found from a hash, so a plain hash suffices. */
const characters = 16;
const groupCharacters = 4;

/** New codes as users see them: `XXXX-XXXX-XXXX-XXXX`. */
export function makeRecoveryCodes(): string[] {
  return Array.from({ length: recoveryCodeCount }, makeRecoveryCode);
}

function makeRecoveryCode(): string {
  // 256 is a multiple of 32, so all letters are equally likely.
  const letters = Array.from(randomBytes(characters), (byte) => alphabet[byte % alphabet.length]).join('');
  return (letters.match(new RegExp(`.{${groupCharacters}}`, 'g')) ?? []).join('-');
}

/**
 * Normalizes a typed code: removes separators and corrects confused letters; undefined if it is not a complete code.
 */
export function normaliseRecoveryCode(typed: string): string | undefined {
  const letters = typed
    .replace(/[\s\-–—]/g, '')
    .toUpperCase()
    .replaceAll('0', 'O')
    .replaceAll('1', 'I')
    .replaceAll('8', 'B');
  return letters.length === characters && [...letters].every((letter) => alphabet.includes(letter))
    ? letters
    : undefined;
}

/** The stored form of a code. @param code from `normaliseRecoveryCode` */
export function hashRecoveryCode(code: string): Sha256 {
  return sha256(code);
}

/** Replaces all earlier ones. @param hashes SHA-256 (base64url) of each code as `normaliseRecoveryCode` gives it */
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

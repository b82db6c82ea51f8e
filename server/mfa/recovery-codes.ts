import { randomBytes } from 'node:crypto';
import { type Sha256, sha256 } from '../shared/index.ts';

export const recoveryCodeCount = 10;
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

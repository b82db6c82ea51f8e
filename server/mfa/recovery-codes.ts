import { randomBytes } from 'node:crypto';
import { sha256 } from '../shared/index.ts';

export const recoveryCodeCount = 10;
/** Base32 (RFC 4648): no 0, 1, 8 or 9, which are taken for letters. */
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
/** 80 bits: nobody finds one from its hash, so a plain hash is enough. */
const characters = 16;
const groupCharacters = 4;

/** New codes as the member sees them: `XXXX-XXXX-XXXX-XXXX`. */
export function makeRecoveryCodes(): string[] {
  return Array.from({ length: recoveryCodeCount }, makeRecoveryCode);
}

function makeRecoveryCode(): string {
  // 256 is a multiple of 32: every letter is as likely.
  const letters = Array.from(randomBytes(characters), (byte) => alphabet[byte % alphabet.length]).join('');
  return (letters.match(new RegExp(`.{${groupCharacters}}`, 'g')) ?? []).join('-');
}

/** A code as it was typed, without what people put between or take for a letter; undefined when it is no whole one. */
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

/** What is kept of a code. @param code as `normalRecoveryCode` answers it */
export function hashRecoveryCode(code: string): string {
  return sha256(code);
}

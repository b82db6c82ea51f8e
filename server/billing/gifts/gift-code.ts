import { randomBytes } from 'node:crypto';
import { type Sha256, sha256 } from '../../shared/index.ts';

/** Crockford's base 32: no I, L, O, U, and small letters count as capitals. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** 5 bits each: 120 random bits. */
const characters = 24;
const groupSize = 4;
const pattern = new RegExp(`^[${alphabet}]{${characters}}$`);

/** A new code, in groups of four: it is a bearer secret. */
export function createGiftCode(): string {
  // 256 is a multiple of 32, so no character is more frequent.
  const code = [...randomBytes(characters)].map((byte) => alphabet[byte % alphabet.length]).join('');
  return (code.match(new RegExp(`.{${groupSize}}`, 'g')) ?? []).join('-');
}

/** The stored form of a code as a member types it: in any case, with or without dashes and spaces. undefined: no code. */
export function toGiftCodeHash(typed: string): Sha256 | undefined {
  const code = typed
    .toUpperCase()
    .replaceAll(/[\s\p{Dash}]/gu, '')
    .replaceAll('O', '0')
    .replaceAll(/[IL]/g, '1');
  return pattern.test(code) ? sha256(code) : undefined;
}

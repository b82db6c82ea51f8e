import { readHash, type StoredHash, toDecoyHash } from './stored-hash.ts';

/**
 * A weak imported hash that was wrapped in argon2id at the import, without its password: the stored text has the weak
 * hash's parameters and salt, and argon2id of its whole text. An attack costs the work of both.
 */
const shape = /^\$wrapped\$([\w-]+)(\$.+)$/;
const profileStart = 'wrapped$';

/** The text without its result, which argon2id hides. */
const toShell = (text: string): string =>
  text.startsWith('$2')
    ? text.slice(0, 29) + '.'.repeat(31)
    : text.slice(0, text.lastIndexOf('$') + 1) + 'A'.repeat(text.length - text.lastIndexOf('$') - 1);

export const wrappedProfile = (profile: string): string => profileStart + profile;

const isWrapped = (profile: string): boolean => profile.startsWith(profileStart);

/** @param outer argon2id of the weak hash's whole text */
export const wrappedText = (weak: string, outer: string): string =>
  `$wrapped$${Buffer.from(toShell(weak)).toString('base64url')}${outer}`;

export interface WrappedHash {
  weak: StoredHash;
  /** Like any hash of Foyer's own; its input is the text from `weak.rerender`. */
  outer: string;
}

/** Undefined: it is not wrapped. */
export function readWrapped(text: string): WrappedHash | undefined {
  // No library creates longer texts; this bounds the work of the expression.
  const [, shell, outer] = text.length > 1_024 ? [] : (shape.exec(text) ?? []);
  if (shell === undefined || outer === undefined) return undefined;
  const weak = readHash(Buffer.from(shell, 'base64url').toString());
  return typeof weak === 'string' ? undefined : { weak, outer };
}

/** A decoy of a profile, wrapped or not; for a wrapped one without the argon2id, which is done for every user. */
export const decoyOfProfile = (profile: string): StoredHash | undefined =>
  toDecoyHash(isWrapped(profile) ? profile.slice(profileStart.length) : profile);

/** Minimum work of an imported hash. The import reports weaker ones, and `foyer doctor` counts those that remain. */
const minWork = { bcryptCost: 10, scryptWork: 2 ** 17, argon2Work: 19_456 * 2, argon2MemoryKib: 7_168 } as const;
/** PBKDF2 by its digest, as OWASP's Password Storage Cheat Sheet recommends. */
const minIterations: Record<string, number> = { sha1: 220_000, sha256: 100_000, sha512: 35_000 };

/** Tests whether hashes of a profile (`stored-hash.ts`) take less work to attack than they should. */
export function isBelowFloor(profile: string): boolean {
  if (isWrapped(profile)) return false;
  const [, cost] = /^bcrypt\$(\d+)$/.exec(profile) ?? [];
  if (cost !== undefined) return Number(cost) < minWork.bcryptCost;
  const [, digest, iterations] = /^pbkdf2-(\w+)\$i=(\d+)\$/.exec(profile) ?? [];
  if (digest !== undefined) return Number(iterations) < (minIterations[digest] ?? Number.POSITIVE_INFINITY);
  const [, exponent, block] = /^scrypt\$ln=(\d+),r=(\d+),/.exec(profile) ?? [];
  if (exponent !== undefined) return 2 ** Number(exponent) * Number(block) < minWork.scryptWork;
  const [, memory, passes] = /^argon2id\$v=19\$m=(\d+),t=(\d+),/.exec(profile) ?? [];
  if (memory === undefined) return true;
  return Number(memory) < minWork.argon2MemoryKib || Number(memory) * Number(passes) < minWork.argon2Work;
}

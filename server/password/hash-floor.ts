import { isWrapped } from './wrapped-hash.ts';

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

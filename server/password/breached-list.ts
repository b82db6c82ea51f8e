import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A set of texts by 40 bits of their SHA-256: 65,536 buckets by the first 16 bits, with one byte each for their size,
 * then the other 24 bits of each text in order. There are no false negatives; the rate of false positives is size /
 * 2^40.
 */
interface TextSet {
  has(text: string): boolean;
  readonly size: number;
}

const magic = 'FOYERSET';
const bucketCount = 65_536;
const restBytes = 3;
const headBytes = magic.length + bucketCount;

function toBucket(text: string): { bucket: number; rest: number } {
  const hash = createHash('sha256').update(text).digest();
  return { bucket: hash.readUInt16BE(0), rest: hash.readUIntBE(2, restBytes) };
}

/** @returns the set in its file format */
export function packTexts(texts: Iterable<string>): Buffer {
  const buckets = new Map<number, Set<number>>();
  for (const text of texts) {
    const { bucket, rest } = toBucket(text);
    const rests = buckets.get(bucket);
    if (rests) rests.add(rest);
    else buckets.set(bucket, new Set([rest]));
  }
  const counts = Buffer.alloc(bucketCount);
  const parts = [Buffer.from(magic), counts];
  for (let bucket = 0; bucket < bucketCount; bucket += 1) {
    const rests = [...(buckets.get(bucket) ?? [])].sort((a, b) => a - b);
    if (rests.length > 255) throw new RangeError(`bucket ${bucket} holds ${rests.length} texts: the set is too large`);
    counts[bucket] = rests.length;
    const part = Buffer.alloc(rests.length * restBytes);
    rests.forEach((rest, index) => {
      part.writeUIntBE(rest, index * restBytes, restBytes);
    });
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** @throws {Error} if the file has another format or is truncated */
export function openTexts(file: Buffer): TextSet {
  if (file.subarray(0, magic.length).toString('latin1') !== magic) throw new Error('not a list of passwords');
  const starts = new Uint32Array(bucketCount + 1);
  for (let bucket = 0; bucket < bucketCount; bucket += 1) {
    starts[bucket + 1] = (starts[bucket] ?? 0) + (file[magic.length + bucket] ?? 0);
  }
  const size = starts[bucketCount] ?? 0;
  if (file.length !== headBytes + size * restBytes) throw new Error('the list of passwords is cut off');
  return {
    size,
    has(text) {
      const { bucket, rest } = toBucket(text);
      for (let index = starts[bucket] ?? 0; index < (starts[bucket + 1] ?? 0); index += 1) {
        if (file.readUIntBE(headBytes + index * restBytes, restBytes) === rest) return true;
      }
      return false;
    },
  };
}

/** Normalizes a password for comparison: ignores case and the composition of letters. */
const foldPassword = (password: string): string => password.normalize('NFKC').toLowerCase();

const letterBySign: Record<string, string> = {
  '@': 'a',
  '4': 'a',
  '8': 'b',
  '3': 'e',
  '1': 'i',
  '!': 'i',
  '0': 'o',
  $: 's',
  '5': 's',
  '7': 't',
};
/** Replaces digits and signs by the letters that they look like, as in `p@ssw0rd`. */
const spelt = (text: string) => text.replace(/[@4831!0$57]/g, (sign) => letterBySign[sign] ?? sign);

/** Removes numbers and signs before and after the word. */
const stripNonLetters = (text: string) => text.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '');

/** The base word of a password as an entry of the list; the prefix keeps it distinct from a whole password. */
const baseEntry = (password: string): string => `\0${stripNonLetters(foldPassword(password))}`;

/** The forms in which the list could contain a password. */
function* listCandidates(password: string): Generator<string> {
  const plain = foldPassword(password);
  const bare = plain.replace(/[\p{P}\p{S}\s]+$/u, '');
  yield* new Set([plain, spelt(plain), bare, spelt(bare), baseEntry(plain), baseEntry(spelt(bare))]);
}

/** Tests whether the list contains this password, a variant in case, spelling or trailing signs, or its base word. */
export function isListed(list: TextSet, password: string): boolean {
  for (const entry of listCandidates(password)) if (list.has(entry)) return true;
  return false;
}

/**
 * The entries for a list of passwords, the most common first: passwords that pass the other rules, and the most common
 * words.
 */
export function* entriesToList(
  passwords: readonly string[],
  { least: min = 8, words = 20_000 } = {},
): Generator<string> {
  for (const password of passwords) if ([...foldPassword(password)].length >= min) yield foldPassword(password);
  for (const password of passwords.slice(0, words)) {
    const entry = baseEntry(password);
    // Shorter words are part of many passwords by chance.
    if (entry.length > 4) yield entry;
  }
}

/** The folder of this module among the sources, also for code that runs from dist/. */
const moduleName = import.meta.dirname.replace(/\bdist[\\/](?=server[\\/]password$)/, '');
export const shippedListPath = join(moduleName, 'breached-passwords.bin');

let shipped: TextSet | undefined;

/**
 * The list that comes with Foyer (docs/decisions/0006-breached-passwords.md): read once, 1.5 MB on disk, 1.8 MB in
 * memory.
 */
export function shippedList(): TextSet {
  shipped ??= openTexts(readFileSync(shippedListPath));
  return shipped;
}

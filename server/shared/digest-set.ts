import { hash, randomBytes } from 'node:crypto';

/** A set of texts that cannot be listed. */
export interface DigestSet {
  has(text: string): boolean;
  add(text: string): void;
}

/**
 * 16-bit words in a digest. One bit marks a slot as used; by the other 79 two of n texts count as one with a chance of
 * n² / 2^80: 2e-11 for 5 million, where 64 bits would have 7e-7.
 */
const words = 5;
const maxLoad = 0.85;
const minSlots = 1_024;

interface Table {
  slots: Uint16Array;
  count: number;
  used: number;
}

const createTable = (count: number): Table => ({ slots: new Uint16Array(count * words), count, used: 0 });

/** A digest as text, whose memory is returned sooner than that of a buffer: each character is a byte. */
type Digest = string;

const wordAt = (digest: Digest, word: number) => digest.charCodeAt(word * 2) | (digest.charCodeAt(word * 2 + 1) << 8);

/** A number below 2^48, of words that are not in the slot. */
const placeFor = (digest: Digest) =>
  (wordAt(digest, words) * 0x10000 + wordAt(digest, words + 1)) * 0x10000 + wordAt(digest, words + 2);

/** The first word of the slot that has the digest, or of the free slot for it. */
function findSlot({ slots, count }: Table, digest: Digest): { at: number; isFree: boolean } {
  const first = wordAt(digest, 0) | 1;
  for (let slot = placeFor(digest) % count; ; slot = (slot + 1) % count) {
    const at = slot * words;
    if (slots[at] === 0) return { at, isFree: true };
    let word = slots[at] === first ? 1 : 0;
    while (word > 0 && word < words && slots[at + word] === wordAt(digest, word)) word += 1;
    if (word === words) return { at, isFree: false };
  }
}

/**
 * Keeps a digest of each text outside of the heap, in 10 bytes: 12 with free slots. The digests have a random salt, so
 * that no one can choose texts that count as one.
 * @param expected number of texts; more take a quarter of the memory again each time
 */
export function createDigestSet(expected: number): DigestSet {
  const salt = randomBytes(16).toString('base64url');
  const digestFor = (text: string) => hash('sha256', `${salt}${text}`, 'binary');
  const tables = [createTable(Math.max(minSlots, Math.ceil(expected / maxLoad)))];
  const isKnown = (digest: Digest) => tables.some((table) => !findSlot(table, digest).isFree);
  function openTable(): Table {
    const last = tables.at(-1);
    if (last && last.used < last.count * maxLoad) return last;
    const slots = tables.reduce((sum, { count }) => sum + count, 0);
    const table = createTable(Math.ceil(slots / 4));
    tables.push(table);
    return table;
  }
  return {
    has: (text) => isKnown(digestFor(text)),
    add(text) {
      const digest = digestFor(text);
      if (isKnown(digest)) return;
      const table = openTable();
      const { at } = findSlot(table, digest);
      for (let word = 0; word < words; word += 1) table.slots[at + word] = wordAt(digest, word);
      table.slots[at] = wordAt(digest, 0) | 1;
      table.used += 1;
    },
  };
}

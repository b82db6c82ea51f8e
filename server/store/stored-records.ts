import type { z } from 'zod';
import { toSealedText } from '../shared/index.ts';
import type { KeyValueStore } from './key-value.ts';
import type { SecretBox } from './secret-box.ts';
import { parseStored } from './stored-json.ts';

export interface RecordSettings<T> {
  kv: KeyValueStore;
  /** Prefix of the keys. Changing it would lose the records that are live at an upgrade. */
  kind: string;
  schema: z.ZodType<T>;
  ttlMs: number;
  /** Encrypts the records. The key is the associated data: a record that is moved to another key cannot be opened. */
  seal?: SecretBox | undefined;
}

/** Records of one kind in the key-value store, each under a name. */
interface StoredRecords<T> {
  /** Writes the whole record with a new time to live. */
  write(name: string, value: T, ttlMs?: number): Promise<void>;
  /** Changes a live record without extending it; without one it does nothing. */
  update(name: string, value: T): Promise<void>;
  find(name: string): Promise<T | undefined>;
  /** Reads and deletes the record: of several parallel callers, one gets it. */
  takeOnce(name: string): Promise<T | undefined>;
  /** The same for a record that `matches`; any other one stays. */
  takeMatching(name: string, matches: (value: T) => boolean): Promise<T | undefined>;
  /** Like `find`, with the mark that `consume` sets. */
  findConsumable(name: string): Promise<{ value: T; isUsed: boolean } | undefined>;
  /** Marks the record as used; it stays until it expires. @returns true for one of several parallel callers */
  consume(name: string): Promise<boolean>;
  /** @returns whether this call deleted a record: true for one of several parallel callers */
  delete(name: string): Promise<boolean>;
}

export function storedRecords<T>({ kv, kind, schema, ttlMs, seal }: RecordSettings<T>): StoredRecords<T> {
  const key = (name: string) => `${kind}:${name}`;
  const toText = (name: string, value: T) => {
    const json = JSON.stringify(value);
    return seal ? seal.seal(json, key(name)) : json;
  };
  const toValue = (name: string, text: string) =>
    parseStored(schema, seal ? seal.open(toSealedText(text), key(name)) : text);
  const toValueIfAny = (name: string, text: string | null) => (text === null ? undefined : toValue(name, text));

  return {
    write: (name, value, ownTtlMs = ttlMs) => kv.set(key(name), toText(name, value), ownTtlMs),
    async update(name, value) {
      await kv.update(key(name), toText(name, value));
    },
    find: async (name) => toValueIfAny(name, await kv.get(key(name))),
    takeOnce: async (name) => toValueIfAny(name, await kv.takeOnce(key(name))),
    async takeMatching(name, matches) {
      const text = await kv.get(key(name));
      if (text === null) return undefined;
      const value = toValue(name, text);
      if (!matches(value)) return undefined;
      return (await kv.compareAndDelete(key(name), text)) ? value : undefined;
    },
    async findConsumable(name) {
      const entry = await kv.getConsumable(key(name));
      return entry ? { value: toValue(name, entry.value), isUsed: entry.consumedAt !== null } : undefined;
    },
    consume: async (name) => (await kv.consume(key(name))).state === 'consumed',
    delete: async (name) => (await kv.takeOnce(key(name))) !== null,
  };
}

import type { RedisClient } from './redis-client.ts';

/**
 * The contract for short-lived state: sessions, pending requests, codes, challenges, counters. Two backends implement
 * it, Redis and an embedded SQLite file; one contract suite tests both.
 * Keys and values are text. Every entry has a time to live in milliseconds. Each operation is atomic, also between
 * processes. An operation that cannot be executed (the store is unavailable, or stays busy) rejects with {@link
 * StoreUnavailable}; it never answers wrongly.
 */
export interface KeyValueStore {
  readonly kind: 'redis' | 'embedded';
  /** The underlying connection, for a library that uses Redis itself. Undefined: the backend is not Redis. */
  readonly redis?: RedisClient | undefined;
  /** The value, or null when absent or expired. */
  get(key: string): Promise<string | null>;
  /** Overwrites any entry; the time to live restarts and a consumed mark is cleared. */
  set(key: string, value: string, ttlMs: number): Promise<void>;
  /** Writes only if no live entry has this key; true if it wrote. */
  setIfAbsent(key: string, value: string, ttlMs: number): Promise<boolean>;
  /** Overwrites only a live entry, keeping its remaining time to live; true if there was one. */
  update(key: string, value: string): Promise<boolean>;
  /** Reads and deletes atomically: of several parallel callers exactly one gets the value. */
  takeOnce(key: string): Promise<string | null>;
  /**
   * Marks an entry as used atomically and distinguishes the three cases. The entry stays until it expires, so that a
   * second use can be recognized and answered (RFC 6749, section 4.1.2).
   */
  consume(key: string): Promise<Consumption>;
  /** Like get, with the consumed mark (milliseconds since the epoch, or null). */
  getConsumable(key: string): Promise<{ value: string; consumedAt: number | null } | null>;
  delete(...keys: string[]): Promise<void>;
  /** Deletes only if the live value equals `expected`; true if it did. */
  compareAndDelete(key: string, expected: string): Promise<boolean>;
  /** Gives a live entry a new time to live; false if there is none. */
  expire(key: string, ttlMs: number): Promise<boolean>;
  /**
   * Adds `by` (default 1, may be negative; the count is never below 0) to a counter and returns the new count. The time
   * to live starts with the first increment; later ones do not extend it. None leaves more than its own, so that a
   * counter ends also when the clock of the store was set back.
   */
  consumeCount(key: string, ttlMs: number, by?: number): Promise<{ count: number; expiresInMs: number }>;
  /** The live count of a counter, 0 if absent. */
  count(key: string): Promise<number>;
  /** Adds a member to a set; the set lives at least `ttlMs` from now (never shortened). */
  addToSet(key: string, member: string, ttlMs: number): Promise<void>;
  setMembers(key: string): Promise<string[]>;
  removeFromSet(key: string, member: string): Promise<void>;
  /** Resolves when the store answers, else rejects with StoreUnavailable. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export type Consumption =
  | { state: 'consumed'; value: string }
  | { state: 'already-used'; value: string; consumedAt: number }
  | { state: 'unknown' };

/** A store does not answer. HTTP answers with 503. */
export class StoreUnavailable extends Error {
  override name = 'StoreUnavailable';
  /** The property that HTTP libraries read from an error. */
  readonly statusCode = 503;
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
  }
}

import type { RedisClient } from './redis-client.ts';

/**
 * The contract for short-lived state: sessions, pending requests, codes, challenges, counters.
 * Two backends keep it, Redis and an embedded SQLite file; one contract suite tests both.
 *
 * Keys and values are text. Every entry has a time to live in milliseconds: nothing here lives for ever.
 * Each operation is atomic, also between processes. An operation that cannot be carried out (the store is
 * away, or stays busy) rejects with {@link StoreUnavailable}; it never answers wrongly.
 */
export interface KeyValueStore {
  readonly kind: 'redis' | 'embedded';
  /** The connection beneath, for a library that speaks to Redis itself. Undefined: the backend is not Redis. */
  readonly redis?: RedisClient | undefined;
  /** The value, or null when absent or expired. */
  get(key: string): Promise<string | null>;
  /** Writes whatever was there before; the time to live starts anew and a consumed mark is cleared. */
  set(key: string, value: string, ttlMs: number): Promise<void>;
  /** Writes only when no live entry has this key; true when it wrote. */
  setIfAbsent(key: string, value: string, ttlMs: number): Promise<boolean>;
  /** Overwrites only a live entry, keeping its remaining time to live; true when there was one. */
  update(key: string, value: string): Promise<boolean>;
  /** Reads and deletes in one step: of many simultaneous takers exactly one gets the value. */
  takeOnce(key: string): Promise<string | null>;
  /**
   * Marks an entry as used in one step and tells the three cases apart; the entry stays until it expires,
   * so that a second use can be recognised and answered (RFC 6749, section 4.1.2).
   */
  consume(key: string): Promise<Consumption>;
  /** Like get, with the consumed mark (milliseconds since the epoch, or null). */
  getConsumable(key: string): Promise<{ value: string; consumedAt: number | null } | null>;
  delete(...keys: string[]): Promise<void>;
  /** Deletes only when the live value equals `expected`; true when it did. */
  compareAndDelete(key: string, expected: string): Promise<boolean>;
  /** Gives a live entry a new time to live; false when there is none. */
  expire(key: string, ttlMs: number): Promise<boolean>;
  /**
   * Adds `by` (default 1, may be negative; the count never falls under 0) to a counter and answers the new count.
   * The time to live starts with the first increment and is not prolonged by later ones.
   */
  consumeCount(key: string, ttlMs: number, by?: number): Promise<{ count: number; expiresInMs: number }>;
  /** The live count of a counter, 0 when absent. */
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

/** A store does not answer. HTTP answers it with an honest 503. */
export class StoreUnavailable extends Error {
  override name = 'StoreUnavailable';
  /** What HTTP libraries read from an error. */
  readonly statusCode = 503;
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
  }
}

/**
 * Commands of the open connection to Redis, for a library that sends its own (connect-redis). Values have the header of
 * redis-scripts.ts, so that the library and the key-value store can read each other's entries. A command without an
 * answer rejects with StoreUnavailable.
 */
export interface RedisClient {
  get(key: string): Promise<string | null>;
  /** `KEEPTTL XX` overwrites only a live entry and keeps its time to live; null if there is none. */
  set(key: string, value: string, ...options: RedisSetOptions): Promise<'OK' | null>;
  del(...keys: string[]): Promise<number>;
  pexpire(key: string, ttlMs: number): Promise<number>;
}

type RedisSetOptions = ['PX', ttlMs: number] | ['KEEPTTL', 'XX'];

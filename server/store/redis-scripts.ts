import type { Result } from 'ioredis';

/*
 * How an entry is written in Redis: one character for its state, for a used one the time of use, then the value.
 * Counters are plain numbers and sets are Redis sets.
 *
 *     =value                 fresh
 *     !1750000000000value    used at that time (13 digits: milliseconds since the epoch, until the year 2286)
 */
const USED_HEADER_LENGTH = 14;

export function encodeFresh(value: string): string {
  return `=${value}`;
}

export function decode(stored: string): { value: string; consumedAt: number | null } {
  if (stored.startsWith('=')) return { value: stored.slice(1), consumedAt: null };
  if (stored.startsWith('!')) {
    return { value: stored.slice(USED_HEADER_LENGTH), consumedAt: Number(stored.slice(1, USED_HEADER_LENGTH)) };
  }
  return { value: stored, consumedAt: null };
}

/** Each script is atomic on one Redis node, alone or under Sentinel. (Foyer does not use Redis Cluster.) */
export const scripts = {
  /** Keeps the time to live and the mark of use. Arguments: entry | new value. Returns 1, or 0 if there is none. */
  foyerUpdate: {
    numberOfKeys: 1,
    lua: `
      local stored = redis.call('GET', KEYS[1])
      if not stored then return 0 end
      local header = '='
      if stored:sub(1, 1) == '!' then header = stored:sub(1, ${USED_HEADER_LENGTH}) end
      redis.call('SET', KEYS[1], header .. ARGV[1], 'KEEPTTL')
      return 1`,
  },
  /** Arguments: entry | time. Returns the earlier content: an unused entry is now marked, a used one stays. */
  foyerConsume: {
    numberOfKeys: 1,
    lua: `
      local stored = redis.call('GET', KEYS[1])
      if stored and stored:sub(1, 1) == '=' then
        redis.call('SET', KEYS[1], '!' .. ARGV[1] .. stored:sub(2), 'KEEPTTL')
      end
      return stored`,
  },
  /** Arguments: entry | expected value. */
  foyerCompareAndDelete: {
    numberOfKeys: 1,
    lua: `
      local stored = redis.call('GET', KEYS[1])
      if not stored then return 0 end
      local from = stored:sub(1, 1) == '!' and ${USED_HEADER_LENGTH + 1} or 2
      if stored:sub(from) ~= ARGV[1] then return 0 end
      return redis.call('DEL', KEYS[1])`,
  },
  /** Arguments: counter | time to live, by. Returns count and remaining time to live. */
  foyerIncrement: {
    numberOfKeys: 1,
    lua: `
      local count = redis.call('INCRBY', KEYS[1], ARGV[2])
      if count < 0 then
        count = 0
        redis.call('SET', KEYS[1], '0', 'KEEPTTL')
      end
      local ttl = redis.call('PTTL', KEYS[1])
      if ttl < 0 or ttl > tonumber(ARGV[1]) then
        ttl = tonumber(ARGV[1])
        redis.call('PEXPIRE', KEYS[1], ttl)
      end
      return {count, ttl}`,
  },
  /** Arguments: set | member, time to live. Never shortens the set's life. */
  foyerAddToSet: {
    numberOfKeys: 1,
    lua: `
      redis.call('SADD', KEYS[1], ARGV[1])
      if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end`,
  },
} as const;

declare module 'ioredis' {
  interface RedisCommander<Context> {
    foyerUpdate(key: string, value: string): Result<number, Context>;
    foyerConsume(key: string, nowMs: number): Result<string | null, Context>;
    foyerCompareAndDelete(key: string, expected: string): Result<number, Context>;
    foyerIncrement(key: string, ttlMs: number, by: number): Result<[count: number, ttlMs: number], Context>;
    foyerAddToSet(key: string, member: string, ttlMs: number): Result<null, Context>;
  }
}

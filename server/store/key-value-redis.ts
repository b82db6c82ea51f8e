import { Redis } from 'ioredis';
import { clampTtl } from './clamp-ttl.ts';
import type { StoreLog } from './database.ts';
import { type Consumption, type KeyValueStore, StoreUnavailable } from './key-value.ts';
import { parseRedisAddress, requireRedisDatabase } from './redis-address.ts';
import type { RedisClient } from './redis-client.ts';
import { keepReviving } from './redis-revival.ts';
import { decode, encodeFresh, scripts } from './redis-scripts.ts';

const CONNECT_TIMEOUT_MS = 2000;
const COMMAND_TIMEOUT_MS = 2000;
/** If commands are pending and no byte arrives for this long, the connection counts as dead and is replaced. */
const SILENCE_TIMEOUT_MS = 3000;
const MAX_RECONNECT_DELAY_MS = 500;
/** A closed connection that lingers is destroyed after this time. */
const LINGER_TIMEOUT_MS = 300;
/** For the whole first connection; otherwise the attempts at unreachable sentinels would never end. */
const OPEN_TIMEOUT_MS = 5000;

interface RedisKeyValueOptions {
  /** See `parseRedisAddress`. */
  url: string;
  /** Prefix of every key; has precedence over the address's `?prefix=`. */
  prefix?: string | undefined;
  log?: StoreLog | undefined;
}

/**
 * The key-value store in Redis 6.2 or newer, alone or under Sentinel. Commands of one turn of the event loop are sent
 * together; operations with several steps are Lua scripts.
 * @throws StoreUnavailable if it cannot be reached; TypeError for an invalid address.
 */
export async function openRedisKeyValue(options: RedisKeyValueOptions): Promise<KeyValueStore> {
  const address = parseRedisAddress(options.url);
  const redis = new Redis({
    ...address,
    keyPrefix: options.prefix ?? address.keyPrefix,
    lazyConnect: true,
    connectTimeout: CONNECT_TIMEOUT_MS,
    commandTimeout: COMMAND_TIMEOUT_MS,
    socketTimeout: SILENCE_TIMEOUT_MS,
    disconnectTimeout: LINGER_TIMEOUT_MS,
    sentinelCommandTimeout: COMMAND_TIMEOUT_MS,
    enableAutoPipelining: true,
    // A command without an answer may have been executed. Repeated it would answer wrongly (a code that was just
    // consumed would look used), so it fails, like those that wait when a reconnection fails.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => Math.min(attempt * 50, MAX_RECONNECT_DELAY_MS),
    // After a fail-over the old master may still answer, as a replica.
    reconnectOnError: (error) => error.message.includes('READONLY'),
    scripts,
  });
  redis.on('error', (error: Error) => options.log?.('The connection to Redis failed', error));
  await connect(redis);
  const stopReviving = keepReviving(redis);
  return {
    kind: 'redis',
    redis: openClient(redis),
    ...entries(redis),
    ...collections(redis),
    ...lifecycle(redis, stopReviving),
  };
}

async function connect(redis: Redis): Promise<void> {
  const giveUp = setTimeout(() => redis.disconnect(), OPEN_TIMEOUT_MS);
  let reason: unknown;
  redis.on('error', (error: Error) => {
    reason ??= error;
  });
  try {
    await redis.connect();
    await requireRedisDatabase(redis);
  } catch (error) {
    redis.disconnect();
    if (error instanceof TypeError) throw error;
    // connect() itself only reports that the connection is closed.
    throw unavailable(reason ?? error);
  } finally {
    clearTimeout(giveUp);
  }
}

function openClient(redis: Redis): RedisClient {
  return {
    async get(key) {
      const stored = await answer(redis.get(key));
      return stored === null ? null : decode(stored).value;
    },
    async set(key, value, ...options) {
      const stored = encodeFresh(value);
      const [option, ttlMs] = options;
      return answer(
        option === 'PX' ? redis.set(key, stored, 'PX', clampTtl(ttlMs)) : redis.set(key, stored, 'KEEPTTL', 'XX'),
      );
    },
    del: (...keys) => answer(redis.del(...keys)),
    async pexpire(key, ttlMs) {
      return answer(redis.pexpire(key, clampTtl(ttlMs)));
    },
  };
}

type EntryOperations =
  | 'get'
  | 'set'
  | 'setIfAbsent'
  | 'update'
  | 'takeOnce'
  | 'consume'
  | 'getConsumable'
  | 'delete'
  | 'compareAndDelete'
  | 'expire';

function entries(redis: Redis): Pick<KeyValueStore, EntryOperations> {
  return {
    async get(key) {
      const stored = await answer(redis.get(key));
      return stored === null ? null : decode(stored).value;
    },
    async set(key, value, ttlMs) {
      await answer(redis.set(key, encodeFresh(value), 'PX', clampTtl(ttlMs)));
    },
    async setIfAbsent(key, value, ttlMs) {
      return (await answer(redis.set(key, encodeFresh(value), 'PX', clampTtl(ttlMs), 'NX'))) === 'OK';
    },
    async update(key, value) {
      return (await answer(redis.foyerUpdate(key, value))) === 1;
    },
    async takeOnce(key) {
      const stored = await answer(redis.getdel(key));
      return stored === null ? null : decode(stored).value;
    },
    async consume(key) {
      return toConsumption(await answer(redis.foyerConsume(key, Date.now())));
    },
    async getConsumable(key) {
      const stored = await answer(redis.get(key));
      return stored === null ? null : decode(stored);
    },
    async delete(...keys) {
      if (keys.length > 0) await answer(redis.del(...keys));
    },
    async compareAndDelete(key, expected) {
      return (await answer(redis.foyerCompareAndDelete(key, expected))) === 1;
    },
    async expire(key, ttlMs) {
      return (await answer(redis.pexpire(key, clampTtl(ttlMs)))) === 1;
    },
  };
}

function collections(
  redis: Redis,
): Pick<KeyValueStore, 'consumeCount' | 'count' | 'addToSet' | 'setMembers' | 'removeFromSet'> {
  return {
    async consumeCount(key, ttlMs, by = 1) {
      const [count, expiresInMs] = await answer(redis.foyerIncrement(key, clampTtl(ttlMs), by));
      return { count, expiresInMs };
    },
    async count(key) {
      return Number((await answer(redis.get(key))) ?? 0);
    },
    async addToSet(key, member, ttlMs) {
      await answer(redis.foyerAddToSet(key, member, clampTtl(ttlMs)));
    },
    setMembers: (key) => answer(redis.smembers(key)),
    async removeFromSet(key, member) {
      await answer(redis.srem(key, member));
    },
  };
}

function lifecycle(redis: Redis, stopReviving: () => void): Pick<KeyValueStore, 'ping' | 'close'> {
  return {
    async ping() {
      await answer(redis.ping());
    },
    async close() {
      stopReviving();
      // QUIT waits for pending commands; without a connection there are none.
      if (redis.status === 'ready') await redis.quit().catch(() => {});
      redis.disconnect();
    },
  };
}

function toConsumption(before: string | null): Consumption {
  if (before === null) return { state: 'unknown' };
  const { value, consumedAt } = decode(before);
  return consumedAt === null ? { state: 'consumed', value } : { state: 'already-used', value, consumedAt };
}

async function answer<T>(reply: Promise<T>): Promise<T> {
  try {
    return await reply;
  } catch (error) {
    throw isOwnMistake(error) ? error : unavailable(error);
  }
}

/**
 * Errors of the caller, for example a counter used as a set; all other refusals of Redis (READONLY, OOM, LOADING) are
 * outages.
 */
function isOwnMistake(error: unknown): boolean {
  return (
    error instanceof Error &&
    error.name === 'ReplyError' &&
    /^(WRONGTYPE|ERR value is not an integer)/.test(error.message)
  );
}

function unavailable(cause: unknown): StoreUnavailable {
  return new StoreUnavailable(`Redis does not answer: ${cause instanceof Error ? cause.message : cause}`, { cause });
}

import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { StoreUnavailable } from './key-value.ts';
import { parseRedisAddress, requireRedisDatabase } from './redis-address.ts';
import { isMisconfigured } from './redis-errors.ts';

/** Facts about a Redis server; unknown ones are undefined. */
export interface RedisFacts {
  /** Duration of one command on an open connection. */
  pingMs: number;
  version: string | undefined;
  /** `master` or `slave`. */
  role: string | undefined;
  cluster: boolean | undefined;
  policy: string | undefined;
  /** Bytes; 0 is no limit. */
  maxMemory: number | undefined;
  usedMemory: number | undefined;
  appendOnly: boolean | undefined;
  /** The `save` setting: empty without snapshots. */
  save: string | undefined;
  /** Whether the last snapshot and the last write of the append-only file succeeded. */
  lastWritesOk: boolean | undefined;
  /** Commands that this login may not use. */
  forbidden: string[];
  /** Its clock, and this machine's before and after the query (milliseconds since the epoch). */
  clock: { beforeMs: number; theirsMs: number; afterMs: number } | undefined;
  /** The error of a test that writes a key and deletes it with a script; undefined if it succeeded. */
  refusedWrite: string | undefined;
}

/**
 * Inspects a Redis server. Writes one key, which it deletes at once and which would expire in seconds.
 * @param options.limitMs for each answer
 * @throws StoreUnavailable if it does not answer; TypeError for an invalid address
 */
export async function inspectRedis(
  url: string,
  { now = Date.now, limitMs = 4_000 }: { now?: () => number; limitMs?: number } = {},
): Promise<RedisFacts> {
  const { Redis: Client } = await import('ioredis');
  const redis = new Client({
    ...parseRedisAddress(url),
    lazyConnect: true,
    connectTimeout: limitMs,
    commandTimeout: limitMs,
    sentinelCommandTimeout: limitMs,
    // Otherwise a connection that was never established keeps the process alive for seconds.
    disconnectTimeout: 300,
    enableReadyCheck: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    sentinelRetryStrategy: () => null,
  });
  let reason: unknown;
  redis.on('error', (error: Error) => {
    reason ??= error;
  });
  const giveUp = setTimeout(() => redis.disconnect(), 2 * limitMs);
  try {
    await redis.connect();
    await requireRedisDatabase(redis);
    await answered(redis.ping());
    return await ask(redis, now);
  } catch (error) {
    if (error instanceof TypeError) throw error;
    const cause = reason ?? error;
    throw new StoreUnavailable(`Redis does not answer: ${errorMessage(cause)}`, { cause });
  } finally {
    clearTimeout(giveUp);
    redis.disconnect();
  }
}

async function ask(redis: Redis, now: () => number): Promise<RedisFacts> {
  const started = performance.now();
  await answered(redis.ping());
  const pingMs = performance.now() - started;
  const forbidden: string[] = [];
  const ifAllowed = async <T>(command: string, reply: Promise<T>): Promise<T | undefined> => {
    try {
      return await reply;
    } catch (error) {
      if (!isReply(error)) throw error;
      if (!forbidden.includes(command)) forbidden.push(command);
      return undefined;
    }
  };
  const info = parseInfo((await ifAllowed('INFO', redis.info())) ?? '');
  const setting = async (name: string) => (await ifAllowed('CONFIG GET', configGet(redis, name)))?.[1];
  const beforeMs = now();
  const time = await ifAllowed('TIME', redis.time());
  const afterMs = now();
  const appendOnly = info.get('aof_enabled') ?? (await setting('appendonly'));
  const maxMemory = info.get('maxmemory') ?? (await setting('maxmemory'));
  const writes = [info.get('rdb_last_bgsave_status'), info.get('aof_last_write_status')].filter(Boolean);
  const cluster = info.get('cluster_enabled');
  const used = info.get('used_memory');
  return {
    pingMs,
    version: info.get('redis_version'),
    role: info.get('role'),
    cluster: cluster === undefined ? undefined : cluster === '1',
    policy: info.get('maxmemory_policy') ?? (await setting('maxmemory-policy')),
    maxMemory: maxMemory === undefined ? undefined : Number(maxMemory),
    usedMemory: used === undefined ? undefined : Number(used),
    appendOnly: appendOnly === undefined ? undefined : appendOnly === '1' || appendOnly === 'yes',
    save: await setting('save'),
    lastWritesOk: writes.length === 0 ? undefined : writes.every((status) => status === 'ok'),
    forbidden,
    clock: time && { beforeMs, theirsMs: Number(time[0]) * 1000 + Number(time[1]) / 1000, afterMs },
    refusedWrite: await tryWrite(redis),
  };
}

/** A Redis that cannot save answers PING with MISCONF: it answers, and the test of a write reports that. */
async function answered(ping: Promise<unknown>): Promise<void> {
  try {
    await ping;
  } catch (error) {
    if (!isMisconfigured(error)) throw error;
  }
}

/** An answer of `CONFIG GET name`: name and value, or nothing. */
const configGet = async (redis: Redis, name: string) => (await redis.config('GET', name)) as string[];

/** The required features: write with a time to live, run a script, GETDEL (Redis 6.2). */
async function tryWrite(redis: Redis): Promise<string | undefined> {
  const key = `doctor:${randomBytes(12).toString('hex')}`;
  try {
    await redis.set(key, 'probe', 'PX', 5_000, 'NX');
    const taken = await redis.eval("return redis.call('GETDEL', KEYS[1])", 1, key);
    return taken === 'probe' ? undefined : 'what was written could not be read again';
  } catch (error) {
    return errorMessage(error);
  }
}

function parseInfo(text: string): Map<string, string> {
  return new Map(
    text.split(/\r?\n/).flatMap((line): [string, string][] => {
      const colon = line.indexOf(':');
      return line.startsWith('#') || colon < 1 ? [] : [[line.slice(0, colon), line.slice(colon + 1)]];
    }),
  );
}

const isReply = (error: unknown) => error instanceof Error && error.name === 'ReplyError';
const errorMessage = (error: unknown) => (error instanceof Error ? error.message || error.name : String(error));

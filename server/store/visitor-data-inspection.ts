import { statSync } from 'node:fs';
import { join } from 'node:path';

import { parseRedisAddress } from './redis-address.ts';
import { readSqlite } from './sqlite.ts';
import { whileBusy } from './sqlite-errors.ts';
import { visitorBytes } from './visitor-data.ts';

/**
 * The visitors' data in the key-value store, in bytes, for inspection: nothing is written.
 * @returns undefined: there is no store yet, or it cannot be read
 */
export async function inspectVisitorData(url: string | undefined, dataDir: string): Promise<number | undefined> {
  return url === undefined ? inFile(join(dataDir, 'short-lived.db')) : inRedis(url);
}

async function inFile(path: string): Promise<number | undefined> {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  const connection = await readSqlite(path);
  try {
    const { statement } = connection.prepare('SELECT value FROM entries WHERE key = ?1 AND expires_at > ?2');
    const count = (key: string) => whileBusy(() => Number(statement.get(key, Date.now())?.value ?? 0));
    return await visitorBytes({ count });
  } finally {
    connection.close();
  }
}

async function inRedis(url: string): Promise<number | undefined> {
  const { Redis } = await import('ioredis');
  const redis = new Redis({
    ...parseRedisAddress(url),
    lazyConnect: true,
    enableReadyCheck: false,
    retryStrategy: () => null,
  });
  // The failing call reports the error.
  redis.on('error', () => {});
  try {
    await redis.connect();
    return await visitorBytes({ count: async (key) => Number((await redis.get(key)) ?? 0) });
  } catch (error) {
    // A login without read permission: the other findings report it.
    if (error instanceof Error && error.name === 'ReplyError') return undefined;
    throw error;
  } finally {
    redis.disconnect();
  }
}

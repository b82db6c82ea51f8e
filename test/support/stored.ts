import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Redis } from 'ioredis';
import type { OpenStores } from './stores.ts';

export interface StoredEntry {
  key: string;
  /** Of key and value. */
  bytes: number;
  ttlMs: number;
}

/** The content of the key-value store, read without the product; including counters and sets. */
export async function entriesIn({ urls }: OpenStores, prefix = ''): Promise<StoredEntry[]> {
  return urls.redisUrl === '' ? inFile(urls.dataDir, prefix) : inRedis(urls.redisUrl, prefix);
}

export const bytesOf = (entries: readonly StoredEntry[]): number => entries.reduce((sum, { bytes }) => sum + bytes, 0);

function inFile(dataDir: string, prefix: string): StoredEntry[] {
  const file = new DatabaseSync(join(dataDir, 'short-lived.db'), { readOnly: true });
  try {
    const now = Date.now();
    return file
      .prepare('SELECT key, length(key) + length(value) AS bytes, expires_at FROM entries WHERE expires_at > ?')
      .all(now)
      .map((row) => ({ key: String(row.key), bytes: Number(row.bytes), ttlMs: Number(row.expires_at) - now }))
      .filter(({ key }) => key.startsWith(prefix));
  } finally {
    file.close();
  }
}

async function inRedis(redisUrl: string, start: string): Promise<StoredEntry[]> {
  const [url = '', prefix = ''] = redisUrl.split('?prefix=');
  const redis = new Redis(url);
  const found: StoredEntry[] = [];
  try {
    for await (const keys of redis.scanStream({ match: `${prefix}${start}*`, count: 1000 })) {
      for (const key of keys as string[]) {
        const [ttlMs, bytes] = await Promise.all([redis.pttl(key), redis.strlen(key).catch(() => 0)]);
        const own = key.slice(prefix.length);
        found.push({ key: own, bytes: own.length + bytes, ttlMs });
      }
    }
    return found;
  } finally {
    redis.disconnect();
  }
}

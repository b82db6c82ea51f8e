import { join } from 'node:path';
import { shortLivedFile } from './data-files.ts';
import type { StoreLog } from './database.ts';
import type { KeyValueStore } from './key-value.ts';
import { openEmbeddedKeyValue } from './key-value-embedded.ts';
import { observeKeyValue, type StoreObserver } from './observe-store.ts';

interface KeyValueOptions {
  /** `redis://`, `rediss://` or `redis+sentinel://`, see `parseRedisAddress`; empty or absent: a file in `dataDir`. */
  url?: string | undefined;
  /** Folder of the embedded store's file `short-lived.db`. */
  dataDir: string;
  log?: StoreLog | undefined;
  observe?: StoreObserver | undefined;
}

/**
 * Opens the store for short-lived state and verifies that it answers.
 * @throws StoreUnavailable if it does not; TypeError for an unsupported address.
 */
export async function openKeyValue({ url = '', dataDir, log, observe }: KeyValueOptions): Promise<KeyValueStore> {
  const kv = await (url === '' ? openEmbeddedKeyValue({ path: join(dataDir, shortLivedFile) }) : openRedis(url, log));
  return observe ? observeKeyValue(kv, observe) : kv;
}

/** The client of Redis is loaded only where there is one: it takes memory and time at a start. */
async function openRedis(url: string, log: StoreLog | undefined): Promise<KeyValueStore> {
  const { openRedisKeyValue } = await import('./key-value-redis.ts');
  return openRedisKeyValue({ url, log });
}

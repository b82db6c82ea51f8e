import type { Database } from './database.ts';
import { type KeyValueStore, StoreUnavailable } from './key-value.ts';
import { isMisconfigured } from './redis-errors.ts';

/** One row, or one key, for all processes. */
const name = 'write probe';
/** The key expires by itself after a probed process has gone. */
const ttlMs = 5_000;

/** Two steps of a probe: a store that answers may still refuse writes. Each rejects if it fails. */
export interface StoreProbe {
  ping(): Promise<void>;
  write(): Promise<void>;
}

/** A committed write: a full disk refuses nothing that is rolled back. */
export const probeDatabase = (database: Pick<Database, 'db' | 'ping'>): StoreProbe => ({
  ping: () => database.ping(),
  async write() {
    const value = String(Date.now());
    await database.db
      .insertInto('meta')
      .values({ name, value })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
      .execute();
  },
});

export const probeKeyValue = (kv: Pick<KeyValueStore, 'ping' | 'set'>): StoreProbe => ({
  async ping() {
    try {
      await kv.ping();
    } catch (error) {
      if (!(error instanceof StoreUnavailable && isMisconfigured(error.cause))) throw error;
    }
  },
  write: () => kv.set(name, String(Date.now()), ttlMs),
});

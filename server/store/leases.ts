import type { Database } from './database.ts';
import { uuidv7 } from './uuid.ts';

/** Lets exactly one process at a time do a job, and another take over when that one is gone. */
export interface Lease {
  /** Takes the lease, or prolongs it; false while another process holds it. @throws StoreUnavailable */
  acquire(): Promise<boolean>;
  /** Gives it back, so that another process need not wait until it runs out. */
  release(): Promise<void>;
}

/**
 * @param ttlMs how long the lease is held without being prolonged: longer than the job takes, because a process that is
 * merely slow must not have its job done a second time.
 */
export function createLease(database: Database, name: string, ttlMs: number, now: () => number): Lease {
  const holder = uuidv7();
  return {
    async acquire() {
      const expiresAt = now() + ttlMs;
      // One statement decides, in both databases.
      const result = await database.db
        .insertInto('leases')
        .values({ name, holder, expires_at: expiresAt })
        .onConflict((conflict) =>
          conflict
            .column('name')
            .doUpdateSet({ holder, expires_at: expiresAt })
            .where((eb) => eb.or([eb('leases.holder', '=', holder), eb('leases.expires_at', '<=', now())])),
        )
        .executeTakeFirst();
      return (result.numInsertedOrUpdatedRows ?? 0n) > 0n;
    },
    async release() {
      await database.db.deleteFrom('leases').where('name', '=', name).where('holder', '=', holder).execute();
    },
  };
}

/**
 * Does a job every `everyMs` in whichever process holds its lease. A failure is told to `onError` and tried again at the
 * next turn. Answers how to stop, which waits for a turn under way and gives the lease back.
 */
export function runPeriodically(
  lease: Lease,
  everyMs: number,
  job: () => Promise<void>,
  onError: (error: unknown) => void,
): () => Promise<void> {
  let turn = Promise.resolve();
  let busy = false;
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    turn = (async () => {
      try {
        if (await lease.acquire()) await job();
      } catch (error) {
        onError(error);
      } finally {
        busy = false;
      }
    })();
  }, everyMs);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await turn;
    await lease.release().catch(onError);
  };
}

import type { Database } from './database.ts';
import { uuidv7 } from './uuid.ts';

/** Ensures that exactly one process at a time does a job, and that another takes over when that one is gone. */
export interface Lease {
  /** Takes the lease, or renews it; false while another process holds it. @throws StoreUnavailable */
  acquire(): Promise<boolean>;
  /** Releases it, so that another process need not wait until it expires. */
  release(): Promise<void>;
}

interface LeaseTime {
  /**
   * How long the lease lasts without a renewal: longer than the job, because the job of a slow process must not be done
   * a second time.
   */
  ttlMs: number;
  now: () => number;
}

export function createLease(database: Database, name: string, { ttlMs, now }: LeaseTime): Lease {
  const holder = uuidv7();
  return {
    async acquire() {
      const expiresAt = now() + ttlMs;
      // One statement decides, in both databases.
      const result = await database.db
        .insertInto('leases')
        .values({ name, holder, expiresAt })
        .onConflict((conflict) =>
          conflict
            .column('name')
            .doUpdateSet({ holder, expiresAt })
            .where((eb) => eb.or([eb('leases.holder', '=', holder), eb('leases.expiresAt', '<=', now())])),
        )
        .executeTakeFirst();
      return (result.numInsertedOrUpdatedRows ?? 0n) > 0n;
    },
    async release() {
      await database.db.deleteFrom('leases').where('name', '=', name).where('holder', '=', holder).execute();
    },
  };
}

/** Tests whether any process holds a lease. @throws StoreUnavailable */
export async function isLeaseHeld({ db }: Pick<Database, 'db'>, name: string, nowMs: number): Promise<boolean> {
  const query = db.selectFrom('leases').select('holder').where('name', '=', name).where('expiresAt', '>', nowMs);
  return (await query.executeTakeFirst()) !== undefined;
}

interface PeriodicJob {
  everyMs: number;
  run: () => Promise<void>;
  onError: (error: unknown) => void;
}

/**
 * Does a job every `everyMs` in the process that holds its lease. A failure is reported to `onError` and tried again in
 * the next turn. Returns the function that stops it, which waits for a running turn and releases the lease.
 */
export function runPeriodically(lease: Lease, { everyMs, run, onError }: PeriodicJob): () => Promise<void> {
  let turn = Promise.resolve();
  let busy = false;
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    turn = (async () => {
      try {
        if (await lease.acquire()) await run();
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

import type { Logger } from '../http/index.ts';
import { createLease, type Database, runPeriodically } from '../store/index.ts';
import type { ClientSessionStore } from './client-session-store.ts';
import type { GrantStore } from './grant-store.ts';

interface SweepSettings {
  database: Database;
  now: () => number;
  log: Logger;
}

interface Sweeper {
  /** Deletes everything that has expired by now. */
  sweep(): Promise<void>;
  stop(): Promise<void>;
}

const sweepEveryMs = 10 * 60 * 1000;
const sweepBatch = 500;

/**
 * Periodically deletes expired grants, refresh tokens and client sessions, in one process at a time.
 * @param sweepSessions ends the grants of sessions that are gone
 */
export function createGrantSweeper(
  { database, now, log }: SweepSettings,
  stores: readonly Pick<GrantStore | ClientSessionStore, 'sweep'>[],
  sweepSessions: () => Promise<void>,
): Sweeper {
  async function sweep(): Promise<void> {
    const nowMs = now();
    for (const store of stores) while ((await store.sweep(nowMs, sweepBatch)) === sweepBatch);
    await sweepSessions();
  }

  const lease = createLease(database, 'sweep of expired grants', { ttlMs: 2 * sweepEveryMs, now });
  const stop = runPeriodically(lease, {
    everyMs: sweepEveryMs,
    run: sweep,
    onError: (error) => log.warn({ err: error }, 'could not sweep expired grants'),
  });
  return { sweep, stop };
}

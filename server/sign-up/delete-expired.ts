import type { Logger } from '../http/index.ts';
import { createLease, type Database, runPeriodically } from '../store/index.ts';
import { deleteExpired } from './sign-up-store.ts';

const everyMs = 10 * 60_000;
const batch = 500;

/**
 * Deletes sign-ups that expired, or were confirmed long ago, in one process at a time. Returns the function that stops
 * it.
 */
export function sweepSignUps(database: Database, now: () => number, log: Logger): () => Promise<void> {
  const sweep = async () => {
    while ((await deleteExpired(database.db, now(), batch)) === batch);
  };
  const lease = createLease(database, 'sweep of expired sign-ups', { ttlMs: 2 * everyMs, now });
  return runPeriodically(lease, {
    everyMs,
    run: sweep,
    onError: (error) => log.warn({ err: error }, 'could not sweep expired sign-ups'),
  });
}

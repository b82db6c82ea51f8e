import { createLease, runPeriodically } from '../../store/index.ts';
import type { DeletionDeps } from './deletion-deps.ts';

const everyMs = 5 * 60_000;

/** Runs what is due, in one process at a time. Returns the function that stops it. */
export function startDeletionJob(
  { database, now, log }: Pick<DeletionDeps, 'database' | 'now' | 'log'>,
  work: () => Promise<void>,
): () => Promise<void> {
  const lease = createLease(database, 'deletions and factor resets', { ttlMs: 2 * everyMs, now });
  return runPeriodically(lease, {
    everyMs,
    run: work,
    onError: (error) => log.warn({ err: error }, 'account deletion job failed'),
  });
}

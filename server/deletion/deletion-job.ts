import { createLease, runPeriodically } from '../store/index.ts';
import type { DeletionDeps } from './deps.ts';

const everyMs = 5 * 60_000;

/** Does what is due in one process at a time. Answers how to stop. */
export function startDeletionJob(
  { database, now, log }: Pick<DeletionDeps, 'database' | 'now' | 'log'>,
  work: () => Promise<void>,
): () => Promise<void> {
  const lease = createLease(database, 'deletions and factor resets', 2 * everyMs, now);
  return runPeriodically(lease, everyMs, work, (error) =>
    log.warn({ err: error }, 'could not look after members who leave'),
  );
}

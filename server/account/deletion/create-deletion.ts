import { forgetErasedUsers } from '../../billing/index.ts';
import type { UserId } from '../../shared/index.ts';
import { createLease, runPeriodically } from '../../store/index.ts';
import { sweepPictures } from '../../users/index.ts';
import { ownDataSources } from '../export/personal-data-sources.ts';
import { applyDueResets } from '../factor-reset/factor-reset.ts';
import { eraseDueAccounts } from './delete-due-accounts.ts';
import type { DeletionDeps, DeletionSettings } from './deletion-deps.ts';

/** The dependencies of deletions and factor resets, with their job. */
export interface Deletion extends DeletionDeps {
  /** Erases due accounts, and removes due second factors; runs periodically. */
  work(): Promise<void>;
  stop(): Promise<void>;
}

const everyMs = 5 * 60_000;

/** The dependencies without the job, for the operator's command too. */
export function createDeletionDeps({ outboxBox, personalDataSources, ...common }: DeletionSettings): DeletionDeps {
  return { ...common, personalDataSources: [...personalDataSources, ...ownDataSources({ ...common, outboxBox })] };
}

export function createDeletion(settings: DeletionSettings): Deletion {
  const deps = createDeletionDeps(settings);
  const { database, log, now } = deps;
  let pictures: UserId | null = null;
  let gifts: UserId | null = null;
  const work = async () => {
    await eraseDueAccounts(deps);
    await applyDueResets(deps);
    pictures = await sweepPictures(database.db, pictures);
    gifts = await forgetErasedUsers(database.db, gifts);
  };
  // In one process at a time.
  const lease = createLease(database, 'deletions and factor resets', { ttlMs: 2 * everyMs, now });
  const stop = runPeriodically(lease, {
    everyMs,
    run: work,
    onError: (error) => log.warn({ err: error }, 'account deletion job failed'),
  });
  return { ...deps, work, stop };
}

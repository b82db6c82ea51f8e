import type { UserId } from '../../shared/index.ts';
import { findUser } from '../../users/index.ts';
import type { DeletionDeps } from './deletion-deps.ts';
import { claimForErasure, listDueDeletions, makeDue } from './deletion-store.ts';

const batch = 100;

/**
 * Erases all data of one user whose deletion is due, in one transaction. Only these remain: the fact and time of the
 * deletion, and the accepted terms, under an id that no longer refers to a user.
 * @returns false if the user has signed in meanwhile
 */
async function eraseAccount(deps: DeletionDeps, userId: UserId): Promise<boolean> {
  const { database, outbox, sessions, personalDataSources, now } = deps;
  const erased = await database.transaction(async (trx) => {
    const nowMs = now();
    // First of all: a parallel sign-in waits for it, or was faster.
    if (!(await claimForErasure(trx, userId, nowMs))) return false;
    const user = await findUser(trx, userId);
    await outbox.record(trx, { type: 'account.erased', details: {}, atMs: nowMs });
    if (user) for (const dataSource of personalDataSources) await dataSource.erase(trx, user, nowMs);
    return true;
  });
  // Data outside the transaction: sessions, and the grants of client apps.
  if (erased) await sessions.endAll(userId);
  return erased;
}

/** Erases a user whose deletion is requested, without the wait. @returns false if they have signed in meanwhile */
export async function eraseNow(deps: DeletionDeps, userId: UserId): Promise<boolean> {
  await makeDue(deps.database.db, userId, deps.now());
  return eraseAccount(deps, userId);
}

/** Erases all due accounts. A failure does not block the others. @returns the number of erased ones */
export async function eraseDueAccounts(deps: DeletionDeps): Promise<number> {
  const { database, log, now } = deps;
  let erased = 0;
  const failed = new Set<string>();
  for (;;) {
    const due = (await listDueDeletions(database.db, now(), batch + failed.size)).filter((id) => !failed.has(id));
    if (due.length === 0) break;
    for (const userId of due) {
      try {
        if (await eraseAccount(deps, userId)) erased += 1;
      } catch (error) {
        failed.add(userId);
        log.error({ err: error, member: userId }, 'could not erase an account');
      }
    }
  }
  if (erased > 0) log.info({ act: 'members-erased', members: erased }, 'accounts erased');
  return erased;
}

import type { UserId } from '../shared/index.ts';
import { findUser } from '../users/index.ts';
import { claimForErasure, listDueDeletions } from './deletion-store.ts';
import type { DeletionDeps } from './deps.ts';

const batch = 100;

/**
 * Erases everything that is stored of one member whose time has come, in one transaction; what stays is that, and when, the
 * account was deleted, and which terms were accepted when, under an id that leads to nobody any more.
 * @returns false when the member has signed in meanwhile
 */
export async function eraseAccount(deps: DeletionDeps, userId: UserId): Promise<boolean> {
  const { database, sessions, personalDataSources, now } = deps;
  const erased = await database.transaction(async (trx) => {
    const nowMs = now();
    // First of all: a sign-in at this moment waits for it, or has been quicker.
    if (!(await claimForErasure(trx, userId, nowMs))) return false;
    const user = await findUser(trx, userId);
    if (user) for (const dataSource of personalDataSources) await dataSource.erase(trx, user, nowMs);
    return true;
  });
  // What is no record: sessions, and what client apps hold.
  if (erased) await sessions.endAll(userId);
  return erased;
}

/** Erases all whose time has come. One that fails keeps nobody else's waiting. @returns how many are gone */
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
        log.error({ err: error, member: userId }, 'could not erase a member who leaves');
      }
    }
  }
  if (erased > 0) log.info({ act: 'members-erased', members: erased }, 'members who left have been erased');
  return erased;
}

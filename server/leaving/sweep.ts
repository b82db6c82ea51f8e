import { findUser } from '../account/index.ts';
import { beginErasing, dueDeletions } from './deletion-store.ts';
import type { LeavingDeps } from './deps.ts';

const batch = 100;

/**
 * Erases everything that is stored of one member whose time has come, in one transaction; what stays is that, and when, the
 * account was deleted, and which terms were accepted when, under an id that leads to nobody any more.
 * @returns false when the member has signed in meanwhile
 */
export async function eraseMember(deps: LeavingDeps, userId: string): Promise<boolean> {
  const { database, sessions, holdings, now } = deps;
  const erased = await database.transaction(async (trx) => {
    const nowMs = now();
    // First of all: a sign-in at this moment waits for it, or has been quicker.
    if (!(await beginErasing(trx, userId, nowMs))) return false;
    const user = await findUser(trx, userId);
    if (user) for (const holding of holdings) await holding.erase(trx, user, nowMs);
    return true;
  });
  // What is no record: sessions, and what client apps hold.
  if (erased) await sessions.endAll(userId);
  return erased;
}

/** Erases all whose time has come. One that fails keeps nobody else's waiting. @returns how many are gone */
export async function eraseDue(deps: LeavingDeps): Promise<number> {
  const { database, log, now } = deps;
  let erased = 0;
  const failed = new Set<string>();
  for (;;) {
    const due = (await dueDeletions(database.db, now(), batch + failed.size)).filter((id) => !failed.has(id));
    if (due.length === 0) break;
    for (const userId of due) {
      try {
        if (await eraseMember(deps, userId)) erased += 1;
      } catch (error) {
        failed.add(userId);
        log.error({ err: error, member: userId }, 'could not erase a member who leaves');
      }
    }
  }
  if (erased > 0) log.info({ act: 'members-erased', members: erased }, 'members who left have been erased');
  return erased;
}

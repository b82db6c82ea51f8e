import type { BillingDeps } from '../deps.ts';
import { listOldChanges } from '../subscription/due-store.ts';
import { syncMember } from '../subscription/sync-from-stripe.ts';
import { withUserLock } from '../user-lock.ts';
import { addBillingTask, listTasks } from './task-store.ts';
import { carryOutAtOnce } from './tasks.ts';

const batch = 50;

/**
 * A change of plan that an earlier release has scheduled ends the subscription, with the next plan in its metadata. It
 * becomes a subscription schedule. Between the calls the subscription ends with its period.
 * @returns the number of those that were moved
 */
export async function moveOldChanges(deps: BillingDeps): Promise<number> {
  const { database, now } = deps;
  let moved = 0;
  for (const { userId } of await listOldChanges(database.db, batch)) {
    await withUserLock(database, userId, async () => {
      // A stored act is done first, or tried again.
      if ((await listTasks(database.db, userId)).length > 0) return;
      const membership = await syncMember(deps, userId);
      const { nextPlanId: planId = null, cancelAtPeriodEnd, customerId = null } = membership ?? {};
      if (planId === null || !cancelAtPeriodEnd || membership?.status !== 'active') return;
      const task = await database.transaction((trx) =>
        addBillingTask(trx, { kind: 'change-later', userId, customerId, planId }, now()),
      );
      if (await carryOutAtOnce(deps, { ...task, userId })) moved += 1;
    }).catch((error: unknown) => {
      deps.log.warn({ err: error, member: userId }, 'could not move a change of plan to a schedule');
    });
  }
  return moved;
}

import { minuteMs } from '../../shared/index.ts';
import type { BillingDeps } from '../deps.ts';
import { tasksSince } from '../jobs/task-store.ts';
import type { Difference } from '../stripe/stripe-differences.ts';
import { findMembership } from '../subscription/membership-store.ts';
import { listStuckCharges } from './purchase-store.ts';

/** By then the action itself or the minute job has done it, if Stripe answers. */
const doneByMs = 2 * minuteMs;
/** By then a payment that waits for its user is cancelled. */
const calledOffByMs = 65 * minuteMs;
const max = 1_000;

/** Stored actions that are not done at Stripe. */
export async function unfinishedActs(deps: BillingDeps): Promise<Difference[]> {
  const { db } = deps.database;
  const nowMs = deps.now();
  const [tasks, purchases] = await Promise.all([
    tasksSince(db, nowMs - doneByMs, max),
    listStuckCharges(db, nowMs - calledOffByMs, max),
  ]);
  const memberships = await Promise.all(purchases.map(({ userId }) => findMembership(db, userId)));
  // A bank has a debit for days.
  const stuck = purchases.filter((_, index) => memberships[index]?.pending?.debit === undefined);
  const ofPurchases = stuck.map(
    async ({ userId, planId }): Promise<Difference> => ({
      kind: 'act unfinished',
      userId,
      detail: `purchase of ${planId}`,
      customerId: (await findMembership(db, userId))?.customerId ?? null,
    }),
  );
  return [
    ...tasks.map(
      ({ kind, userId, customerId, lastError }): Difference => ({
        kind: 'act unfinished',
        userId,
        customerId,
        detail: lastError === null ? kind : `${kind}: ${lastError}`,
      }),
    ),
    ...(await Promise.all(ofPurchases)),
  ];
}

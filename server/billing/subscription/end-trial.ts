import type { UserId } from '../../shared/index.ts';
import type { BillingDeps } from '../deps.ts';
import { addBillingTask, type BillingTask, listTasks } from '../jobs/task-store.ts';
import type { RefundTask } from '../orders/order.ts';
import { listOrders } from '../orders/order-store.ts';
import { parseColumn, storedValues } from '../stripe/stored-values.ts';
import { findMembership } from './membership-store.ts';
import { isTrying } from './plan-trial-rules.ts';
import { syncMember } from './sync-from-stripe.ts';

type Tried = Pick<BillingTask, 'createdAt'> & { userId: UserId };

/** The end of the trial that the task was to end; undefined: there was none, or it is not over. */
async function findTrialOver(
  { database, now }: BillingDeps,
  { userId, createdAt }: Tried,
): Promise<number | undefined> {
  const membership = await findMembership(database.db, userId);
  const { triedPlanId = null, triedUntil = null } = membership ?? {};
  return triedPlanId !== null && triedUntil !== null && createdAt < triedUntil && triedUntil <= now()
    ? triedUntil
    : undefined;
}

/**
 * A trial that its user has canceled before its end, while Stripe was away until after it. The page has said that nothing is
 * charged: what was charged meanwhile is given back, which is written down here.
 * @returns whether the subscription must end at once
 * @throws {StripeUnavailableError}
 */
export async function endsTrialLate(deps: BillingDeps, task: Tried): Promise<boolean> {
  const triedUntil = await findTrialOver(deps, task);
  if (triedUntil === undefined) return false;
  const { database, catalogue, now } = deps;
  const { userId } = task;
  const membership = await syncMember(deps, userId);
  if (!membership?.subscriptionId || membership.triedPlanId === null || isTrying(membership)) return false;
  const { subscriptionId, customerId } = membership;
  const charged = (await listOrders(database.db, userId)).filter(
    (order) => order.subscriptionId === subscriptionId && order.orderedAt >= triedUntil,
  );
  await database.transaction(async (trx) => {
    const noted = (await listTasks(trx, userId)).map(
      ({ detail }) => parseColumn(storedValues.refund, detail)?.invoiceId,
    );
    for (const { invoiceId, paidCents: amountCents, usedCreditCents: creditCents, currency } of charged) {
      if (noted.includes(invoiceId)) continue;
      const after = { subscriptionId, endsAt: now(), currency: currency ?? catalogue.currency, atOnce: true };
      const refund: RefundTask = { invoiceId, amountCents, creditCents, operator: 'cancellation', end: 'keep', after };
      await addBillingTask(trx, { kind: 'refund', userId, customerId, detail: JSON.stringify(refund) }, now());
    }
  });
  return true;
}

import { dayMs } from '../../shared/index.ts';
import type { User } from '../../users/index.ts';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { BillingDeps } from '../deps.ts';
import { addBillingTask, listTasks } from '../jobs/task-store.ts';
import { carryOutAtOnce } from '../jobs/tasks.ts';
import type { Order, RefundTask } from '../orders/order.ts';
import { listOrders } from '../orders/order-store.ts';
import type { Withdrawal, WithdrawalResult } from '../results.ts';
import { parseColumn, storedValues } from '../stripe/stored-values.ts';
import { notifyMembership } from './membership-changes.ts';

/** Tests whether an earlier payment still pays a part of this order's time: then the order is a change of plan. */
const isWithinPaidTime = (order: Order, earlier: readonly Order[]): boolean =>
  earlier.some(({ renewsAt }) => renewsAt !== null && renewsAt > order.orderedAt);

/**
 * The contract from which the user may withdraw: the purchase of a plan, for some days (Directive 2011/83/EU, articles 9
 * and 11a). A renewal goes on with the same contract, and so does an upgrade within a paid period.
 * @param orders of the user, the newest first
 */
export function findWithdrawal(
  orders: readonly Order[],
  { withdrawalDays }: Pick<Catalogue, 'withdrawalDays'>,
  nowMs: number,
): Withdrawal | undefined {
  // Also one that cost nothing: the unused time of the plan before has paid it, and is credit now.
  const [order, ...earlier] = orders;
  if (withdrawalDays === undefined || order?.orderType !== 'upgrade' || order.refundedCents > 0) return undefined;
  const until = order.orderedAt + withdrawalDays * dayMs;
  if (nowMs >= until || isWithinPaidTime(order, earlier)) return undefined;
  const { paidCents: refundCents, usedCreditCents: creditCents, disputeState } = order;
  // The bank has given everything back.
  if ((refundCents <= 0 && creditCents <= 0) || disputeState === 'lost') return undefined;
  return { order, until, refundCents, creditCents };
}

/**
 * Withdraws from the contract: the plan ends at once, and everything that was paid is given back, after the bank's decision
 * where the payment is disputed. Both are written down before Stripe is asked, with the mail that confirms the receipt. The
 * caller holds the user's lock.
 */
export async function withdraw(deps: BillingDeps, user: User): Promise<WithdrawalResult> {
  const { database, catalogue, outbox, now } = deps;
  const noted = await database.transaction(async (trx) => {
    const found = findWithdrawal(await listOrders(trx, user.id), catalogue, now());
    if (!found) return undefined;
    const { order, refundCents, creditCents } = found;
    const waiting = (await listTasks(trx, user.id)).find(
      ({ kind, detail }) =>
        kind === 'refund' && parseColumn(storedValues.refund, detail)?.invoiceId === order.invoiceId,
    );
    // A second click while Stripe does not answer.
    if (waiting) return [waiting];
    const refund: RefundTask = {
      invoiceId: order.invoiceId,
      amountCents: refundCents,
      creditCents,
      operator: 'withdrawal',
      end: 'keep',
    };
    const about = { userId: user.id, customerId: order.customerId };
    // The plan ends even if the bank, or the operator, has given the payment back meanwhile.
    const end = await addBillingTask(trx, { kind: 'cancel-now', ...about }, now());
    const back = await addBillingTask(trx, { kind: 'refund', ...about, detail: JSON.stringify(refund) }, now());
    const plan = catalogue.byId(order.planId);
    const values = {
      ...(plan && { planName: plan.name }),
      orderDate: order.orderedAt,
      atMs: now(),
      amountCents: refundCents,
      ...(creditCents > 0 && { creditCents }),
      currency: order.currency,
    };
    const once = `withdrawal:${order.invoiceId}`;
    await notifyMembership(deps, trx, { user, mail: { template: 'withdrawal-received', once, values } });
    return [end, back];
  });
  if (!noted) return 'no-change';
  outbox.wake();
  for (const task of noted) if (!(await carryOutAtOnce(deps, { ...task, userId: user.id }))) return 'noted';
  return 'withdrawn';
}

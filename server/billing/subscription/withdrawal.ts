import type { User } from '../../users/index.ts';
import type { BillingDeps } from '../deps.ts';
import { addBillingTask, listTasks } from '../jobs/task-store.ts';
import { carryOutAtOnce } from '../jobs/tasks.ts';
import type { RefundTask } from '../orders/order.ts';
import { listOrders } from '../orders/order-store.ts';
import { parseColumn, storedValues } from '../stripe/stored-values.ts';
import { notifyMembership } from './membership-changes.ts';
import { findAnnouncedWithdrawal, findWithdrawal, type WithdrawalResult } from './withdrawal-rules.ts';

/**
 * Withdraws from the contract: the plan ends at once, and what was paid is given back, less the announced days that the user
 * owes, and after the bank's decision where the payment is disputed. Both are written down before Stripe is asked, with the
 * mail that confirms the receipt. The caller holds the user's lock.
 */
export async function withdraw(deps: BillingDeps, user: User, announcedDays: number): Promise<WithdrawalResult> {
  const { database, catalogue, outbox, now } = deps;
  const noted = await database.transaction(async (trx) => {
    const orders = await listOrders(trx, user.id);
    const announced = findAnnouncedWithdrawal(orders, { rules: catalogue, announcedDays }, now());
    const found = announced === 'changed' ? findWithdrawal(orders, catalogue, now()) : announced;
    if (!found) return undefined;
    const { order, refundCents, creditCents, owedCents, balanceCents, days } = found;
    const waiting = (await listTasks(trx, user.id)).find(
      ({ kind, detail }) =>
        kind === 'refund' && parseColumn(storedValues.refund, detail)?.invoiceId === order.invoiceId,
    );
    // A second click while Stripe does not answer.
    if (waiting) return [waiting];
    if (announced === 'changed') return announced;
    const refund: RefundTask = {
      invoiceId: order.invoiceId,
      amountCents: refundCents,
      creditCents: balanceCents,
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
      ...(owedCents > 0 && { owedCents }),
      ...(days && { keptCents: days.cents, usedDays: days.used, periodDays: days.total }),
      currency: order.currency,
    };
    const once = `withdrawal:${order.invoiceId}`;
    await notifyMembership(deps, trx, { user, mail: { template: 'withdrawal-received', once, values } });
    return [end, back];
  });
  if (!noted) return 'no-change';
  if (noted === 'changed') return noted;
  outbox.wake();
  for (const task of noted) if (!(await carryOutAtOnce(deps, { ...task, userId: user.id }))) return 'noted';
  return 'withdrawn';
}

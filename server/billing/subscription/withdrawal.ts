import type { User } from '../../users/index.ts';
import type { BillingDeps } from '../deps.ts';
import { addBillingTask, listTasks } from '../jobs/task-store.ts';
import { carryOutAtOnce } from '../jobs/tasks.ts';
import type { RefundTask } from '../orders/order.ts';
import { listOrders } from '../orders/order-store.ts';
import { parseColumn, storedValues } from '../stripe/stored-values.ts';
import { notifyMembership } from './membership-changes.ts';
import {
  type AnnouncedWithdrawal,
  findAnnouncedWithdrawal,
  findWithdrawal,
  type WithdrawalResult,
} from './withdrawal-rules.ts';

/**
 * Withdraws from the contract: the plan ends at once, and what was paid is given back, less the announced days that the user
 * owes, and after the bank's decision where the payment is disputed. Both are written down before Stripe is asked, with the
 * mail that confirms the receipt. The caller holds the user's lock.
 */
export async function withdraw(deps: BillingDeps, user: User, form: AnnouncedWithdrawal): Promise<WithdrawalResult> {
  const { database, catalogue, outbox, now } = deps;
  const noted = await database.transaction(async (trx) => {
    const orders = await listOrders(trx, user.id);
    const announced = findAnnouncedWithdrawal(orders, { rules: catalogue, announced: form }, now());
    const found = announced === 'changed' ? findWithdrawal(orders, catalogue, now()) : announced;
    if (!found) return undefined;
    const { parts, refundCents, creditCents, owedCents, days } = found;
    const [{ order }] = parts;
    const invoices = new Set(parts.map((part) => part.order.invoiceId));
    const waiting = (await listTasks(trx, user.id)).filter(({ kind, detail }) => {
      const refund = kind === 'refund' ? parseColumn(storedValues.refund, detail) : undefined;
      return refund && invoices.has(refund.invoiceId);
    });
    // A second click while Stripe does not answer.
    if (waiting.length > 0) return waiting;
    if (announced === 'changed') return announced;
    const about = { userId: user.id, customerId: order.customerId };
    // The plan ends even if the bank, or the operator, has given the payment back meanwhile.
    const tasks = [await addBillingTask(trx, { kind: 'cancel-now', ...about }, now())];
    for (const part of parts) {
      if (part.refundCents === 0 && part.balanceCents === 0) continue;
      const refund: RefundTask = {
        invoiceId: part.order.invoiceId,
        amountCents: part.refundCents,
        creditCents: part.balanceCents,
        operator: 'withdrawal',
        end: 'keep',
      };
      tasks.push(await addBillingTask(trx, { kind: 'refund', ...about, detail: JSON.stringify(refund) }, now()));
    }
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
    return tasks;
  });
  if (!noted) return 'no-change';
  if (noted === 'changed') return noted;
  outbox.wake();
  for (const task of noted) if (!(await carryOutAtOnce(deps, { ...task, userId: user.id }))) return 'noted';
  return 'withdrawn';
}

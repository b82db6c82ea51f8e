import type { PlanEnd } from '../../../config/plans.ts';
import type { BillingDeps } from '../deps.ts';
import { addBillingTask } from '../jobs/task-store.ts';
import { attemptTask } from '../jobs/tasks.ts';
import { toStripeRefusal } from '../stripe/stripe-client.ts';
import { type Order, type RefundTask, toReturnableCents } from './order.ts';
import { findOrderByIdOrNumber } from './order-store.ts';

interface RefundRequest {
  /** Its id at Stripe, or the number on the document. */
  invoice: string;
  /** undefined: everything that is not refunded yet. */
  amountCents?: number | undefined;
  end?: PlanEnd | undefined;
  operator: string;
}

export type RefundResult =
  /** `noted`: Stripe does not answer; it is tried again every minute. */
  | { kind: 'refunded' | 'noted'; order: Order; amountCents: number }
  | { kind: 'unknown-invoice' }
  | { kind: 'too-much'; order: Order; leftCents: number }
  | { kind: 'refused'; message: string };

/** Refunds a paid invoice. It is written down before Stripe is asked, and made once. */
export async function refundInvoice(deps: BillingDeps, request: RefundRequest): Promise<RefundResult> {
  const { database, now } = deps;
  const order = await findOrderByIdOrNumber(database.db, request.invoice);
  if (!order) return { kind: 'unknown-invoice' };
  const leftCents = toReturnableCents(order) - order.refundedCents;
  const { amountCents = leftCents, end, operator } = request;
  if (amountCents < 1 || amountCents > leftCents) return { kind: 'too-much', order, leftCents };
  const detail = JSON.stringify({ invoiceId: order.invoiceId, amountCents, operator, end } satisfies RefundTask);
  const { userId, customerId } = order;
  const task = await database.transaction((trx) =>
    addBillingTask(trx, { kind: 'refund', userId, customerId, detail }, now()),
  );
  try {
    return { kind: (await attemptTask(deps, task)) ? 'refunded' : 'noted', order, amountCents };
  } catch (error) {
    const refusal = toStripeRefusal(error);
    if (!refusal) throw error;
    return { kind: 'refused', message: refusal.message };
  }
}

import type { BillingDeps } from '../deps.ts';
import { type BillingTask, completeTask } from '../jobs/task-store.ts';
import { parseColumn, storedValues } from '../stripe/stored-values.ts';
import { callStripe, toStripeRefusal } from '../stripe/stripe-client.ts';
import { syncMember } from '../subscription/sync-from-stripe.ts';
import { recordCreditNotes } from './credit-notes.ts';
import type { Order, RefundTask } from './order.ts';
import { findOrderByInvoice } from './order-store.ts';
import { recordRefunds } from './refunds.ts';

/** The metadata key of a credit note: the task that has made it. */
const taskKey = 'foyer_task';

/** One credit note per task, however often it is tried: Stripe forgets idempotency keys after some days. */
async function createCreditNote(deps: BillingDeps, taskId: string, refund: RefundTask): Promise<void> {
  const { invoiceId, amountCents, creditCents = 0, operator } = refund;
  await callStripe(deps.stripe, async (stripe) => {
    const { data } = await stripe.creditNotes.list({ invoice: invoiceId, limit: 100 });
    if (data.some(({ metadata }) => metadata?.[taskKey] === taskId)) return;
    await stripe.creditNotes.create(
      {
        invoice: invoiceId,
        amount: amountCents + creditCents,
        ...(amountCents > 0 && { refund_amount: amountCents }),
        ...(creditCents > 0 && { credit_amount: creditCents }),
        // The member gets the product's own mail.
        email_type: 'none',
        metadata: { [taskKey]: taskId, foyer_operator: operator },
      },
      { idempotencyKey: `foyer-refund-${taskId}` },
    );
  });
}

/** The payment of an order; one from before payments were stored learns it by a sync. */
async function findPayment(deps: BillingDeps, { invoiceId, userId, paymentIntentId }: Order): Promise<string | null> {
  if (paymentIntentId !== null || userId === null) return paymentIntentId;
  await syncMember(deps, userId);
  return (await findOrderByInvoice(deps.database.db, invoiceId))?.paymentIntentId ?? null;
}

/**
 * Refunds an invoice by a credit note, and records both at its order. A refund that Stripe refuses is given up. The
 * caller holds the user's lock, if there is a user.
 * @throws {StripeUnavailableError} or the refusal
 */
export async function carryOutRefund(deps: BillingDeps, task: BillingTask): Promise<void> {
  const { database, log } = deps;
  const refund = parseColumn(storedValues.refund, task.detail);
  if (!refund) throw new Error('a refund has no details');
  const entry = { act: 'refund', invoice: refund.invoiceId, cents: refund.amountCents, operator: refund.operator };
  try {
    await createCreditNote(deps, task.id, refund);
  } catch (error) {
    if (!toStripeRefusal(error)) throw error;
    // A member has been told the amount: it waits until the operator has made it possible, and stands in the comparison.
    if (refund.operator !== 'cancellation') await completeTask(database.db, task.id);
    log.error({ ...entry, err: error }, 'Stripe refuses a refund');
    throw error;
  }
  const order = await findOrderByInvoice(database.db, refund.invoiceId);
  const intentId = order && (await findPayment(deps, order));
  if (intentId) await recordRefunds(deps, intentId);
  await recordCreditNotes(deps, refund.invoiceId);
  await completeTask(database.db, task.id);
  log.info(entry, 'an invoice was refunded');
}

import { dayMs, type UserId } from '../../shared/index.ts';
import type { BillingDeps } from '../deps.ts';
import { type BillingTask, completeTask, listTasks } from '../jobs/task-store.ts';
import { parseColumn, storedValues } from '../stripe/stored-values.ts';
import { callStripe, hasFailed, orNotFound, toStripeRefusal } from '../stripe/stripe-client.ts';
import { toMs } from '../stripe/stripe-objects.ts';
import { syncMember } from '../subscription/sync-from-stripe.ts';
import { recordCreditNotes } from './credit-notes.ts';
import { type EarlyEnd, type Order, type RefundTask, toPriceCents, toReturnableCents } from './order.ts';
import { findOrderByInvoice } from './order-store.ts';
import { recordRefunds } from './refunds.ts';

/** The metadata key of a credit note: the task that has made it. */
const taskKey = 'foyer_task';

/**
 * One credit note per task, however often it is tried: Stripe forgets idempotency keys after some days. A failure that it
 * reports is repeated to every request with the key, and may have been executed nevertheless: then another key follows.
 */
async function createCreditNote(
  { stripe }: BillingDeps,
  { id: taskId, attempts }: Pick<BillingTask, 'id' | 'attempts'>,
  refund: RefundTask,
): Promise<void> {
  const { invoiceId, amountCents, creditCents = 0, operator } = refund;
  const isMade = async () => {
    const { data } = await callStripe(stripe, ({ creditNotes }) =>
      creditNotes.list({ invoice: invoiceId, limit: 100 }),
    );
    return data.some(({ metadata }) => metadata?.[taskKey] === taskId);
  };
  const create = (idempotencyKey: string) =>
    callStripe(stripe, ({ creditNotes }) =>
      creditNotes.create(
        {
          invoice: invoiceId,
          amount: amountCents + creditCents,
          ...(amountCents > 0 && { refund_amount: amountCents }),
          ...(creditCents > 0 && { credit_amount: creditCents }),
          // The member gets the product's own mail.
          email_type: 'none',
          metadata: { [taskKey]: taskId, foyer_operator: operator },
        },
        { idempotencyKey },
      ),
    );
  if (await isMade()) return;
  try {
    await create(`foyer-refund-${taskId}`);
  } catch (error) {
    if (!hasFailed(error)) throw error;
    if (!(await isMade())) await create(`foyer-refund-${taskId}-${attempts + 1}`);
  }
}

/** The payment of an order; one from before payments were stored learns it by a sync. */
async function findPayment(deps: BillingDeps, { invoiceId, userId, paymentIntentId }: Order): Promise<string | null> {
  if (paymentIntentId !== null || userId === null) return paymentIntentId;
  await syncMember(deps, userId);
  return (await findOrderByInvoice(deps.database.db, invoiceId))?.paymentIntentId ?? null;
}

/** A subscription may end somewhat later than asked for. */
const lateEndMs = dayMs;

/**
 * Whether the plan has ended early, as a user was told; `not-yet`: it still runs, or has run longer, and the task waits.
 * @throws {StripeUnavailableError}
 */
async function readEarlyEnd(
  { stripe }: BillingDeps,
  { subscriptionId, endsAt, atOnce }: EarlyEnd,
): Promise<'ended' | 'goes-on' | 'not-yet'> {
  const subscription = await callStripe(stripe, (client) => orNotFound(client.subscriptions.retrieve(subscriptionId)));
  // With the customer, if it is gone.
  if (!subscription) return 'ended';
  const { ended_at: endedAt, cancel_at: cancelsAt, cancel_at_period_end: endsWithPeriod } = subscription;
  if (endedAt !== null) return atOnce || toMs(endedAt) <= endsAt + lateEndMs ? 'ended' : 'not-yet';
  return cancelsAt === null && !endsWithPeriod ? 'goes-on' : 'not-yet';
}

/** No more than was paid or is owed, and is not given back yet: an operator or a bank may have returned a part since. */
function capRefund(refund: RefundTask, order: Order | undefined): RefundTask | undefined {
  if (!order) return refund;
  if (order.disputeState === 'lost') return undefined;
  const { refundedCents, creditNotes } = order;
  const noted = creditNotes.reduce((sum, { amountCents }) => sum + amountCents, 0);
  const amountCents = Math.max(0, Math.min(refund.amountCents, toReturnableCents(order) - refundedCents));
  const left = toPriceCents(order) - Math.max(noted, refundedCents) - amountCents;
  const creditCents = Math.max(0, Math.min(refund.creditCents ?? 0, left));
  return amountCents + creditCents > 0 ? { ...refund, amountCents, creditCents } : undefined;
}

/** A user has asked for it, and was told the amount. */
const byUser = ({ operator }: RefundTask): boolean => operator === 'cancellation' || operator === 'withdrawal';

/** Tests for an end at once that Stripe has not confirmed. */
const endsAtOnce = async ({ database }: BillingDeps, userId: UserId | null): Promise<boolean> =>
  userId !== null && (await listTasks(database.db, userId)).some(({ kind }) => kind === 'cancel-now');

/** The refund that is due; undefined: there is nothing to give back. @throws {StripeUnavailableError} */
async function findDueRefund(
  deps: BillingDeps,
  { refund, userId }: { refund: RefundTask; userId: UserId | null },
  order: Order | undefined,
): Promise<RefundTask | undefined> {
  if (refund.after) {
    const read = await readEarlyEnd(deps, refund.after);
    const isToCome = read === 'goes-on' && (await endsAtOnce(deps, userId));
    const state = isToCome ? 'not-yet' : read;
    if (state === 'goes-on') return undefined;
    if (state === 'not-yet') throw new Error('the plan has not ended on the announced day');
  } else if (!byUser(refund)) return refund;
  if (order?.disputeState === 'open') throw new Error('a bank decides about the payment');
  return capRefund(refund, order);
}

/**
 * Refunds an invoice by a credit note, and records both at its order. A refund that Stripe refuses is given up. The
 * caller holds the user's lock, if there is a user.
 * @throws {StripeUnavailableError} or the refusal
 */
export async function carryOutRefund(deps: BillingDeps, task: BillingTask): Promise<void> {
  const { database, log } = deps;
  const noted = parseColumn(storedValues.refund, task.detail);
  if (!noted) throw new Error('a refund has no details');
  const about = { refund: noted, userId: task.userId };
  const refund = await findDueRefund(deps, about, await findOrderByInvoice(database.db, noted.invoiceId));
  const { invoiceId: invoice, operator } = noted;
  const entry = { act: 'refund', invoice, cents: refund?.amountCents ?? 0, operator };
  if (!refund) {
    await completeTask(database.db, task.id);
    log.info(entry, 'nothing is given back: the plan goes on, or the payment was returned already');
    return;
  }
  try {
    await createCreditNote(deps, task, refund);
  } catch (error) {
    if (!toStripeRefusal(error)) throw error;
    // A member has been told the amount: it waits until the operator has made it possible, and stands in the comparison.
    if (!byUser(refund)) await completeTask(database.db, task.id);
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

import type { Transaction } from 'kysely';
import { dayMs, type StripeInvoiceId, toStripeCustomerId, toStripeInvoiceId } from '../../shared/index.ts';
import type { Schema } from '../../store/index.ts';
import { findUser } from '../../users/index.ts';
import type { BillingDeps } from '../deps.ts';
import { callStripe, orNotFound } from '../stripe/stripe-client.ts';
import { toId } from '../stripe/stripe-objects.ts';
import { notifyMembership } from '../subscription/membership-changes.ts';
import { findMembershipByCustomer } from '../subscription/membership-store.ts';
import { syncMember } from '../subscription/sync-from-stripe.ts';
import { endAfterMoneyBack } from './end-after-money-back.ts';
import { type MoneyBack, readMoneyBack } from './money-back.ts';
import type { Order } from './order.ts';
import { orderFacts } from './order-facts.ts';
import { findOrderByInvoice, writeMoneyBack } from './order-store.ts';

export type PaymentOutcome = 'done' | 'unknown-customer' | 'unknown-payment';

/** The invoices of a payment, and its customer; undefined: Stripe has no such payment. */
async function readPayment(deps: BillingDeps, paymentIntentId: string) {
  return callStripe(deps.stripe, async (stripe) => {
    const [intent, payments] = await Promise.all([
      orNotFound(stripe.paymentIntents.retrieve(paymentIntentId)),
      orNotFound(stripe.invoicePayments.list({ payment: { type: 'payment_intent', payment_intent: paymentIntentId } })),
    ]);
    if (!intent) return undefined;
    return {
      customerId: intent.customer === null ? null : toStripeCustomerId(toId(intent.customer)),
      invoiceIds: (payments?.data ?? []).map(({ invoice }) => toStripeInvoiceId(toId(invoice))),
    };
  });
}

/** More of the payment is refunded, or a refund did not arrive. */
async function notifyRefund(
  deps: BillingDeps,
  trx: Transaction<Schema>,
  { order, changeCents }: { order: Order; changeCents: number },
): Promise<void> {
  const user = order.userId === null ? undefined : await findUser(trx, order.userId);
  if (!user || changeCents === 0) return;
  const values = { ...orderFacts(deps, order), amountCents: Math.abs(changeCents) };
  const template = changeCents > 0 ? 'refund-made' : 'refund-failed';
  await notifyMembership(deps, trx, { user, mail: { template, values } });
}

/** A refund that failed has a negative amount. */
async function recordMoneyBack(
  { outbox, now }: BillingDeps,
  trx: Transaction<Schema>,
  { order, back }: { order: Order; back: MoneyBack },
): Promise<void> {
  const { invoiceId: invoice, currency } = order;
  const about = { subject: order.userId ?? undefined, atMs: now() };
  const amountCents = back.refundedCents - order.refundedCents;
  if (amountCents !== 0) {
    await outbox.record(trx, { type: 'payment.refunded', details: { invoice, amountCents, currency }, ...about });
  }
  const { disputeState: state } = back;
  if (state !== null && state !== order.disputeState) {
    await outbox.record(trx, { type: 'payment.disputed', details: { invoice, state }, ...about });
  }
}

function logDispute({ log }: BillingDeps, { invoiceId }: Order, state: MoneyBack['disputeState']): void {
  const entry = { act: 'dispute', invoice: invoiceId, state };
  if (state === 'open') log.warn(entry, 'payment disputed: respond to it at Stripe');
  else log.info(entry, 'a dispute has ended');
}

/** Refunds and disputes from before an order was known here are recorded without a mail, and end nothing. */
const historyMs = 30 * dayMs;

/** Writes one change with its consequences. @returns whether the order was still as it was before the read */
async function writeChange(deps: BillingDeps, order: Order, back: MoneyBack & { paymentIntentId: string }) {
  const isChanged = order.refundedCents !== back.refundedCents || order.disputeState !== back.disputeState;
  if (!isChanged && order.paymentIntentId === back.paymentIntentId) return true;
  const isHistory = deps.now() - back.newestAt > historyMs;
  const written = await deps.database.transaction(async (trx) => {
    if (!(await writeMoneyBack(trx, { order, back }, deps.now()))) return false;
    const changeCents = back.refundedCents - order.refundedCents;
    await recordMoneyBack(deps, trx, { order, back });
    // A refund that fell was known here, however old it is.
    if (changeCents < 0 || !isHistory) await notifyRefund(deps, trx, { order, changeCents });
    if (!isHistory) await endAfterMoneyBack(deps, trx, { order, back });
    return true;
  });
  if (written && order.disputeState !== back.disputeState) logDispute(deps, order, back.disputeState);
  return written;
}

/** Each attempt was overtaken by another one. */
const maxTries = 8;

/** An order that changed during the read is read again, so that a late answer does not undo a newer one. */
async function recordAtOrder(deps: BillingDeps, invoiceId: StripeInvoiceId, paymentIntentId: string): Promise<void> {
  for (let tries = 0; tries < maxTries; tries += 1) {
    const order = await findOrderByInvoice(deps.database.db, invoiceId);
    if (!order) return;
    const back = await readMoneyBack(deps.stripe, paymentIntentId);
    if (await writeChange(deps, order, { ...back, paymentIntentId })) return;
  }
  throw new Error('the refunds of an order have been changing all the time');
}

/**
 * Records at the order which part of a payment was refunded or disputed, as Stripe has it now, and notifies the user of
 * a refund that was made or that failed.
 * @throws {StripeUnavailableError}
 */
export async function recordRefunds(deps: BillingDeps, paymentIntentId: string): Promise<PaymentOutcome> {
  const { database, outbox } = deps;
  const payment = await readPayment(deps, paymentIntentId);
  if (!payment) return 'unknown-payment';
  const { customerId, invoiceIds } = payment;
  const userId = customerId && (await findMembershipByCustomer(database.db, customerId))?.userId;
  // The event of the payment itself may not have arrived yet.
  if (userId) await syncMember(deps, userId);
  for (const invoiceId of invoiceIds) await recordAtOrder(deps, invoiceId, paymentIntentId);
  outbox.wake();
  return userId ? 'done' : 'unknown-customer';
}

import { toStripeCustomerId, toStripeInvoiceId } from '../../shared/index.ts';
import { findUser } from '../../users/index.ts';
import type { BillingDeps } from '../deps.ts';
import { notifyMembership } from '../jobs/notify.ts';
import { callStripe, orNotFound } from '../stripe/stripe-client.ts';
import { toId } from '../stripe/stripe-objects.ts';
import { cardText } from '../subscription/membership-changes.ts';
import { findMembershipByCustomer } from '../subscription/membership-store.ts';
import { syncMember } from '../subscription/sync-from-stripe.ts';
import type { Order } from './order.ts';
import { findOrderByInvoice, recordRefund } from './order-store.ts';

/** The current state of a payment at Stripe, whatever the event contained; undefined: Stripe has no such payment. */
async function readPayment(deps: BillingDeps, paymentIntentId: string) {
  return callStripe(deps.stripe, async (stripe) => {
    const [intent, payments] = await Promise.all([
      orNotFound(stripe.paymentIntents.retrieve(paymentIntentId, { expand: ['latest_charge'] })),
      orNotFound(stripe.invoicePayments.list({ payment: { type: 'payment_intent', payment_intent: paymentIntentId } })),
    ]);
    if (!intent) return undefined;
    const charge = typeof intent.latest_charge === 'string' ? null : intent.latest_charge;
    return {
      customerId: intent.customer === null ? null : toStripeCustomerId(toId(intent.customer)),
      invoiceIds: (payments?.data ?? []).map(({ invoice }) => toStripeInvoiceId(toId(invoice))),
      refundedCents: charge?.amount_refunded ?? 0,
      disputed: charge?.disputed ?? false,
    };
  });
}

async function notifyRefund(
  deps: BillingDeps,
  trx: Parameters<typeof notifyMembership>[1],
  { order, amountCents }: { order: Order; amountCents: number },
): Promise<void> {
  const user = order.userId === null ? undefined : await findUser(trx, order.userId);
  if (!user) return;
  const plan = deps.catalogue.byId(order.planId);
  const values = {
    ...cardText(order.card),
    ...(plan && { planName: plan.name }),
    amountCents,
    currency: order.currency,
    ...(order.invoiceNumber !== null && { invoiceNumber: order.invoiceNumber }),
    ...(order.invoiceUrl !== null && { invoiceUrl: order.invoiceUrl }),
  };
  await notifyMembership(deps, trx, { user, mail: { template: 'refund-made', values } });
}

/**
 * Records a refund or dispute at the order, and notifies the user of a refund. The plan stays: the operator ends it at
 * Stripe if that is intended.
 * @throws {StripeUnavailableError}
 */
export async function recordRefunds(
  deps: BillingDeps,
  paymentIntentId: string,
): Promise<'done' | 'unknown-customer' | 'unknown-payment'> {
  const { database, outbox, log, now } = deps;
  const payment = await readPayment(deps, paymentIntentId);
  if (!payment) return 'unknown-payment';
  const { customerId, invoiceIds, refundedCents, disputed } = payment;
  const userId = customerId && (await findMembershipByCustomer(database.db, customerId))?.userId;
  // The event of the payment itself may not have arrived yet.
  if (userId) await syncMember(deps, userId);
  for (const invoiceId of invoiceIds) {
    await database.transaction(async (trx) => {
      const changes = await recordRefund(trx, invoiceId, {
        refundedCents,
        ...(disputed && { disputedAt: now() }),
      });
      const order = changes && (await findOrderByInvoice(trx, invoiceId));
      if (!order) return;
      if (changes.refundedCents > 0) await notifyRefund(deps, trx, { order, amountCents: changes.refundedCents });
      if (changes.disputed)
        log.warn({ act: 'dispute', invoice: invoiceId }, 'payment disputed: respond to it at Stripe');
    });
  }
  outbox.wake();
  return userId ? 'done' : 'unknown-customer';
}

import { findUser } from '../account/index.ts';
import type { MembershipDeps } from './deps.ts';
import { findMembershipOf } from './membership-store.ts';
import { cardWords } from './news.ts';
import { findOrderOf, noteMoneyBack, type Order } from './order-store.ts';
import { asking } from './stripe.ts';
import { idOf } from './stripe-objects.ts';
import { syncMember } from './sync.ts';
import { tell } from './tell.ts';

/** What Stripe has of a payment by now, whatever an event has said. */
async function readPayment(deps: MembershipDeps, paymentIntentId: string) {
  return asking(deps.stripe, async (stripe) => {
    const [intent, payments] = await Promise.all([
      stripe.paymentIntents.retrieve(paymentIntentId, { expand: ['latest_charge'] }),
      stripe.invoicePayments.list({ payment: { type: 'payment_intent', payment_intent: paymentIntentId } }),
    ]);
    const charge = typeof intent.latest_charge === 'string' ? null : intent.latest_charge;
    return {
      customerId: intent.customer === null ? null : idOf(intent.customer),
      invoiceIds: payments.data.map(({ invoice }) => idOf(invoice)),
      refundedCents: charge?.amount_refunded ?? 0,
      disputed: charge?.disputed ?? false,
    };
  });
}

async function tellOfRefund(
  deps: MembershipDeps,
  trx: Parameters<typeof tell>[1],
  order: Order,
  amountCents: number,
): Promise<void> {
  const user = order.userId === null ? undefined : await findUser(trx, order.userId);
  if (!user) return;
  const plan = deps.catalogue.byId(order.planId);
  await tell(deps, trx, user, {
    template: 'refund-made',
    values: {
      ...cardWords(order.card),
      ...(plan && { planName: plan.name }),
      amountCents,
      currency: order.currency,
      ...(order.invoiceNumber !== null && { invoiceNumber: order.invoiceNumber }),
      ...(order.invoiceUrl !== null && { invoiceUrl: order.invoiceUrl }),
    },
  });
}

/**
 * Notes at the order what of its payment was given back or is disputed, and tells the member of a refund. The plan is left
 * to whoever gave the money back: they end it at Stripe if they mean that.
 * @returns the member, or null when it is nobody's
 * @throws {BillingUnavailable}
 */
export async function noteMoneyBackOf(deps: MembershipDeps, paymentIntentId: string): Promise<string | null> {
  const { database, outbox, log, now } = deps;
  const { customerId, invoiceIds, refundedCents, disputed } = await readPayment(deps, paymentIntentId);
  const userId = customerId && (await findMembershipOf(database.db, customerId))?.userId;
  // The news of the payment itself may be on its way.
  if (userId) await syncMember(deps, userId);
  for (const invoiceId of invoiceIds) {
    await database.transaction(async (trx) => {
      const news = await noteMoneyBack(trx, invoiceId, {
        refundedCents,
        ...(disputed && { disputedAt: now() }),
      });
      const order = news && (await findOrderOf(trx, invoiceId));
      if (!order) return;
      if (news.refundedCents > 0) await tellOfRefund(deps, trx, order, news.refundedCents);
      if (news.disputed) log.warn({ act: 'dispute', invoice: invoiceId }, 'a payment is disputed: answer it at Stripe');
    });
  }
  outbox.wake();
  return userId || null;
}

import { toStripeInvoiceId } from '../../shared/index.ts';
import type { User } from '../../users/index.ts';
import { consumeCharge } from '../cards/card-entry.ts';
import type { Plan } from '../catalogue/catalogue.ts';
import type { BillingDeps } from '../deps.ts';
import { settleNoted } from '../jobs/tasks.ts';
import type { PurchaseResult } from '../results.ts';
import { type OpenInvoice, readInvoice } from '../stripe/read-stripe-snapshot.ts';
import { callStripe, toStripeRefusal } from '../stripe/stripe-client.ts';
import { toDecline } from '../stripe/stripe-objects.ts';
import { syncMember } from '../subscription/sync-from-stripe.ts';
import { findOrderByInvoice } from './order-store.ts';

/** Charges an unpaid renewal to the user's present card. @throws {StripeUnavailableError} */
export async function payOpenInvoice(deps: BillingDeps, user: User, { ip }: { ip: string }): Promise<PurchaseResult> {
  await settleNoted(deps, user.id);
  const membership = await syncMember(deps, user.id);
  const plan = deps.catalogue.byId(membership?.pricedPlanId) ?? deps.catalogue.byId(membership?.paidPlanId);
  if (!membership?.unpaid || !plan) return { kind: 'no-change', plan };
  const { card, unpaid } = membership;
  if (card === null) return { kind: 'no-card' };
  const before = await readInvoice(deps.stripe, unpaid.invoiceId);
  if (before.payment?.status !== 'requires_action' && before.invoice.status === 'open') {
    const decision = await consumeCharge(deps, user, { ip, paymentMethodId: card.paymentMethodId });
    if (!decision.allowed) return { kind: 'too-many', retryAfterMs: decision.retryAfterMs };
    try {
      await callStripe(deps.stripe, (stripe) =>
        // An invoice is paid once, however often the call is repeated.
        stripe.invoices.pay(unpaid.invoiceId, { payment_method: card.paymentMethodId, off_session: false }),
      );
    } catch (error) {
      if (!toStripeRefusal(error)) throw error;
    }
  }
  const { invoice, payment } = await readInvoice(deps.stripe, unpaid.invoiceId);
  await syncMember(deps, user.id);
  return toPaymentResult(deps, plan, { invoice, payment });
}

/** The state of the invoice after the attempt. */
async function toPaymentResult(
  { database }: BillingDeps,
  plan: Plan,
  { invoice, payment }: OpenInvoice,
): Promise<PurchaseResult> {
  if (invoice.status === 'paid') {
    return { kind: 'paid', plan, order: await findOrderByInvoice(database.db, toStripeInvoiceId(invoice.id)) };
  }
  if (payment?.status === 'processing') return { kind: 'processing', plan, amountCents: invoice.amount_remaining };
  if (payment?.status === 'requires_action') {
    const clientSecret = invoice.confirmation_secret?.client_secret ?? payment.client_secret;
    if (clientSecret) return { kind: 'action', clientSecret, plan, amountCents: invoice.amount_remaining };
  }
  return { kind: 'declined', ...toDecline(payment?.last_payment_error), plan };
}

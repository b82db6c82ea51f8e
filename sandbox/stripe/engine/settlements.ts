import { testCard } from './cards.ts';
import { settlePayment } from './charges.ts';
import { markPaid, recordFailure, toSubscriptionId } from './collect.ts';
import { openDispute } from './disputes.ts';
import type { HiddenSettlement } from './kinds.ts';
import { getHiddenCard } from './payment-methods.ts';
import type { State } from './state.ts';

/** The end of a debit's wait: the invoice is paid, or its subscription is past due, as after another failed payment. */
export function settle(state: State, { id, intent: intentId }: HiddenSettlement) {
  state.drop(id);
  const invoiceId = state.all('invoice_payment').find((one) => one.payment.payment_intent === intentId)?.invoice ?? '';
  const invoice = state.edit('invoice', invoiceId);
  const method = state.get('payment_intent', intentId).payment_method ?? '';
  const result = settlePayment(state, intentId);
  if (result.outcome === 'paid') {
    markPaid(state, invoiceId, method);
    if (testCard(getHiddenCard(state, method).number).debit?.disputed) openDispute(state, invoiceId, 'needs_response');
    return;
  }
  recordFailure(state, invoice, {
    outcome: result.outcome,
    offSession: invoice.billing_reason === 'subscription_cycle',
  });
  const subscription = state.find('subscription', toSubscriptionId(invoice));
  if (subscription?.latest_invoice !== invoiceId || subscription.status !== 'active') return;
  state.edit('subscription', subscription.id).status = 'past_due';
  state.announce('customer.subscription.updated', subscription, 'updated');
}

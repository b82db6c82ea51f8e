import { type Attempt, attemptPayment } from './charges.ts';
import { changePayment, toIntentId } from './invoices.ts';
import type { Invoice, Subscription } from './objects.ts';
import { type Params, Reader } from './params.ts';
import { attach, resolveMethod } from './payment-methods.ts';
import { applyChange, dropChange } from './pending-change.ts';
import type { State } from './state.ts';
import { invalid, StandInError } from './types.ts';

const day = 86_400;

export type CollectionResult = Attempt | { outcome: 'no_payment_method' };

export const toSubscriptionId = (invoice: Invoice): string => invoice.parent.subscription_details.subscription;

/** The card that Stripe charges for a subscription: its own default, else the customer's. */
export function defaultMethod(state: State, subscription: Subscription): string | undefined {
  return (
    subscription.default_payment_method ??
    state.get('customer', subscription.customer).invoice_settings.default_payment_method ??
    undefined
  );
}

/** The effect of a paid invoice on its subscription. */
function afterPaid(state: State, invoice: Invoice) {
  if (applyChange(state, invoice)) return;
  const subscription = state.find('subscription', toSubscriptionId(invoice));
  if (!subscription || subscription.latest_invoice !== invoice.id) return;
  if (subscription.status === 'incomplete' || subscription.status === 'past_due') {
    state.edit('subscription', subscription.id).status = 'active';
    state.announce('customer.subscription.updated', subscription, 'updated');
  }
}

/** @param method the card that paid; undefined if nothing was due, or it was paid elsewhere */
export function markPaid(state: State, invoiceId: string, method: string | undefined) {
  const invoice = state.edit('invoice', invoiceId);
  invoice.status = 'paid';
  invoice.attempted = true;
  invoice.auto_advance = false;
  invoice.amount_paid = invoice.amount_due;
  invoice.amount_remaining = 0;
  invoice.next_payment_attempt = null;
  invoice.status_transitions.paid_at = state.now();
  changePayment(state, invoice, (payment) => {
    payment.status = 'paid';
    payment.amount_paid = invoice.amount_due;
    payment.status_transitions.paid_at = state.now();
  });
  const subscription = state.find('subscription', toSubscriptionId(invoice));
  const saves = subscription?.payment_settings?.save_default_payment_method === 'on_subscription';
  if (method !== undefined && subscription && saves) {
    attach(state, method, invoice.customer);
    if (subscription.default_payment_method !== method) {
      state.edit('subscription', subscription.id).default_payment_method = method;
      state.announce('customer.subscription.updated', subscription, 'updated');
    }
  }
  state.announce('invoice.paid', invoice);
  state.announce('invoice.payment_succeeded', invoice);
  afterPaid(state, invoice);
}

export function recordFailure(
  state: State,
  invoice: Invoice,
  { outcome, offSession }: { outcome: CollectionResult['outcome']; offSession: boolean },
) {
  invoice.attempted = true;
  if (offSession) {
    const days = state.retryAfterDays[invoice.attempt_count - 1];
    invoice.next_payment_attempt = days === undefined ? null : state.now() + days * day;
  }
  state.announce(outcome === 'requires_action' ? 'invoice.payment_action_required' : 'invoice.payment_failed', invoice);
}

/**
 * Tries to charge an open invoice, to the given card or the default one.
 * @param how.offSession a renewal: tried again after some days
 * @param how.absent the customer cannot answer the bank, which declines instead of asking
 */
export function collect(
  state: State,
  invoiceId: string,
  how: { offSession: boolean; method?: string; absent?: boolean },
): CollectionResult {
  const invoice = state.edit('invoice', invoiceId);
  if (invoice.amount_due === 0) {
    markPaid(state, invoiceId, undefined);
    return { outcome: 'paid' };
  }
  if (state.isRehearsal()) return { outcome: 'no_payment_method' };
  const method = how.method ?? defaultMethod(state, state.get('subscription', toSubscriptionId(invoice)));
  // After the first, only attempts of Stripe's own schedule are counted (the invoice's attempt_count).
  if (how.offSession || invoice.attempt_count === 0) invoice.attempt_count += 1;
  const intent = toIntentId(invoice);
  const result: CollectionResult =
    method === undefined || intent === undefined
      ? { outcome: 'no_payment_method' }
      : attemptPayment(state, intent, { method, absent: how.absent });
  if (result.outcome === 'paid') markPaid(state, invoiceId, method);
  else if (result.outcome === 'processing') Object.assign(invoice, { attempted: true, next_payment_attempt: null });
  else recordFailure(state, invoice, { outcome: result.outcome, offSession: how.offSession });
  return result;
}

export const noPaymentMethod = () =>
  invalid(
    'This customer has no attached payment source or default payment method. ' +
      'Please consider adding a default payment method.',
    { code: 'resource_missing' },
  );

/** The reason of a failed payment, in Stripe's terms. `keeps` if the attempt is stored. */
export function paymentError(
  state: State,
  invoice: Invoice,
  { result, keeps = false }: { result: CollectionResult; keeps?: boolean },
): StandInError {
  if (result.outcome === 'no_payment_method') return noPaymentMethod();
  const intent = toIntentId(invoice);
  const paymentIntent = intent && structuredClone(state.get('payment_intent', intent));
  if (result.outcome === 'declined') {
    const { code, declineCode, message } = result.decline;
    return new StandInError(message, { status: 402, type: 'card_error', code, declineCode, paymentIntent, keeps });
  }
  return new StandInError(
    'This payment requires additional user action before it can be completed successfully. ' +
      'Payment can be completed using the PaymentIntent associated with this invoice.',
    { status: 402, type: 'card_error', code: 'invoice_payment_intent_requires_action', paymentIntent, keeps },
  );
}

export function payInvoice(state: State, id: string, params: Params): Invoice {
  const reader = new Reader(params, ['payment_method', 'off_session', 'paid_out_of_band']);
  const invoice = state.edit('invoice', id);
  if (invoice.status !== 'open' && invoice.status !== 'uncollectible') {
    throw invalid(invoice.status === 'paid' ? 'Invoice is already paid' : 'This invoice can no longer be paid');
  }
  if (reader.bool('paid_out_of_band')) {
    invoice.amount_paid_off_stripe = invoice.amount_due;
    markPaid(state, id, undefined);
    return invoice;
  }
  const methodId = reader.text('payment_method');
  const method = methodId === undefined ? undefined : resolveMethod(state, methodId);
  if (method && method.customer !== null && method.customer !== invoice.customer) {
    throw invalid('The payment method belongs to another customer.', { param: 'payment_method' });
  }
  const absent = reader.bool('off_session') ?? true;
  const result = collect(state, id, { offSession: false, method: method?.id, absent });
  if (result.outcome === 'paid' || result.outcome === 'processing') return invoice;
  afterFailedPay(state, invoice);
  throw paymentError(state, invoice, { result, keeps: true });
}

/** A subscription that resumes on the first attempt is past due when that attempt fails. */
export function afterFailedPay(state: State, invoice: Invoice) {
  const change = state.find('hidden.change', `hidden_change_${toSubscriptionId(invoice)}`);
  if (change?.kind === 'resume' && change.invoice === invoice.id && change.onAttempt)
    applyChange(state, invoice, 'past_due');
}

/** @param event the event of a pending change that is dropped with the invoice */
export function voidInvoice(
  state: State,
  id: string,
  event:
    | 'customer.subscription.updated'
    | 'customer.subscription.pending_update_expired' = 'customer.subscription.updated',
): Invoice {
  const invoice = state.edit('invoice', id);
  if (invoice.status !== 'open' && invoice.status !== 'uncollectible') {
    throw invalid(`You can only void open and uncollectible invoices; this one is ${invoice.status}.`, {
      code: 'status_transition_invalid',
    });
  }
  const payment = toIntentId(invoice);
  if (payment !== undefined && state.get('payment_intent', payment).status === 'processing') {
    throw invalid('You cannot void an invoice whose payment is processing.', { code: 'status_transition_invalid' });
  }
  invoice.status = 'void';
  invoice.auto_advance = false;
  invoice.next_payment_attempt = null;
  invoice.status_transitions.voided_at = state.now();
  state.edit('customer', invoice.customer).balance += invoice.starting_balance - (invoice.ending_balance ?? 0);
  cancelIntent(state, invoice);
  state.announce('invoice.voided', invoice);
  dropChange(state, invoice, event);
  const subscription = state.find('subscription', toSubscriptionId(invoice));
  if (subscription?.latest_invoice === id && subscription.status === 'past_due') {
    state.edit('subscription', subscription.id).status = 'active';
    state.announce('customer.subscription.updated', subscription, 'updated');
  } else if (subscription?.latest_invoice === id && subscription.status === 'incomplete') {
    state.edit('subscription', subscription.id).status = 'incomplete_expired';
    subscription.ended_at = state.now();
    state.announce('customer.subscription.updated', subscription, 'updated');
  }
  return invoice;
}

function cancelIntent(state: State, invoice: Invoice) {
  const id = toIntentId(invoice);
  if (id === undefined) return;
  const intent = state.edit('payment_intent', id);
  intent.status = 'canceled';
  intent.canceled_at = state.now();
  intent.cancellation_reason = 'void_invoice';
  intent.next_action = null;
  state.announce('payment_intent.canceled', intent);
  changePayment(state, invoice, (payment) => {
    payment.status = 'canceled';
    payment.status_transitions.canceled_at = state.now();
  });
}

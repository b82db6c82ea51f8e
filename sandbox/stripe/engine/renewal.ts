import { collect, defaultMethod, toSubscriptionId } from './collect.ts';
import { finalizeInvoice } from './finalize-invoice.ts';
import { type BillingResult, bill } from './invoices.ts';
import type { Subscription } from './objects.ts';
import { nextPeriodEnd } from './periods.ts';
import { periodLine } from './proration.ts';
import { passPhase } from './schedule-phases.ts';
import type { State } from './state.ts';
import { recordBilling } from './subscription-create.ts';
import { end, pause } from './subscription-lifecycle.ts';
import { endsWithPeriod, getItem, setPeriod } from './subscription-shape.ts';

/**
 * Starts the next period and bills it; nothing is charged yet. Now is the end of the running period.
 * @param keepsDraft whether the invoice stays a draft for an hour
 */
export function billNextPeriod(state: State, subscription: Subscription, keepsDraft = false): BillingResult {
  const item = getItem(subscription);
  const period = { start: item.current_period_start, end: item.current_period_end };
  passPhase(state, subscription, period.end);
  const recurring = item.price.recurring ?? { interval: 'month', interval_count: 1 };
  setPeriod(item, period.end, nextPeriodEnd(subscription.billing_cycle_anchor, recurring, period.end));
  if (subscription.status === 'trialing') subscription.status = 'active';
  const billed = bill(state, subscription, {
    reason: 'subscription_cycle',
    drafts: [periodLine(state, item)],
    period,
    keepsDraft,
  });
  subscription.latest_invoice = billed.invoice.id;
  recordBilling(state, subscription, billed);
  return billed;
}

/** The end of a subscription's period or trial. */
export function endPeriod(state: State, id: string) {
  const subscription = state.edit('subscription', id);
  if (endsWithPeriod(subscription)) {
    billRest(state, subscription);
    end(state, id, 'cancellation_requested');
    return;
  }
  if (subscription.status === 'trialing' && defaultMethod(state, subscription) === undefined) {
    const behaviour = subscription.trial_settings?.end_behavior.missing_payment_method;
    if (behaviour === 'pause') {
      pause(state, subscription, 'trial_end_without_payment_method');
      return;
    }
    if (behaviour === 'cancel') {
      end(state, id, 'cancellation_requested');
      return;
    }
  }
  const { invoice } = billNextPeriod(state, subscription, state.draftsRenewals);
  if (!state.draftsRenewals) collectRenewal(state, subscription, invoice.id);
  state.announce('customer.subscription.updated', subscription, 'updated');
}

/** The end of a subscription at a date of its own. */
export function endAtDate(state: State, id: string) {
  billRest(state, state.edit('subscription', id));
  end(state, id, 'cancellation_requested');
}

function collectRenewal(state: State, subscription: Subscription, invoiceId: string) {
  const { outcome } = collect(state, invoiceId, { offSession: true });
  if (outcome === 'processing') return;
  if (outcome !== 'paid') subscription.status = 'past_due';
  else if (subscription.status === 'past_due') subscription.status = 'active';
}

/** The end of a renewal's hour as a draft: it is charged. */
export function finalizeRenewal(state: State, invoiceId: string) {
  const invoice = finalizeInvoice(state, invoiceId);
  state.announce('invoice.finalized', invoice);
  const subscription = state.edit('subscription', toSubscriptionId(invoice));
  collectRenewal(state, subscription, invoiceId);
  state.announce('customer.subscription.updated', subscription, 'updated');
}

/** Prorations that are still pending when a subscription ends are billed by a last invoice. */
function billRest(state: State, subscription: Subscription) {
  const hasPending = state.all('hidden.item').some((each) => each.subscription === subscription.id && !each.invoiced);
  if (!hasPending) return;
  const item = getItem(subscription);
  const { invoice } = bill(state, subscription, {
    reason: 'subscription_cycle',
    drafts: [],
    period: { start: item.current_period_start, end: item.current_period_end },
  });
  subscription.latest_invoice = invoice.id;
  collect(state, invoice.id, { offSession: true });
}

/** One more attempt at a renewal that failed. After the last, the subscription ends: Stripe's default. */
export function retry(state: State, invoiceId: string) {
  const invoice = state.edit('invoice', invoiceId);
  const { outcome } = collect(state, invoiceId, { offSession: true });
  // A subscription whose resumption is not paid stays paused.
  if (state.get('subscription', toSubscriptionId(invoice)).status === 'paused') return;
  if (outcome !== 'paid' && outcome !== 'processing' && invoice.next_payment_attempt === null)
    end(state, toSubscriptionId(invoice), 'payment_failed');
}

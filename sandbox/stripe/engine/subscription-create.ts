import { readBillingMode } from './billing-mode.ts';
import { collect, defaultMethod, noPaymentMethod, paymentError } from './collect.ts';
import { changeDiscounts, discountFields, recordDiscountChange, removeSpentDiscounts } from './discounts.ts';
import { type BillingResult, bill } from './invoices.ts';
import type { Invoice, Subscription } from './objects.ts';
import { type Params, Reader } from './params.ts';
import { recordDebits } from './pending-change.ts';
import { addPeriods } from './periods.ts';
import { periodLine, trialLine } from './proration.ts';
import type { State } from './state.ts';
import { getItem, makeSubscription, readItem, setPeriod, writeSettings } from './subscription-shape.ts';
import { invalid, missing, unknownToStandIn } from './types.ts';

const day = 86_400;
const longestTrialDays = 730;
export const paymentBehaviours = [
  'allow_incomplete',
  'default_incomplete',
  'error_if_incomplete',
  'pending_if_incomplete',
] as const;
export type PaymentBehaviour = (typeof paymentBehaviours)[number];

const known = [
  'customer',
  'items',
  'trial_period_days',
  'trial_end',
  'trial_settings',
  'payment_behavior',
  'payment_settings',
  'default_payment_method',
  'metadata',
  'description',
  'discounts',
  'cancel_at_period_end',
  'collection_method',
  'off_session',
  'proration_behavior',
  'currency',
  'billing_mode',
  'automatic_tax',
  'default_tax_rates',
];

/** The trial end in a call, in seconds; null without one. */
function readTrialEnd(state: State, reader: Reader): number | null {
  const days = reader.int('trial_period_days');
  const end = reader.text('trial_end');
  if (days !== undefined && end !== undefined) {
    throw invalid('You may only specify one of these parameters: trial_end, trial_period_days.', {
      code: 'parameters_exclusive',
    });
  }
  if (days !== undefined) {
    if (days < 0 || days > longestTrialDays) {
      throw invalid(`trial_period_days must be from 0 to ${longestTrialDays}`, { param: 'trial_period_days' });
    }
    return days === 0 ? null : state.now() + days * day;
  }
  return end === undefined || end === 'now' ? null : trialEndAfterNow(state, reader.int('trial_end') ?? 0);
}

/** @throws StandInError if a trial would not end in the future, or too far in it */
export function trialEndAfterNow(state: State, end: number): number {
  if (end <= state.now()) {
    throw invalid('Invalid timestamp: must be an integer Unix timestamp in the future.', { param: 'trial_end' });
  }
  if (end > state.now() + 5 * 366 * day) {
    throw invalid('Invalid timestamp: can be no more than five years in the future.', { param: 'trial_end' });
  }
  return end;
}

/** Marks that the subscription ends when its period does. */
export function setCancelAtPeriodEnd(state: State, subscription: Subscription, ends: boolean) {
  if (ends === subscription.cancel_at_period_end && ends === (subscription.cancel_at !== null)) return;
  subscription.cancel_at_period_end = ends;
  subscription.canceled_at = ends ? state.now() : null;
  subscription.cancel_at = ends ? getItem(subscription).current_period_end : null;
  subscription.cancellation_details = {
    comment: null,
    feedback: null,
    feedback_option: null,
    reason: ends ? 'cancellation_requested' : null,
  };
}

/** The changes of a subscription after its bill. */
export function recordBilling(state: State, subscription: Subscription, billed: BillingResult) {
  recordDebits(state, subscription, billed.debits);
  removeSpentDiscounts(state, subscription, billed.used);
}

export function createSubscription(state: State, params: Params): Subscription {
  const reader = new Reader(params, known);
  const customer = state.get('customer', reader.need('customer'), 'customer');
  if ((reader.text('collection_method') ?? 'charge_automatically') !== 'charge_automatically') {
    throw unknownToStandIn('invoices that are sent for payment', 'collection_method');
  }
  const change = readItem(state, reader);
  if (!change) throw missing('price', '', 'items');
  const behaviour = reader.choice('payment_behavior', paymentBehaviours) ?? 'allow_incomplete';
  if (behaviour === 'pending_if_incomplete') {
    throw invalid('`payment_behavior=pending_if_incomplete` cannot be used when creating a subscription.', {
      param: 'payment_behavior',
    });
  }
  if (customer.currency !== null && customer.currency !== change.price.currency) {
    throw invalid('You cannot combine currencies on a single customer.', { param: 'currency' });
  }
  const subscription = makeSubscription(state, customer.id, change);
  subscription.billing_mode = readBillingMode(reader) ?? subscription.billing_mode;
  state.put(subscription);
  writeSettings(state, subscription, reader);
  const item = getItem(subscription);
  const now = state.now();
  const trialEnd = readTrialEnd(state, reader);
  if (trialEnd === null) {
    setPeriod(item, now, addPeriods(now, change.price.recurring ?? { interval: 'month', interval_count: 1 }, 1));
  } else {
    Object.assign(subscription, { trial_start: now, trial_end: trialEnd, billing_cycle_anchor: trialEnd });
    subscription.status = 'trialing';
    setPeriod(item, now, trialEnd);
  }
  const discounts = reader.objects('discounts', discountFields);
  if (discounts) {
    changeDiscounts(state, subscription, { discounts, item });
    recordDiscountChange(state, [], subscription.discounts);
  }
  setCancelAtPeriodEnd(state, subscription, reader.bool('cancel_at_period_end') ?? false);
  const line = trialEnd === null ? periodLine(state, item) : trialLine(state, item);
  const billed = bill(state, subscription, {
    reason: 'subscription_create',
    drafts: [line],
    period: { start: now, end: now },
  });
  subscription.latest_invoice = billed.invoice.id;
  recordBilling(state, subscription, billed);
  payFirst(state, subscription, { invoice: billed.invoice, behaviour });
  state.announce('customer.subscription.created', subscription);
  return subscription;
}

/** The first invoice: paid at once, or the subscription waits, incomplete, for at most 23 hours. */
function payFirst(
  state: State,
  subscription: Subscription,
  { invoice, behaviour }: { invoice: Invoice; behaviour: PaymentBehaviour },
) {
  const due = invoice.amount_due > 0;
  if (due) subscription.status = 'incomplete';
  if (due && behaviour === 'default_incomplete') return;
  if (due && defaultMethod(state, subscription) === undefined && !state.isRehearsal()) throw noPaymentMethod();
  const result = collect(state, invoice.id, { offSession: false });
  if (result.outcome === 'paid' || state.isRehearsal()) return;
  if (result.outcome === 'processing') {
    subscription.status = 'active';
    return;
  }
  if (behaviour === 'error_if_incomplete') throw paymentError(state, invoice, { result });
}

import { collect, defaultMethod, voidInvoice } from './collect.ts';
import { type DraftLine, makeLine } from './invoice-lines.ts';
import { bill } from './invoices.ts';
import type { Subscription } from './objects.ts';
import { list, type Params, paging, Reader } from './params.ts';
import { findPendingChange, postponeChange } from './pending-change.ts';
import { addPeriods } from './periods.ts';
import { creditLine, periodLine } from './proration.ts';
import { checkUnmanaged, endSchedule } from './schedule-phases.ts';
import type { State } from './state.ts';
import { recordBilling } from './subscription-create.ts';
import { getItem, setPeriod } from './subscription-shape.ts';
import { invalid, type PauseReason, unknownToStandIn } from './types.ts';

type Reason = 'cancellation_requested' | 'payment_failed' | 'payment_disputed';

export function listSubscriptions(state: State, params: Params) {
  const reader = new Reader(params, [...paging, 'customer', 'status', 'price']);
  const [customer, status, price] = [reader.text('customer'), reader.text('status'), reader.text('price')];
  const ended = (each: Subscription) => each.status === 'canceled' || each.status === 'incomplete_expired';
  const matchesStatus = (each: Subscription) =>
    status === undefined
      ? each.status !== 'canceled'
      : status === 'all' || (status === 'ended' ? ended(each) : each.status === status);
  return list(
    state
      .all('subscription')
      .filter(
        (each) =>
          matchesStatus(each) &&
          (customer === undefined || each.customer === customer) &&
          (price === undefined || getItem(each).price.id === price),
      ),
    '/v1/subscriptions',
  );
}

/** Ends a subscription now: pending changes are dropped, and open invoices are not collected any more. */
export function end(state: State, id: string, reason: Reason) {
  const subscription = state.edit('subscription', id);
  const change = findPendingChange(state, id);
  if (change) voidInvoice(state, change.invoice);
  subscription.status = 'canceled';
  subscription.canceled_at ??= state.now();
  subscription.ended_at = state.now();
  if (subscription.cancellation_details && subscription.cancellation_details.reason === null) {
    subscription.cancellation_details.reason = reason;
  }
  for (const invoice of state.all('invoice')) {
    if (invoice.parent.subscription_details.subscription !== id) continue;
    if (invoice.status !== 'open' && invoice.status !== 'draft') continue;
    Object.assign(state.edit('invoice', invoice.id), { auto_advance: false, next_payment_attempt: null });
  }
  endSchedule(state, subscription);
  state.announce('customer.subscription.deleted', subscription);
}

export function cancelSubscription(state: State, id: string, params: Params): Subscription {
  const reader = new Reader(params, ['prorate', 'invoice_now', 'cancellation_details']);
  const subscription = state.edit('subscription', id);
  if (subscription.status === 'canceled' || subscription.status === 'incomplete_expired') {
    throw invalid(`No such subscription: '${id}'`, { param: 'id', code: 'resource_missing' });
  }
  checkUnmanaged(subscription);
  return endNow(state, subscription, reader);
}

/** Ends a subscription or, with it, its schedule; `prorate` and `invoice_now` mean the same for both. */
export function endNow(state: State, subscription: Subscription, reader: Reader): Subscription {
  const { id } = subscription;
  const details = reader.object('cancellation_details', ['comment', 'feedback']);
  if (details && subscription.cancellation_details) {
    subscription.cancellation_details.comment = details.text('comment') ?? null;
    subscription.cancellation_details.feedback = (details.text('feedback') as 'other' | undefined) ?? null;
  }
  const credits = reader.bool('prorate') ? creditLine(state, getItem(subscription), state.now()) : [];
  const hasPending = state.all('hidden.item').some((each) => each.subscription === id && !each.invoiced);
  if (reader.bool('invoice_now') && (credits.length > 0 || hasPending)) {
    billNow(state, subscription, credits);
  } else {
    keepPending(state, subscription, credits);
  }
  if (credits.length > 0) state.drop(`hidden_debit_${getItem(subscription).id}`);
  end(state, id, 'cancellation_requested');
  return subscription;
}

function billNow(state: State, subscription: Subscription, lines: DraftLine[]) {
  const now = state.now();
  const start = getItem(subscription).current_period_start;
  const billed = bill(state, subscription, {
    reason: 'subscription_update',
    drafts: lines,
    period: { start, end: now },
  });
  subscription.latest_invoice = billed.invoice.id;
  collect(state, billed.invoice.id, { offSession: false });
}

function keepPending(state: State, subscription: Subscription, lines: DraftLine[]) {
  for (const draft of lines) {
    const line = makeLine(subscription, draft);
    state.put({
      id: `hidden_item_${line.id}`,
      object: 'hidden.item',
      subscription: subscription.id,
      line,
      invoiced: false,
    });
  }
}

/** All of a customer's subscriptions, when the customer is deleted. */
export function cancelAll(state: State, customer: string) {
  for (const { id, customer: owner, status } of state.all('subscription')) {
    if (owner === customer && status !== 'canceled' && status !== 'incomplete_expired') {
      end(state, id, 'cancellation_requested');
    }
  }
}

/** A pause ends the running period. */
export function pause(state: State, subscription: Subscription, type: PauseReason) {
  subscription.status = 'paused';
  const item = getItem(subscription);
  item.current_period_end = Math.min(item.current_period_end, state.now());
  subscription.status_details = {
    paused: { subscription: { type }, transitioned_at: state.now(), type: 'subscription' },
  };
  state.announce('customer.subscription.paused', subscription);
  state.announce('customer.subscription.updated', subscription, 'updated');
}

/** Pauses on request: unused time is credited, by default with the next invoice. */
export function pauseSubscription(state: State, id: string, params: Params): Subscription {
  const reader = new Reader(params, ['type', 'bill_for', 'invoicing_behavior']);
  const subscription = state.edit('subscription', id);
  const { status } = subscription;
  if (subscription.schedule !== null) throw invalid('A subscription with an attached schedule cannot be paused.');
  if (status !== 'active' && status !== 'trialing') {
    throw invalid(`A subscription that is ${status} cannot be paused.`, { code: 'status_transition_invalid' });
  }
  if (findPendingChange(state, id)) throw invalid('A subscription with a pending update cannot be paused.');
  const from =
    reader.object('bill_for', ['unused_time_from'])?.object('unused_time_from', ['type'])?.text('type') ?? 'now';
  if (from === 'item_current_period_start') throw unknownToStandIn('credits from the start of the period', 'bill_for');
  const item = getItem(subscription);
  const credits = from === 'none' || status === 'trialing' ? [] : creditLine(state, item, state.now());
  if (credits.length > 0) state.drop(`hidden_debit_${item.id}`);
  const behaviour = reader.choice('invoicing_behavior', ['invoice', 'pending_invoice_item']) ?? 'pending_invoice_item';
  if (behaviour === 'invoice' && credits.length > 0) billNow(state, subscription, credits);
  else keepPending(state, subscription, credits);
  pause(state, subscription, 'pause_requested');
  return subscription;
}

/** The bill of a resumption: a whole new period. */
export function billResumption(state: State, subscription: Subscription) {
  const item = getItem(subscription);
  const now = state.now();
  const start = item.current_period_start;
  setPeriod(item, now, addPeriods(now, item.price.recurring ?? { interval: 'month', interval_count: 1 }, 1));
  subscription.billing_cycle_anchor = now;
  subscription.status = 'active';
  if (subscription.cancel_at_period_end) subscription.cancel_at = item.current_period_end;
  const billed = bill(state, subscription, {
    reason: 'subscription_update',
    drafts: [periodLine(state, item)],
    period: { start, end: now },
  });
  subscription.latest_invoice = billed.invoice.id;
  return billed;
}

/**
 * Resumes a paused subscription: it stays paused until its invoice is paid, and with `resume_on_payment_success` that is
 * tried at once. With the default, the first failed attempt resumes it past due (Stripe's changelog, 2026-05-27).
 */
export function resumeSubscription(state: State, id: string, params: Params): Subscription {
  const reader = new Reader(params, ['billing_cycle_anchor', 'payment_behavior', 'proration_behavior']);
  const subscription = state.edit('subscription', id);
  if (subscription.status !== 'paused') {
    throw invalid(`Only paused subscriptions can be resumed; this one is ${subscription.status}.`, {
      code: 'status_transition_invalid',
    });
  }
  const anchor = reader.object('billing_cycle_anchor', ['type'])?.choice('type', ['now', 'unchanged']) ?? 'now';
  if (anchor === 'unchanged') throw unknownToStandIn('resumption with an unchanged anchor', 'billing_cycle_anchor');
  const behaviour =
    reader.choice('payment_behavior', ['resume_on_payment_attempt', 'resume_on_payment_success']) ??
    'resume_on_payment_attempt';
  resumeNow(state, subscription, { onAttempt: behaviour === 'resume_on_payment_attempt' });
  return subscription;
}

/** @param how.onAttempt whether the first attempt to pay resumes it; else it is tried at once, and again as a renewal is */
export function resumeNow(state: State, subscription: Subscription, { onAttempt }: { onAttempt: boolean }) {
  const pending = findPendingChange(state, subscription.id);
  if (pending) voidInvoice(state, pending.invoice);
  const before = structuredClone(subscription);
  const billed = billResumption(state, subscription);
  const { invoice } = billed;
  if (state.isRehearsal()) return;
  if (invoice.amount_due === 0) {
    recordBilling(state, subscription, billed);
    delete subscription.status_details;
    collect(state, invoice.id, { offSession: false });
    state.announce('customer.subscription.resumed', subscription);
  } else {
    postponeChange(state, before, { ...billed, kind: 'resume', onAttempt });
    if (!onAttempt && defaultMethod(state, subscription) !== undefined) {
      collect(state, invoice.id, { offSession: true }); // If paid, it applies the pending change.
    }
  }
  state.announce('customer.subscription.updated', subscription, 'updated');
}

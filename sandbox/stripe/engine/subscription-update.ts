import { type Collected, collect, defaultMethod, noPaymentMethod, paymentError, voidInvoice } from './collect.ts';
import { changeDiscounts, discountFields } from './discounts.ts';
import { type DraftLine, makeLine } from './invoice-lines.ts';
import { type Billed, bill } from './invoices.ts';
import type { Subscription } from './objects.ts';
import { type Params, Reader } from './params.ts';
import { findPendingChange, putOff, recordDebits } from './pending-change.ts';
import { addPeriods, sameInterval } from './periods.ts';
import { creditLine, periodLine, remainderLine, trialLine } from './proration.ts';
import type { State } from './state.ts';
import { paymentBehaviours, setCancelAtPeriodEnd, settle, trialEndAfterNow } from './subscription-create.ts';
import {
  calculateCost,
  getItem,
  type ItemChange,
  readItem,
  setItem,
  setPeriod,
  writeSettings,
} from './subscription-shape.ts';
import { invalid, unknownToStandIn } from './types.ts';

/** The fields that may wait for a payment (https://docs.stripe.com/billing/subscriptions/pending-updates-reference). */
const pendable = [
  'items',
  'trial_end',
  'proration_behavior',
  'proration_date',
  'billing_cycle_anchor',
  'payment_behavior',
  'off_session',
];
const known = [
  ...pendable,
  'trial_settings',
  'payment_settings',
  'default_payment_method',
  'metadata',
  'description',
  'discounts',
  'cancel_at_period_end',
  'cancellation_details',
];
const alwaysAllowed = ['metadata', 'cancellation_details', 'description'];

/** The part of a call about prices and times: for an update, and for its preview. */
export interface Change {
  item?: ItemChange;
  trialEnd?: 'now' | number;
  prorate: 'none' | 'create_prorations' | 'always_invoice';
  /** Start of prorations, in seconds. */
  at: number;
  anchorNow: boolean;
}

/** Names of Change's parameters, the same in an update and in `subscription_details` of a preview. */
export const changeFields = ['items', 'trial_end', 'proration_behavior', 'proration_date', 'billing_cycle_anchor'];

export function readChange(state: State, subscription: Subscription, reader: Reader): Change {
  const item = getItem(subscription);
  const trialEnd = reader.text('trial_end');
  const at = reader.int('proration_date') ?? state.now();
  if (reader.has('proration_date') && (at < item.current_period_start || at > item.current_period_end)) {
    throw invalid('Cannot specify `proration_date` outside of the current period.', { param: 'proration_date' });
  }
  return {
    item: readItem(state, reader, item),
    ...(trialEnd !== undefined && {
      trialEnd: trialEnd === 'now' ? 'now' : trialEndAfterNow(state, reader.int('trial_end') ?? 0),
    }),
    prorate: reader.one('proration_behavior', ['none', 'create_prorations', 'always_invoice']) ?? 'create_prorations',
    at,
    anchorNow: reader.object('billing_cycle_anchor', ['type'])?.one('type', ['now', 'unchanged']) === 'now',
  };
}

interface Effect {
  /** Lines to be billed at once. */
  lines: DraftLine[];
  /** Whether there is an invoice at once, if only of 0. */
  invoices: boolean;
  /** Lines that wait for the next invoice. */
  wait: DraftLine[];
  /** The basis of credits after this, if it changes without an invoice. */
  debit?: DraftLine;
}

/** Applies a change to the subscription and returns its cost. */
function effect(state: State, subscription: Subscription, change: Change): Effect {
  const item = getItem(subscription);
  const before = structuredClone(item);
  const now = state.now();
  const trialing = subscription.status === 'trialing';
  const target = change.item ?? { price: before.price, quantity: before.quantity };
  const recurring = target.price.recurring ?? { interval: 'month', interval_count: 1 };
  const credits = () => (trialing || change.prorate === 'none' ? [] : creditLine(state, before, change.at));
  if (subscription.status === 'paused') {
    if (change.trialEnd !== undefined || change.anchorNow) {
      throw unknownToStandIn('how the times of a paused subscription change: resume it');
    }
    setItem(item, target);
    return { lines: [], invoices: false, wait: [] };
  }
  if (typeof change.trialEnd === 'number') {
    const lines = credits();
    setItem(item, target);
    if (!trialing) subscription.trial_start = now;
    subscription.status = 'trialing';
    subscription.trial_end = change.trialEnd;
    subscription.billing_cycle_anchor = change.trialEnd;
    setPeriod(item, trialing ? before.current_period_start : now, change.trialEnd);
    // A trial that begins has its own invoice, of 0; one that only moves has none.
    return trialing
      ? { lines: [], invoices: false, wait: [] }
      : { lines: [...lines, trialLine(state, item)], invoices: true, wait: [] };
  }
  const endsTrial = trialing && change.trialEnd === 'now';
  const otherInterval = !sameInterval(recurring, before.price.recurring ?? recurring);
  const startsToCost = calculateCost(before) === 0 && calculateCost(target) > 0;
  if (endsTrial || change.anchorNow || (!trialing && (otherInterval || startsToCost))) {
    const lines = credits();
    setItem(item, target);
    if (trialing) subscription.trial_end = now;
    subscription.status = 'active';
    subscription.billing_cycle_anchor = now;
    setPeriod(item, now, addPeriods(now, recurring, 1));
    return { lines: [...lines, periodLine(state, item)], invoices: true, wait: [] };
  }
  const same = target.price.id === before.price.id && target.quantity === before.quantity;
  const lines = same ? [] : credits();
  setItem(item, target);
  if (trialing || same || change.prorate === 'none') return { lines: [], invoices: false, wait: [] };
  const remainder = remainderLine(state, subscription, item, change.at);
  const all = [...lines, remainder];
  return change.prorate === 'always_invoice'
    ? { lines: all, invoices: true, wait: [] }
    : { lines: [], invoices: false, wait: all, debit: remainder };
}

function keepWaiting(state: State, subscription: Subscription, { wait, debit }: Effect) {
  const lines = wait.map((draft) => ({ draft, line: makeLine(subscription, draft) }));
  for (const { line } of lines) {
    state.put({
      id: `hidden_item_${line.id}`,
      object: 'hidden.item',
      subscription: subscription.id,
      line,
      invoiced: false,
    });
  }
  if (!debit) return;
  recordDebits(state, subscription, [
    {
      id: `hidden_debit_${debit.item.id}`,
      object: 'hidden.debit',
      cents: debit.cents,
      ...debit.period,
      invoice: null,
      line: lines.find(({ draft }) => draft === debit)?.line.id ?? '',
    },
  ]);
}

/** Applies a change and bills it, if it must be billed at once. Nothing is charged yet. */
export function billChange(state: State, subscription: Subscription, change: Change): Billed | undefined {
  const now = state.now();
  const start = getItem(subscription).current_period_start;
  const result = effect(state, subscription, change);
  if (subscription.cancel_at_period_end) subscription.cancel_at = getItem(subscription).current_period_end;
  if (!result.invoices) {
    keepWaiting(state, subscription, result);
    return undefined;
  }
  const billed = bill(state, subscription, 'subscription_update', result.lines, { start, end: now });
  subscription.latest_invoice = billed.invoice.id;
  return billed;
}

function checkChangeable(subscription: Subscription, params: Params) {
  const names = Object.keys(params).filter((name) => params[name] !== undefined && name !== 'expand');
  const { status } = subscription;
  if (
    (status === 'canceled' || status === 'incomplete_expired') &&
    names.some((name) => !alwaysAllowed.includes(name))
  ) {
    throw invalid('A canceled subscription can only update its cancellation_details and metadata.', {
      code: 'invalid_canceled_subscription_fields',
    });
  }
  const allowed = [...alwaysAllowed, 'default_payment_method'];
  if (status === 'incomplete' && names.some((name) => !allowed.includes(name))) {
    throw invalid('This subscription is incomplete: only its metadata and default payment method can be updated.');
  }
  if (params.payment_behavior === 'pending_if_incomplete') {
    const wrong = names.filter((name) => !pendable.includes(name));
    if (wrong.length > 0) {
      throw invalid(
        `You can only pass in the following parameters when \`payment_behavior=pending_if_incomplete\`: ${pendable.join(', ')}.` +
          ` You passed: ${wrong.join(', ')}.`,
        { param: wrong[0] },
      );
    }
  }
}

export function updateSubscription(state: State, id: string, params: Params): Subscription {
  const reader = new Reader(params, known);
  const subscription = state.edit('subscription', id);
  checkChangeable(subscription, params);
  const behaviour = reader.one('payment_behavior', paymentBehaviours) ?? 'allow_incomplete';
  const before = structuredClone(subscription);
  writeSettings(state, subscription, reader);
  const discounts = reader.objects('discounts', discountFields);
  const cancels = reader.bool('cancel_at_period_end');
  const changes = changeFields.some((name) => reader.has(name));
  const change = changes ? readChange(state, subscription, reader) : undefined;
  if (discounts) changeDiscounts(state, subscription, discounts, calculateCost(change?.item ?? getItem(subscription)));
  if (change) {
    const waits = findPendingChange(state, id);
    if (waits?.kind === 'update') giveUp(state, subscription, before, waits.invoice);
    const billed = billChange(state, subscription, change);
    if (billed) collectChange(state, subscription, before, billed, behaviour);
  }
  if (cancels !== undefined) setCancelAtPeriodEnd(state, subscription, cancels);
  const details = reader.object('cancellation_details', ['comment', 'feedback']);
  if (details && subscription.cancellation_details) {
    if (details.has('comment')) subscription.cancellation_details.comment = details.text('comment') ?? null;
    if (details.has('feedback')) {
      subscription.cancellation_details.feedback = (details.text('feedback') as 'other' | undefined) ?? null;
    }
  }
  state.announce('customer.subscription.updated', subscription, 'updated');
  return subscription;
}

/** A new change replaces a pending one: its invoice is voided. */
function giveUp(state: State, subscription: Subscription, before: Subscription, invoice: string) {
  voidInvoice(state, invoice);
  before.pending_update = null;
  before.latest_invoice = subscription.latest_invoice;
}

function collectChange(
  state: State,
  subscription: Subscription,
  before: Subscription,
  billed: Billed,
  behaviour: string,
) {
  const { invoice } = billed;
  const due = invoice.amount_due > 0;
  if (state.isRehearsal()) return;
  if (due && behaviour !== 'default_incomplete' && defaultMethod(state, subscription) === undefined)
    throw noPaymentMethod();
  const result: Collected =
    due && behaviour === 'default_incomplete'
      ? { outcome: 'no_payment_method' }
      : collect(state, invoice.id, { offSession: false });
  if (result.outcome === 'paid') {
    settle(state, subscription, billed);
    if (subscription.status === 'past_due') subscription.status = 'active';
    return;
  }
  if (behaviour === 'error_if_incomplete') throw paymentError(state, invoice, result, false);
  if (behaviour === 'pending_if_incomplete') {
    putOff(state, before, { ...billed, kind: 'update' });
    return;
  }
  settle(state, subscription, billed);
  if (subscription.status !== 'trialing') subscription.status = 'past_due';
}

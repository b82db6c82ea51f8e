import {
  type CollectionResult,
  collect,
  defaultMethod,
  noPaymentMethod,
  paymentError,
  voidInvoice,
} from './collect.ts';
import { changeDiscounts, discountFields, recordDiscountChange } from './discounts.ts';
import { makeLine } from './invoice-lines.ts';
import { type BillingResult, bill } from './invoices.ts';
import type { Subscription } from './objects.ts';
import { type Params, Reader } from './params.ts';
import { findPendingChange, postponeChange, recordDebits } from './pending-change.ts';
import { creditLine } from './proration.ts';
import { checkScheduled } from './schedule-phases.ts';
import type { State } from './state.ts';
import { type Change, changeItem, type Effect, readChange } from './subscription-change.ts';
import {
  type PaymentBehaviour,
  paymentBehaviours,
  recordBilling,
  setCancelAtPeriodEnd,
} from './subscription-create.ts';
import { getItem, writeSettings } from './subscription-shape.ts';
import { invalid, unknownToStandIn } from './types.ts';

/** The fields whose change may wait for a payment (https://docs.stripe.com/billing/subscriptions/pending-updates-reference). */
const pendable = [
  'items',
  'trial_end',
  'proration_behavior',
  'proration_date',
  'billing_cycle_anchor',
  'payment_behavior',
  'off_session',
  'discounts',
  'metadata',
  'cancel_at_period_end',
];
const known = [
  ...pendable,
  'trial_settings',
  'payment_settings',
  'default_payment_method',
  'description',
  'cancel_at',
  'cancellation_details',
  'automatic_tax',
  'default_tax_rates',
];
const alwaysAllowed = ['metadata', 'cancellation_details', 'description'];

function keepPending(state: State, subscription: Subscription, { pending, debit }: Effect) {
  const lines = pending.map((draft) => ({ draft, line: makeLine(subscription, draft) }));
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
      cents: debit.cents - (debit.cuts ?? []).reduce((sum, { amount }) => sum + amount, 0),
      cuts: debit.cuts?.filter(({ amount }) => amount > 0) ?? [],
      ...debit.period,
      invoice: null,
      line: lines.find(({ draft }) => draft === debit)?.line.id ?? '',
    },
  ]);
}

/** Applies a change and bills it, if it must be billed at once. Nothing is charged yet. */
export function billChange(state: State, subscription: Subscription, change: Change): BillingResult | undefined {
  const now = state.now();
  const start = getItem(subscription).current_period_start;
  const effect = changeItem(state, subscription, change);
  if (subscription.cancel_at_period_end) subscription.cancel_at = getItem(subscription).current_period_end;
  if (!effect.invoices) {
    keepPending(state, subscription, effect);
    return undefined;
  }
  const billed = bill(state, subscription, {
    reason: 'subscription_update',
    drafts: effect.lines,
    period: { start, end: now },
  });
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
  checkScheduled(subscription, params);
  const behaviour = reader.choice('payment_behavior', paymentBehaviours) ?? 'allow_incomplete';
  const before = structuredClone(subscription);
  writeSettings(state, subscription, reader);
  const discounts = reader.objects('discounts', discountFields);
  const cancels = reader.bool('cancel_at_period_end');
  const change = readChange(state, subscription, reader);
  if (discounts) changeDiscounts(state, subscription, { discounts, item: change?.item ?? getItem(subscription) });
  if (reader.has('cancel_at')) setCancelAt(state, subscription, reader);
  if (cancels !== undefined) setCancelAtPeriodEnd(state, subscription, cancels);
  const versions = { before, subscription, names: Object.keys(params) };
  if (change) dropPendingUpdate(state, versions);
  const billed = change && billChange(state, subscription, change);
  if (billed) collectChange(state, versions, { billed, behaviour });
  else recordDiscountChange(state, before.discounts, subscription.discounts);
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

/**
 * An end at any time of the running period. With `create_prorations`, the default, the time after it is credited; taking
 * the end back would charge it again.
 */
function setCancelAt(state: State, subscription: Subscription, reader: Reader) {
  if (reader.has('cancel_at_period_end')) {
    throw invalid('You may only specify one of these parameters: cancel_at, cancel_at_period_end.', {
      code: 'parameters_exclusive',
    });
  }
  const endsAt = reader.isCleared('cancel_at') ? null : (reader.int('cancel_at') ?? null);
  if (endsAt === subscription.cancel_at && !subscription.cancel_at_period_end) return;
  const prorates = reader.text('proration_behavior') !== 'none';
  const item = getItem(subscription);
  if (endsAt !== null && endsAt <= state.now()) {
    throw invalid('`cancel_at` must be a timestamp in the future.', { param: 'cancel_at' });
  }
  if (endsAt !== null && endsAt > item.current_period_end) {
    throw unknownToStandIn('ends in a later period', 'cancel_at');
  }
  if (prorates && hasCreditedEnd(state, subscription)) {
    throw unknownToStandIn('another end after a proration', 'cancel_at');
  }
  writeCancelAt(state, subscription, endsAt);
  if (prorates && endsAt !== null && subscription.status !== 'trialing') {
    keepPending(state, subscription, {
      lines: [],
      invoices: false,
      pending: creditLine(state, item, endsAt),
    });
  }
}

const hasCreditedEnd = (state: State, { id, cancel_at }: Subscription): boolean =>
  cancel_at !== null &&
  state
    .all('hidden.item')
    .some(({ subscription, invoiced, line }) => subscription === id && !invoiced && line.period.start === cancel_at);

function writeCancelAt(state: State, subscription: Subscription, endsAt: number | null) {
  setCancelAtPeriodEnd(state, subscription, false);
  if (endsAt === null) return;
  subscription.cancel_at = endsAt;
  subscription.canceled_at = state.now();
  if (subscription.cancellation_details) subscription.cancellation_details.reason = 'cancellation_requested';
}

/** Pending updates need a payment method whose bank answers at once (docs.stripe.com/billing/subscriptions/pending-updates). */
const noPendingDebit = () =>
  invalid('`payment_behavior=pending_if_incomplete` is not supported for this payment method.', {
    param: 'payment_behavior',
  });

interface Versions {
  /** The subscription before the call. */
  before: Subscription;
  subscription: Subscription;
  /** The fields of the call. */
  names: readonly string[];
}

/** A new change replaces a pending one, whose invoice is voided. */
function dropPendingUpdate(state: State, { before, subscription }: Versions) {
  const pending = findPendingChange(state, subscription.id);
  if (pending?.kind !== 'update') return;
  voidInvoice(state, pending.invoice);
  before.pending_update = null;
  before.latest_invoice = subscription.latest_invoice;
}

function collectChange(
  state: State,
  { before, subscription, names }: Versions,
  { billed, behaviour }: { billed: BillingResult; behaviour: PaymentBehaviour },
) {
  const recordChange = () => {
    recordDiscountChange(state, before.discounts, subscription.discounts);
    recordBilling(state, subscription, billed);
  };
  const { invoice } = billed;
  const due = invoice.amount_due > 0;
  if (state.isRehearsal()) return;
  if (due && behaviour !== 'default_incomplete' && defaultMethod(state, subscription) === undefined)
    throw noPaymentMethod();
  const result: CollectionResult =
    due && behaviour === 'default_incomplete'
      ? { outcome: 'no_payment_method' }
      : collect(state, invoice.id, { offSession: false });
  if (result.outcome === 'paid') {
    recordChange();
    if (subscription.status === 'past_due') subscription.status = 'active';
    return;
  }
  if (result.outcome === 'processing') {
    if (behaviour === 'pending_if_incomplete') throw noPendingDebit();
    recordChange();
    return;
  }
  if (behaviour === 'error_if_incomplete') throw paymentError(state, invoice, { result });
  if (behaviour === 'pending_if_incomplete') {
    postponeChange(state, before, { ...billed, kind: 'update', names });
    return;
  }
  recordChange();
  if (subscription.status !== 'trialing') subscription.status = 'past_due';
}

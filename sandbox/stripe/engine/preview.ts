import { voidInvoice } from './collect.ts';
import { changeDiscounts, discountFields, setBare } from './discounts.ts';
import { type BillingResult, bill } from './invoices.ts';
import { newId } from './new-id.ts';
import type { Invoice, Subscription } from './objects.ts';
import { type Params, Reader } from './params.ts';
import { findPendingChange } from './pending-change.ts';
import { addPeriods } from './periods.ts';
import { creditLine, periodLine } from './proration.ts';
import { billNextPeriod } from './renewal.ts';
import { updateSchedule } from './schedules.ts';
import type { State } from './state.ts';
import { type Change, changeFields, readChange } from './subscription-change.ts';
import { createSubscription } from './subscription-create.ts';
import { billResumption } from './subscription-lifecycle.ts';
import { endsWithPeriod, getItem, readItem, setItem, setPeriod } from './subscription-shape.ts';
import { billChange } from './subscription-update.ts';
import { writeAutomaticTax } from './tax.ts';
import { invalid, missing, StandInError, unknownToStandIn } from './types.ts';

const known = [
  ...['customer', 'subscription', 'schedule', 'subscription_details', 'discounts', 'preview_mode', 'currency'],
  ...['automatic_tax', 'schedule_details'],
];
const detailFields = [...changeFields, 'cancel_at_period_end', 'cancel_now', 'resume_at', 'billing_mode'];

const isRecurring = (reader: Reader) => reader.choice('preview_mode', ['next', 'recurring']) === 'recurring';

const nothingToBill = () =>
  new StandInError('No upcoming invoices for customer', { status: 404, code: 'invoice_upcoming_none' });

/**
 * A preview of a call: the call is executed, its invoice kept, everything else undone, so that preview and call always
 * agree.
 */
export function createPreview(state: State, params: Params): Invoice {
  const reader = new Reader(params, known);
  const invoice = state.rehearse(() => {
    const id = reader.text('subscription') ?? managedBy(state, reader);
    const act = reader.has('schedule_details') && rehearseSchedule(state, params);
    if (act) return act;
    return id === undefined ? rehearseCreation(state, params, reader) : rehearseOn(state, id, reader);
  });
  return asPreview(invoice);
}

/** The subscription of the schedule whose next invoice is asked for. */
function managedBy(state: State, reader: Reader): string | undefined {
  const id = reader.text('schedule');
  if (id === undefined) return undefined;
  if (reader.has('subscription_details')) {
    throw invalid('You may only specify one of these parameters: schedule, subscription_details.', {
      code: 'parameters_exclusive',
    });
  }
  const { subscription } = state.get('subscription_schedule', id, 'schedule');
  if (subscription === null) throw nothingToBill();
  return subscription;
}

/** The invoice of an update of a schedule, which the stand-in knows for a resumption alone. */
function rehearseSchedule(state: State, { schedule, schedule_details: details }: Params): Invoice {
  const { subscription: id } = updateSchedule(state, String(schedule), details as Params);
  const { status, latest_invoice } = state.get('subscription', id ?? '');
  if (status !== 'active') throw unknownToStandIn('previews of a change of this schedule', 'schedule_details');
  return state.get('invoice', latest_invoice ?? '');
}

/** The first invoice of a future subscription; or, without items, the customer's next one. */
function rehearseCreation(state: State, params: Params, reader: Reader): Invoice {
  const customer = reader.text('customer');
  if (customer === undefined) throw unknownToStandIn('previews without a customer', 'customer');
  state.get('customer', customer, 'customer');
  const details = reader.object('subscription_details', detailFields);
  if (!details?.has('items')) {
    const next = state
      .all('subscription')
      .filter((each) => each.customer === customer && (each.status === 'active' || each.status === 'trialing'))
      .sort((a, b) => getItem(a).current_period_end - getItem(b).current_period_end)[0];
    if (!next) throw nothingToBill();
    return rehearseOn(state, next.id, reader);
  }
  if (details.has('proration_date') || details.has('resume_at')) {
    throw unknownToStandIn('prorations of a subscription that is not there yet', 'subscription_details');
  }
  readItem(state, details);
  const { items, trial_end, billing_mode } = params.subscription_details as Params;
  if (reader.isCleared('discounts')) setBare(state, customer);
  const recurring = isRecurring(reader);
  const created = createSubscription(state, {
    customer,
    items,
    payment_behavior: 'default_incomplete',
    ...(trial_end !== undefined && !recurring && { trial_end }),
    ...(billing_mode !== undefined && { billing_mode }),
    ...(params.discounts !== undefined && { discounts: params.discounts }),
    ...(params.automatic_tax !== undefined && { automatic_tax: params.automatic_tax }),
  });
  return state.get('invoice', created.latest_invoice ?? '');
}

function rehearseOn(state: State, id: string, reader: Reader): Invoice {
  const subscription = state.edit('subscription', id);
  const customer = reader.text('customer');
  if (customer !== undefined && customer !== subscription.customer) throw missing('subscription', id, 'subscription');
  if (subscription.status === 'canceled' || subscription.status === 'incomplete_expired') throw nothingToBill();
  writeAutomaticTax(state, subscription, reader);
  const details = reader.object('subscription_details', detailFields);
  const change = details && readChange(state, subscription, details);
  const discounts = reader.objects('discounts', discountFields);
  if (discounts) {
    changeDiscounts(state, subscription, { discounts, item: change?.item ?? getItem(subscription) });
  }
  if (reader.isCleared('discounts')) setBare(state, subscription.customer);
  if (isRecurring(reader)) return rehearseRecurring(state, subscription, change);
  const act = details && rehearseAct(state, subscription, { details, change });
  if (act) return act;
  const billed = change && rehearseChange(state, subscription, change);
  return billed ? billed.invoice : rehearseNext(state, subscription, details);
}

/** The next renewal, if there is one. */
function rehearseNext(state: State, subscription: Subscription, details: Reader | undefined): Invoice {
  const cancels = details?.bool('cancel_at_period_end') ?? endsWithPeriod(subscription);
  if (cancels || subscription.status === 'paused') throw nothingToBill();
  return rehearseRenewal(state, subscription);
}

/** An end or a resumption. */
function rehearseAct(
  state: State,
  subscription: Subscription,
  { details, change }: { details: Reader; change: Change | undefined },
): Invoice | undefined {
  if (details.has('resume_at')) return rehearseResumption(state, subscription);
  if (!details.bool('cancel_now')) return undefined;
  if (change?.prorate === 'none') throw nothingToBill();
  return rehearseEnd(state, subscription, change?.at ?? state.now());
}

/** The unused time of a subscription that ends. */
function rehearseEnd(state: State, subscription: Subscription, at: number): Invoice {
  const item = getItem(subscription);
  const drafts = creditLine(state, item, at);
  if (drafts.length === 0) throw nothingToBill();
  const period = { start: item.current_period_start, end: at };
  return bill(state, subscription, { reason: 'subscription_update', drafts, period }).invoice;
}

function rehearseResumption(state: State, subscription: Subscription): Invoice {
  if (subscription.status !== 'paused') throw invalid('Only paused subscriptions can be resumed.');
  const pending = findPendingChange(state, subscription.id);
  if (pending) voidInvoice(state, pending.invoice);
  return billResumption(state, subscription).invoice;
}

function rehearseChange(state: State, subscription: Subscription, change: Change): BillingResult | undefined {
  const pending = findPendingChange(state, subscription.id);
  if (pending?.kind === 'update') voidInvoice(state, pending.invoice); // as the call does
  return billChange(state, subscription, change);
}

/**
 * The amount of each period: without prorations, trials and what waits for the next invoice. It says nothing about the
 * time of an end.
 */
function rehearseRecurring(state: State, subscription: Subscription, change: Change | undefined): Invoice {
  const item = getItem(subscription);
  if (change?.item) setItem(item, change.item);
  for (const { id } of state.all('hidden.item').filter((each) => each.subscription === subscription.id)) {
    state.edit('hidden.item', id).invoiced = true;
  }
  const now = state.now();
  setPeriod(item, now, addPeriods(now, item.price.recurring ?? { interval: 'month', interval_count: 1 }, 1));
  const drafts = [periodLine(state, item)];
  return bill(state, subscription, { reason: 'subscription_cycle', drafts, period: { start: now, end: now } }).invoice;
}

function rehearseRenewal(state: State, subscription: Subscription): Invoice {
  const { current_period_end } = getItem(subscription);
  return state.at(current_period_end * 1_000, () => billNextPeriod(state, subscription).invoice);
}

function asPreview(invoice: Invoice): Invoice {
  const id = newId('upcoming_in');
  const { hosted_invoice_url: _, invoice_pdf: __, ...rest } = invoice;
  return {
    ...rest,
    id,
    amount_paid: 0,
    amount_remaining: invoice.amount_due,
    attempted: false,
    auto_advance: false,
    billing_reason: 'upcoming',
    confirmation_secret: null,
    effective_at: null,
    ending_balance: null,
    lines: {
      ...invoice.lines,
      data: invoice.lines.data.map((line) => ({ ...line, id: newId('il_tmp'), invoice: id })),
      url: `/v1/invoices/upcoming/lines?subscription=${invoice.parent.subscription_details.subscription}`,
    },
    number: null,
    payments: { ...invoice.payments, data: [] },
    status: 'draft',
    status_transitions: { finalized_at: null, marked_uncollectible_at: null, paid_at: null, voided_at: null },
    webhooks_delivered_at: null,
  };
}

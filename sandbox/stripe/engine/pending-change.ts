import { recordDiscountChange, removeSpentDiscounts } from './discounts.ts';
import type { HiddenChange, HiddenDebit } from './kinds.ts';
import type { Invoice, Subscription } from './objects.ts';
import type { State } from './state.ts';

const hoursToPay = 23;
/** Of a resumption that Stripe tries itself. */
const daysToResume = 365;
export const findPendingChange = (state: State, subscription: string) =>
  state.find('hidden.change', `hidden_change_${subscription}`);

/** Fields of a subscription that a change sets; the others stay as they are when the change is paid. */
const fields = [
  'billing_cycle_anchor',
  'cancel_at',
  'items',
  'status',
  'status_details',
  'trial_end',
  'trial_start',
] as const;

/** The same of fields that a change sets only if the call names them: they may be changed while it waits. */
const namedFields = {
  cancel_at_period_end: ['cancel_at_period_end', 'canceled_at', 'cancellation_details'],
  discounts: ['discounts'],
  metadata: ['metadata'],
} as const;

const listFields = (names: readonly string[]) => [
  ...fields,
  ...Object.entries(namedFields).flatMap(([name, named]) => (names.includes(name) ? named : [])),
];

/** Stores the basis of credits; unpaid time removes the earlier one. */
export function recordDebits(state: State, subscription: Subscription, debits: readonly HiddenDebit[]) {
  for (const { id } of subscription.items.data) {
    const key = `hidden_debit_${id}`;
    if (state.find('hidden.debit', key)) state.drop(key);
  }
  for (const debit of debits) state.put({ ...debit });
}

/** The visible part of a change that waits. */
const showPending = (
  before: Subscription,
  target: Partial<Subscription>,
  expiresAt: number,
): NonNullable<Subscription['pending_update']> => ({
  billing_cycle_anchor:
    target.billing_cycle_anchor === before.billing_cycle_anchor ? null : (target.billing_cycle_anchor ?? null),
  cancel_at_period_end: target.cancel_at_period_end ?? null,
  discount: null,
  discounts: target.discounts ?? null,
  expires_at: expiresAt,
  metadata: target.metadata ?? null,
  subscription_items: target.items?.data ?? null,
  trial_end: target.trial_end === before.trial_end ? null : (target.trial_end ?? null),
  trial_from_plan: null,
});

/**
 * Postpones a change until its invoice is paid: restores the subscription, with the pending change.
 * @param before the subscription before the change
 */
export function postponeChange(
  state: State,
  before: Subscription,
  about: {
    invoice: Invoice;
    debits: HiddenDebit[];
    used: ReadonlySet<string>;
    swept: string[];
    kind: HiddenChange['kind'];
    /** The fields of the call. */
    names?: readonly string[];
    onAttempt?: boolean;
  },
): HiddenChange {
  const subscription = state.edit('subscription', before.id);
  const target: Partial<Subscription> = {};
  const changed = listFields(about.names ?? []);
  for (const field of changed) Object.assign(target, { [field]: structuredClone(subscription[field]) });
  const now = state.now();
  const ends = before.items.data.map((item) => item.current_period_end).filter((end) => end > now);
  const trialEnds = before.trial_end !== null && before.trial_end > now ? [before.trial_end] : [];
  const change: HiddenChange = {
    id: `hidden_change_${before.id}`,
    object: 'hidden.change',
    subscription: before.id,
    invoice: about.invoice.id,
    target: { ...target, status: 'active' },
    debits: about.debits,
    used: [...about.used],
    swept: about.swept,
    kind: about.kind,
    onAttempt: about.onAttempt ?? false,
    expiresAt:
      about.kind === 'resume' && !about.onAttempt
        ? now + daysToResume * 86_400
        : Math.min(now + hoursToPay * 3_600, ...ends, ...trialEnds),
  };
  state.put(change);
  for (const field of changed) Object.assign(subscription, { [field]: structuredClone(before[field]) });
  if (before.status_details === undefined) delete subscription.status_details;
  subscription.latest_invoice = about.invoice.id;
  if (about.kind === 'update') {
    subscription.pending_update = showPending(before, target, change.expiresAt);
  }
  return change;
}

/** Applies the change that waited for this invoice. @returns whether there was one */
export function applyChange(state: State, invoice: Invoice, status: 'active' | 'past_due' = 'active'): boolean {
  const change = findPendingChange(state, invoice.parent.subscription_details.subscription);
  if (change?.invoice !== invoice.id) return false;
  const subscription = state.edit('subscription', change.subscription);
  const before = subscription.discounts;
  Object.assign(subscription, structuredClone(change.target), { pending_update: null, status });
  recordDiscountChange(state, before, subscription.discounts);
  if (change.kind === 'resume') {
    delete subscription.status_details;
    recordResumption(state, subscription);
  }
  recordDebits(state, subscription, change.debits);
  removeSpentDiscounts(state, subscription, new Set(change.used));
  state.drop(change.id);
  state.announce(
    change.kind === 'resume' ? 'customer.subscription.resumed' : 'customer.subscription.pending_update_applied',
    subscription,
  );
  state.announce('customer.subscription.updated', subscription, 'updated');
  return true;
}

/** The resumption of a schedule, after its payment. */
function recordResumption(state: State, { schedule: id }: Subscription) {
  const [entry] = id === null ? [] : state.edit('subscription_schedule', id).pause_schedules;
  if (entry?.resume) entry.resume.status = { type: 'succeeded' };
}

/** Drops the change that waited for this invoice. */
export function dropChange(state: State, invoice: Invoice, event: string) {
  const change = findPendingChange(state, invoice.parent.subscription_details.subscription);
  if (change?.invoice !== invoice.id) return;
  const subscription = state.edit('subscription', change.subscription);
  for (const id of change.swept) state.edit('hidden.item', id).invoiced = false;
  subscription.pending_update = null;
  state.drop(change.id);
  if (change.kind === 'resume') return;
  if (event !== 'customer.subscription.updated') state.announce(event, subscription);
  state.announce('customer.subscription.updated', subscription, 'updated');
}

import { changeDiscounts, discountFields, recordDiscountChange, setBare } from './discounts.ts';
import type { SchedulePhase, Subscription, SubscriptionSchedule } from './objects.ts';
import { type Params, Reader } from './params.ts';
import { sameInterval } from './periods.ts';
import type { State } from './state.ts';
import { getItem, setItem } from './subscription-shape.ts';
import { invalid, unknownToStandIn } from './types.ts';

/** The parameters that end a subscription, or undo that. */
const endings = ['cancel_at_period_end', 'cancel_at'];
/** A schedule leaves these alone. */
const unmanaged = ['metadata', 'description', 'default_payment_method', 'payment_settings', 'cancellation_details'];

/** @throws StandInError with Stripe's message */
export function checkUnmanaged({ schedule }: Subscription) {
  if (schedule === null) return;
  throw invalid(
    `The subscription is managed by the subscription schedule \`${schedule}\`, and updating any cancelation behavior` +
      ' directly is not allowed. Please update the schedule instead.',
  );
}

/** The changes that a subscription with a schedule still takes. */
export function checkScheduled(subscription: Subscription, params: Params) {
  if (subscription.schedule === null) return;
  const names = Object.keys(params).filter((name) => params[name] !== undefined && name !== 'expand');
  if (names.some((name) => endings.includes(name))) checkUnmanaged(subscription);
  const other = names.find((name) => !unmanaged.includes(name));
  if (other !== undefined) throw unknownToStandIn('how a schedule follows a change of its subscription', other);
}

/** The phase that runs, and the ones after it. */
export function phasesFromNow({ phases, current_phase }: SubscriptionSchedule): SchedulePhase[] {
  return phases.filter(({ start_date }) => start_date >= (current_phase?.start_date ?? 0));
}

/** The discounts of a phase: those that are on the subscription and still run go on, others end. */
export function setPhaseDiscounts(state: State, subscription: Subscription, phase: SchedulePhase) {
  const before = subscription.discounts;
  const remaining = phase.discounts
    .filter(({ discount }) => subscription.discounts.includes(discount))
    .map(({ discount }) => new Reader({ discount }, discountFields, 'discounts'));
  changeDiscounts(state, subscription, { discounts: remaining, item: getItem(subscription) });
  recordDiscountChange(state, before, subscription.discounts);
}

/** Phases without a discount have the customer's, unless the call has an empty text for them. */
export function recordBare(state: State, { id, phases }: SubscriptionSchedule, readers: readonly Reader[]) {
  const bare = phases.filter((_, index) => readers[index]?.isCleared('discounts'));
  const starts = bare.map(({ start_date }) => start_date);
  setBare(state, id, starts);
}

function detach(state: State, schedule: SubscriptionSchedule, status: 'released' | 'completed' | 'canceled') {
  const { subscription: id } = schedule;
  schedule.status = status;
  schedule.current_phase = null;
  if (status === 'released') Object.assign(schedule, { released_at: state.now(), released_subscription: id });
  else if (status === 'completed') schedule.completed_at = state.now();
  else schedule.canceled_at = state.now();
  schedule.subscription = null;
  if (id !== null) state.edit('subscription', id).schedule = null;
  state.announce(`subscription_schedule.${status}`, schedule);
}

/** The subscription goes on as it is. */
export const release = (state: State, schedule: SubscriptionSchedule) => detach(state, schedule, 'released');

/** With its subscription, which has just ended: at the end of the last phase, or earlier. */
export function endSchedule(state: State, { schedule: id }: Subscription) {
  if (id === null) return;
  const schedule = state.edit('subscription_schedule', id);
  const due = (schedule.current_phase?.end_date ?? 0) <= state.now();
  detach(state, schedule, due ? 'completed' : 'canceled');
}

function enterPhase(state: State, subscription: Subscription, phase: SchedulePhase) {
  const item = getItem(subscription);
  const [target] = phase.items;
  if (!target) throw unknownToStandIn('phases without an item');
  const before = item.price.recurring;
  setItem(item, { price: structuredClone(state.get('price', target.price)), quantity: target.quantity });
  const { recurring } = item.price;
  // As the anchor of a phase is `automatic`.
  if (before && recurring && !sameInterval(before, recurring)) subscription.billing_cycle_anchor = phase.start_date;
  setPhaseDiscounts(state, subscription, phase);
  const metadata = Object.entries({ ...subscription.metadata, ...phase.metadata });
  subscription.metadata = Object.fromEntries(metadata.filter(([, value]) => value !== ''));
}

/** At the end of a phase the next one begins, or the schedule lets go of its subscription. The caller bills. */
export function passPhase(state: State, subscription: Subscription, at: number) {
  if (subscription.schedule === null) return;
  const schedule = state.edit('subscription_schedule', subscription.schedule);
  if (schedule.current_phase === null || schedule.current_phase.end_date > at) return;
  const [, next] = phasesFromNow(schedule);
  if (!next) return release(state, schedule);
  if (getItem(subscription).current_period_end !== at) throw unknownToStandIn('phases that begin within a period');
  enterPhase(state, subscription, next);
  subscription.default_payment_method = next.default_payment_method ?? schedule.default_settings.default_payment_method;
  const tax = next.automatic_tax ?? schedule.default_settings.automatic_tax;
  if (tax) subscription.automatic_tax = structuredClone(tax);
  schedule.current_phase = { start_date: next.start_date, end_date: next.end_date };
  state.announce('subscription_schedule.updated', schedule, 'updated');
}

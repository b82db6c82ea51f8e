import type { SchedulePhase, Subscription, SubscriptionSchedule } from './objects.ts';
import { list, type Params, paging, Reader } from './params.ts';
import { readPauses, resumeIfDue } from './pause-schedules.ts';
import { findPendingChange } from './pending-change.ts';
import { addPeriods } from './periods.ts';
import { phasesFromNow, recordBare, release, setPhaseDiscounts } from './schedule-phases.ts';
import { inPhase, makePhase, makeSchedule } from './schedule-shape.ts';
import type { State } from './state.ts';
import { endNow } from './subscription-lifecycle.ts';
import { getItem, readMethod } from './subscription-shape.ts';
import { checkLocation } from './tax.ts';
import { invalid, missing, unknownToStandIn } from './types.ts';

const prorations = ['none', 'create_prorations', 'always_invoice'] as const;
const phaseFields = [
  ...['items', 'start_date', 'end_date', 'duration', 'discounts', 'metadata', 'proration_behavior'],
  'automatic_tax',
];

/** Together with `from_subscription` Stripe takes pauses, and no other parameter. */
export function createSchedule(state: State, params: Params): SubscriptionSchedule {
  const reader = new Reader(params, ['from_subscription', 'pause_schedules']);
  const subscription = state.edit('subscription', reader.need('from_subscription'));
  const { id, status, schedule: attached } = subscription;
  if (attached !== null) {
    throw invalid(`You cannot migrate a subscription that is already attached to a schedule: \`${attached}\`.`);
  }
  if (status === 'canceled' || status === 'incomplete_expired') {
    throw invalid(`A subscription that is ${status} cannot have a schedule.`);
  }
  if (status !== 'active' && status !== 'past_due') throw unknownToStandIn(`the schedule of a ${status} subscription`);
  if (findPendingChange(state, id)) throw unknownToStandIn('the schedule of a subscription with a pending update');
  const schedule = state.put(makeSchedule(state, subscription));
  schedule.pause_schedules = readPauses(state, { schedule, subscription }, reader);
  subscription.schedule = schedule.id;
  subscription.cancel_at_period_end = false;
  state.announce('subscription_schedule.created', schedule);
  state.announce('customer.subscription.updated', subscription, 'updated');
  return schedule;
}

export function listSchedules(state: State, params: Params) {
  const reader = new Reader(params, [...paging, 'customer', 'scheduled']);
  const customer = reader.text('customer');
  const scheduled = reader.bool('scheduled') ?? false;
  return list(
    state
      .all('subscription_schedule')
      .filter((each) => customer === undefined || each.customer === customer)
      .filter(({ status }) => !scheduled || status === 'not_started'),
    '/v1/subscription_schedules',
  );
}

/** A schedule that still manages a subscription, for a change. */
function editManaging(state: State, id: string) {
  const schedule = state.edit('subscription_schedule', id);
  if (schedule.subscription === null || schedule.current_phase === null) {
    throw invalid(
      `You cannot update, release or cancel a subscription schedule that is currently in the \`${schedule.status}\` status.` +
        ' It must be in the `not_started` or `active` status.',
    );
  }
  const subscription = state.edit('subscription', schedule.subscription);
  return { schedule, subscription };
}

function readEnd(reader: Reader, startsAt: number): number {
  const duration = reader.object('duration', ['interval', 'interval_count']);
  const end = reader.int('end_date');
  if (duration && end !== undefined) {
    throw invalid('You may only specify one of these parameters: duration, end_date.', {
      code: 'parameters_exclusive',
    });
  }
  if (end !== undefined) return end;
  if (!duration) throw unknownToStandIn('phases without an end', 'phases');
  const interval = duration.choice('interval', ['day', 'week', 'month', 'year']) ?? 'month';
  return addPeriods(startsAt, { interval, interval_count: duration.int('interval_count') ?? 1 }, 1);
}

function readPhase(
  state: State,
  subscription: Subscription,
  { reader, startsAt }: { reader: Reader; startsAt: number },
): SchedulePhase {
  const [item, ...more] = reader.objects('items', ['price', 'quantity']) ?? [];
  if (!item || more.length > 0) throw unknownToStandIn('phases with other than one item', 'phases');
  const price = state.get('price', item.need('price'), 'price');
  const current = getItem(subscription);
  if (!price.active && price.id !== current.price.id) {
    throw invalid('The price specified is inactive. This field only accepts active prices.', { param: 'phases' });
  }
  if (price.currency !== subscription.currency || !price.recurring) {
    throw invalid('The price does not fit the subscription.', { param: 'phases' });
  }
  const discounts = reader.objects('discounts', ['discount']) ?? [];
  const phase = makePhase({
    currency: subscription.currency,
    start_date: startsAt,
    end_date: readEnd(reader, startsAt),
    price: price.id,
    quantity: item.int('quantity') ?? 1,
  });
  return {
    ...phase,
    ...readPhaseTax(state, subscription, reader),
    discounts: discounts.map((discount) => inPhase(checkDiscount(subscription, discount.need('discount')))),
    metadata: reader.metadata(),
    proration_behavior: reader.choice('proration_behavior', prorations) ?? 'create_prorations',
  };
}

/** Without it, the default of the schedule applies. */
function readPhaseTax(state: State, { customer }: Subscription, reader: Reader): Pick<SchedulePhase, 'automatic_tax'> {
  const enabled = reader.object('automatic_tax', ['enabled'])?.bool('enabled');
  if (enabled === undefined) return {};
  if (enabled) checkLocation(state, customer);
  return { automatic_tax: { disabled_reason: null, enabled, liability: enabled ? { type: 'self' } : null } };
}

function checkDiscount({ discounts }: Subscription, id: string): string {
  if (!discounts.includes(id)) throw missing('discount', id, 'phases[0][discounts]');
  return id;
}

function readPhases(
  state: State,
  { schedule, subscription }: { schedule: SubscriptionSchedule; subscription: Subscription },
  readers: readonly Reader[],
): SchedulePhase[] {
  const [running] = phasesFromNow(schedule);
  const [first] = readers;
  if (!first || !running) throw invalid('A subscription schedule needs at least one phase.', { param: 'phases' });
  if (!first.has('start_date')) {
    throw invalid('The start date of the first phase must be set.', { param: 'phases[0][start_date]' });
  }
  if (first.int('start_date') !== running.start_date) {
    throw invalid('You can not modify the start date of the current phase.', { param: 'phases[0][start_date]' });
  }
  let startsAt = running.start_date;
  const phases = readers.map((reader) => {
    const phase = readPhase(state, subscription, { reader, startsAt });
    if (phase.end_date <= Math.max(startsAt, state.now())) {
      throw invalid('The end date of a phase must be in the future, and after its start.', { param: 'phases' });
    }
    startsAt = phase.end_date;
    return phase;
  });
  const [now] = phases;
  if (now?.items[0]?.price !== running.items[0]?.price || now?.items[0]?.quantity !== running.items[0]?.quantity) {
    throw unknownToStandIn('changes of the current phase', 'phases');
  }
  return phases;
}

/** The end that a schedule sets on its subscription. */
function setScheduledEnd(state: State, subscription: Subscription, endsAt: number | null) {
  subscription.cancel_at_period_end = false;
  if (subscription.cancel_at === endsAt) return;
  subscription.cancel_at = endsAt;
  subscription.canceled_at = endsAt === null ? null : state.now();
  subscription.cancellation_details = {
    comment: null,
    feedback: null,
    feedback_option: null,
    reason: endsAt === null ? null : 'cancellation_requested',
  };
}

export function updateSchedule(state: State, id: string, params: Params): SubscriptionSchedule {
  const reader = new Reader(params, [
    ...['phases', 'end_behavior', 'proration_behavior', 'metadata', 'default_settings', 'pause_schedules'],
  ]);
  const managing = editManaging(state, id);
  const { schedule, subscription } = managing;
  reader.choice('proration_behavior', prorations);
  const settings = reader.object('default_settings', ['default_payment_method']);
  if (settings?.has('default_payment_method')) {
    schedule.default_settings.default_payment_method = readMethod(state, settings, subscription.customer);
  }
  schedule.metadata = reader.metadata(schedule.metadata);
  schedule.end_behavior = reader.choice('end_behavior', ['release', 'cancel']) ?? schedule.end_behavior;
  const readers = reader.objects('phases', phaseFields);
  if (readers) {
    schedule.phases = readPhases(state, managing, readers);
    recordBare(state, schedule, readers);
    const [now] = schedule.phases;
    if (now) {
      schedule.current_phase = { start_date: now.start_date, end_date: now.end_date };
      setPhaseDiscounts(state, subscription, now);
    }
  }
  schedule.pause_schedules = readPauses(state, managing, reader);
  const endsAt = schedule.phases.at(-1)?.end_date ?? null;
  setScheduledEnd(state, subscription, schedule.end_behavior === 'cancel' ? endsAt : null);
  state.announce('subscription_schedule.updated', schedule, 'updated');
  state.announce('customer.subscription.updated', subscription, 'updated');
  resumeIfDue(state, subscription);
  return schedule;
}

/** The subscription goes on as it is; an end that the schedule has set goes with it, unless it is to be kept. */
export function releaseSchedule(state: State, id: string, params: Params): SubscriptionSchedule {
  const reader = new Reader(params, ['preserve_cancel_date']);
  const { schedule, subscription } = editManaging(state, id);
  release(state, schedule);
  if (!reader.bool('preserve_cancel_date')) setScheduledEnd(state, subscription, null);
  state.announce('customer.subscription.updated', subscription, 'updated');
  return schedule;
}

/** Ends the subscription, too: by default with a credit for the unused time and a last invoice. */
export function cancelSchedule(state: State, id: string, params: Params): SubscriptionSchedule {
  const { schedule, subscription } = editManaging(state, id);
  endNow(state, subscription, new Reader({ prorate: true, invoice_now: true, ...params }, ['invoice_now', 'prorate']));
  return schedule;
}

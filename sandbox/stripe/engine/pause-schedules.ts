import type { Subscription, SubscriptionSchedule } from './objects.ts';
import type { Reader } from './params.ts';
import { findPendingChange } from './pending-change.ts';
import type { State } from './state.ts';
import { pause, resumeNow } from './subscription-lifecycle.ts';
import { invalid, unknownToStandIn } from './types.ts';

// A schedule may pause its subscription at a time and resume it at another (Stripe's documentation, "Pause and resume
// subscriptions on a schedule").

type PauseSchedule = SubscriptionSchedule['pause_schedules'][number];
type Pause = PauseSchedule['pause'];
type Resume = NonNullable<PauseSchedule['resume']>;

/** A schedule that manages a subscription. */
interface Managing {
  schedule: SubscriptionSchedule;
  subscription: Subscription;
}

const anchors = ['resume_at', 'unchanged'] as const;
const payments = ['resume_on_payment_attempt', 'resume_on_payment_success'] as const;
const prorations = ['none', 'create_prorations', 'always_invoice'] as const;

function readTime(state: State, reader: Reader, name: string): number {
  const time = reader.object(name, ['type', 'timestamp', 'duration']);
  const type = time?.choice('type', ['now', 'timestamp', 'duration']);
  if (type === 'now') return state.now();
  if (type !== 'timestamp') throw unknownToStandIn('these times of a pause', name);
  const at = time?.int('timestamp') ?? 0;
  if (at <= state.now()) throw invalid(`The time of ${name} must be in the future.`, { param: name });
  return at;
}

/** Without a credit for unused time, and without metered usage. */
function readPause(state: State, reader: Reader, before: Pause | undefined): Pause {
  const details = reader.object('pause', ['pause_at', 'settings']);
  if (!details) {
    if (!before) throw invalid('A pause schedule needs a pause.', { param: 'pause_schedules[0][pause]' });
    return before;
  }
  if (before && before.status.type !== 'scheduled') throw invalid('The pause has begun already.');
  const settings = details.object('settings', ['type', 'bill_for', 'invoicing_behavior']);
  const bill = settings?.object('bill_for', ['unused_time_from', 'outstanding_usage_through']);
  const credit = bill?.object('unused_time_from', ['type'])?.choice('type', ['none', 'pause_at']) ?? 'pause_at';
  if (credit !== 'none') throw unknownToStandIn('scheduled pauses that credit unused time', 'bill_for');
  return {
    pause_at: readTime(state, details, 'pause_at'),
    settings: {
      bill_for: { outstanding_usage_through: { type: 'pause_at' }, unused_time_from: { type: credit } },
      invoicing_behavior:
        settings?.choice('invoicing_behavior', ['invoice', 'pending_invoice_item']) ?? 'pending_invoice_item',
      type: settings?.choice('type', ['subscription']) ?? 'subscription',
    },
    status: { type: 'scheduled' },
  };
}

function readResume(state: State, reader: Reader, before: Resume | null): Resume | null {
  if (reader.isCleared('resume')) return null;
  const details = reader.object('resume', ['resume_at', 'settings']);
  if (!details) return before;
  if (before && before.status.type !== 'scheduled') throw invalid('The resumption has begun already.');
  const settings = details.object('settings', ['billing_cycle_anchor', 'payment_behavior', 'proration_behavior']);
  const known = before?.settings;
  return {
    resume_at: details.has('resume_at') ? readTime(state, details, 'resume_at') : (before?.resume_at ?? state.now()),
    settings: {
      billing_cycle_anchor:
        settings?.choice('billing_cycle_anchor', anchors) ?? known?.billing_cycle_anchor ?? 'resume_at',
      payment_behavior:
        settings?.choice('payment_behavior', payments) ?? known?.payment_behavior ?? 'resume_on_payment_success',
      proration_behavior:
        settings?.choice('proration_behavior', prorations) ?? known?.proration_behavior ?? 'create_prorations',
    },
    status: { type: 'scheduled' },
  };
}

/** The pauses of a schedule after a call, which may add one, change it by its key, or clear it. */
export function readPauses(state: State, { schedule, subscription }: Managing, reader: Reader): PauseSchedule[] {
  const known = schedule.pause_schedules;
  if (reader.isCleared('pause_schedules')) return [];
  const readers = reader.objects('pause_schedules', ['key', 'pause', 'resume']);
  const [details, ...more] = readers ?? [];
  if (!details) return known;
  if (more.length > 0) throw invalid('Only one pause schedule is supported.', { param: 'pause_schedules' });
  if (subscription.billing_mode.type !== 'flexible')
    throw invalid('Pausing requires the flexible billing mode.', { param: 'pause_schedules' });
  const key = details.text('key') ?? 'pause';
  const before = known.find((each) => each.key === key);
  const pausing = readPause(state, details, before?.pause);
  const resume = readResume(state, details, before?.resume ?? null);
  if (resume && resume.resume_at < pausing.pause_at)
    throw invalid('A subscription is resumed after its pause.', { param: 'pause_schedules[0][resume]' });
  return [{ key, pause: pausing, resume }];
}

function findPauses(state: State, { schedule: id }: Subscription): SubscriptionSchedule | undefined {
  const schedule = id === null ? undefined : state.get('subscription_schedule', id);
  return schedule && schedule.pause_schedules.length > 0 ? schedule : undefined;
}

/** When the schedule of a running subscription pauses it. */
export function findPauseAt(state: State, subscription: Subscription): number | undefined {
  const [entry] = findPauses(state, subscription)?.pause_schedules ?? [];
  return entry?.pause.status.type === 'scheduled' ? entry.pause.pause_at : undefined;
}

/** When the schedule of a paused subscription resumes it. */
export function findResumeAt(state: State, subscription: Subscription): number | undefined {
  const [entry] = findPauses(state, subscription)?.pause_schedules ?? [];
  return entry?.resume?.status.type === 'scheduled' ? entry.resume.resume_at : undefined;
}

function editEntry(state: State, subscription: Subscription): PauseSchedule {
  const [entry] = state.edit('subscription_schedule', subscription.schedule ?? '').pause_schedules;
  if (!entry) throw invalid('The schedule has no pause.');
  return entry;
}

const announceSchedule = (state: State, { schedule }: Subscription) =>
  state.announce('subscription_schedule.updated', state.get('subscription_schedule', schedule ?? ''), 'updated');

/** The time of a pause: a subscription that cannot be paused goes on. */
export function pauseBySchedule(state: State, id: string) {
  const subscription = state.edit('subscription', id);
  const entry = editEntry(state, subscription);
  if (subscription.status === 'active' && !findPendingChange(state, id)) {
    entry.pause.status = { type: 'succeeded' };
    pause(state, subscription, 'pause_requested');
  } else {
    entry.pause.status = { type: 'error', error: { message: `A ${subscription.status} subscription is not paused.` } };
    if (entry.resume) entry.resume.status = structuredClone(entry.pause.status);
  }
  announceSchedule(state, subscription);
}

/** The time of a resumption: it is paid with a new period, or waits for its payment. */
export function resumeBySchedule(state: State, id: string) {
  const subscription = state.edit('subscription', id);
  const { resume } = editEntry(state, subscription);
  if (!resume) return;
  if (resume.settings.billing_cycle_anchor !== 'resume_at')
    throw unknownToStandIn('resumption with an unchanged anchor', 'pause_schedules');
  resume.status = { type: 'pending' };
  resumeNow(state, subscription, { onAttempt: resume.settings.payment_behavior === 'resume_on_payment_attempt' });
  if (state.get('subscription', id).status !== 'paused')
    editEntry(state, subscription).resume = { ...resume, status: { type: 'succeeded' } };
  announceSchedule(state, subscription);
}

/** A resumption that a call has asked for at once. */
export function resumeIfDue(state: State, subscription: Subscription) {
  const at = subscription.status === 'paused' ? findResumeAt(state, subscription) : undefined;
  if (at !== undefined && at <= state.now()) resumeBySchedule(state, subscription.id);
}

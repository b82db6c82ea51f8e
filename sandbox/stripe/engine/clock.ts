import { expireCodes } from './codes.ts';
import { voidInvoice } from './collect.ts';
import type { Invoice, Subscription } from './objects.ts';
import { findPauseAt, findResumeAt, pauseBySchedule, resumeBySchedule } from './pause-schedules.ts';
import { endAtDate, endPeriod, finalizeRenewal, retry } from './renewal.ts';
import { passPhase } from './schedule-phases.ts';
import { settle } from './settlements.ts';
import type { State } from './state.ts';
import { getItem } from './subscription-shape.ts';

const hour = 3_600;
const day = 24 * hour;
const hoursToPayFirst = 23;
const daysBeforeTrialEnds = 3;

interface DueTask {
  /** Seconds. */
  at: number;
  run(): void;
}

const runningStatuses = ['trialing', 'active', 'past_due'];

/**
 * The ends of a running subscription's period and phase, and its own: a phase mostly ends with a period. That of the
 * pause of another one.
 */
function listEnds(state: State, subscription: Subscription): DueTask[] {
  const { id, status, cancel_at, schedule } = subscription;
  const resumeAt = status === 'paused' ? findResumeAt(state, subscription) : undefined;
  if (resumeAt !== undefined) return [{ at: resumeAt, run: () => resumeBySchedule(state, id) }];
  if (!runningStatuses.includes(status)) return [];
  const pauseAt = findPauseAt(state, subscription);
  const ends: DueTask[] = [
    ...(pauseAt === undefined ? [] : [{ at: pauseAt, run: () => pauseBySchedule(state, id) }]),
    { at: getItem(subscription).current_period_end, run: () => endPeriod(state, id) },
  ];
  if (cancel_at !== null) ends.push({ at: cancel_at, run: () => endAtDate(state, id) });
  const phase = schedule === null ? null : state.get('subscription_schedule', schedule).current_phase;
  if (phase) {
    const { end_date: at } = phase;
    ends.push({ at, run: () => passPhase(state, state.edit('subscription', id), at) });
  }
  return ends;
}

/** The next attempt at an open invoice, or the end of a draft. */
function findInvoiceTask(state: State, invoice: Invoice): DueTask | undefined {
  const {
    id,
    status,
    auto_advance,
    automatically_finalizes_at: finalizesAt,
    next_payment_attempt: attemptAt,
  } = invoice;
  if (status === 'open' && attemptAt !== null) return { at: attemptAt, run: () => retry(state, id) };
  if (status !== 'draft' || !auto_advance || finalizesAt === null) return undefined;
  return { at: finalizesAt, run: () => finalizeRenewal(state, id) };
}

/** The next due task; of one second, in the order of this list. */
function findNextTask(state: State): DueTask | undefined {
  let first: DueTask | undefined;
  const consider = (at: number, run: () => void) => {
    if (first === undefined || at < first.at) first = { at, run };
  };
  for (const { invoice, expiresAt } of state.all('hidden.change')) {
    consider(expiresAt, () => voidInvoice(state, invoice, 'customer.subscription.pending_update_expired'));
  }
  for (const subscription of state.all('subscription')) {
    const { id, status, created, latest_invoice, trial_end } = subscription;
    if (status === 'incomplete' && latest_invoice !== null) {
      consider(created + hoursToPayFirst * hour, () => voidInvoice(state, latest_invoice));
    }
    const noticeId = `hidden_told_${id}_${trial_end}`;
    if (status === 'trialing' && trial_end !== null && !state.find('hidden.told', noticeId)) {
      consider(Math.max(trial_end - daysBeforeTrialEnds * day, created), () => {
        state.put({ id: noticeId, object: 'hidden.told' });
        state.announce('customer.subscription.trial_will_end', subscription);
      });
    }
  }
  for (const settlement of state.all('hidden.settlement')) consider(settlement.at, () => settle(state, settlement));
  for (const invoice of state.all('invoice')) {
    const task = findInvoiceTask(state, invoice);
    if (task) consider(task.at, task.run);
  }
  for (const subscription of state.all('subscription')) {
    for (const { at, run } of listEnds(state, subscription)) consider(at, run);
  }
  return first;
}

/** Does everything that is due, each task at its own time, completely or not at all. */
export function runDueTasks(state: State) {
  const untilMs = state.nowMs();
  for (let task = findNextTask(state); task && task.at * 1_000 <= untilMs; task = findNextTask(state)) {
    const { at, run } = task;
    state.at(at * 1_000, () => state.perform(run));
  }
  state.perform(() => {
    expireCodes(state);
    state.forgetOldEvents();
  });
}

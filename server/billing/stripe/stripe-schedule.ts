import type Stripe from 'stripe';
import { toId } from './stripe-objects.ts';

// A subscription schedule is how Stripe keeps a change that takes effect at the period's end.

export type SchedulePhase = Stripe.SubscriptionSchedule.Phase;

/** The schedule that manages a subscription. @param subscription with its schedule expanded */
export function findSchedule({ id, schedule }: Stripe.Subscription): Stripe.SubscriptionSchedule | undefined {
  if (typeof schedule === 'string') throw new Error(`the schedule of the subscription ${id} was not read`);
  return schedule ?? undefined;
}

/** The phase that runs; undefined: the schedule does not run. */
export function runningPhase({ phases, current_phase }: Stripe.SubscriptionSchedule): SchedulePhase | undefined {
  return phases.find(({ start_date }) => start_date === current_phase?.start_date);
}

/** The state of a subscription after its period, without another act. */
export interface PlannedChange {
  /** It ends. */
  ends: boolean;
  /** The price from then on; undefined: the same. */
  nextPriceId: string | undefined;
}

/** @param periodEnd seconds since the epoch */
export function plannedChange(subscription: Stripe.Subscription, periodEnd: number): PlannedChange {
  const { cancel_at_period_end: ends, cancel_at: endsAt } = subscription;
  const schedule = findSchedule(subscription);
  if (!schedule) return { ends: ends || (endsAt !== null && endsAt <= periodEnd), nextPriceId: undefined };
  const running = runningPhase(schedule);
  if (!running || running.end_date > periodEnd) return { ends: false, nextPriceId: undefined };
  const price = schedule.phases.find(({ start_date }) => start_date === running.end_date)?.items[0]?.price;
  if (price !== undefined) return { ends: false, nextPriceId: toId(price) };
  return { ends: schedule.end_behavior === 'cancel', nextPriceId: undefined };
}

import type Stripe from 'stripe';
import type { UserId } from '../../shared/index.ts';
import { findUser } from '../../users/index.ts';
import type { BillingDeps } from '../deps.ts';
import type { BillingTask } from '../jobs/task-store.ts';
import { findOpenPurchase } from '../purchase/purchase-store.ts';
import { parseColumn, storedValues } from '../stripe/stored-values.ts';
import { callStripe } from '../stripe/stripe-client.ts';
import { findSchedule, pauseKey } from '../stripe/stripe-objects.ts';
import type { MemberPause } from './coming-acts.ts';
import type { Membership } from './membership.ts';
import { notifyMembership } from './membership-changes.ts';
import { afterPauseMs, canPause, isBeforePause } from './pause-rules.ts';
import { attachSchedule, readScheduled, untilPeriodEnd } from './scheduled-change.ts';
import { syncMember } from './sync-from-stripe.ts';

/**
 * A pause of the user is a pause of the subscription schedule: Stripe begins and ends it by itself. In it the subscription
 * is `paused`: it has no invoices, and nothing is sold to it. It goes on with a whole period, as soon as that is paid.
 */
export const resumption = {
  billing_cycle_anchor: 'resume_at',
  payment_behavior: 'resume_on_payment_success',
  proration_behavior: 'none',
} as const;

const toSeconds = (ms: number) => Math.floor(ms / 1_000);

/** Tests for an end, a change or a pause that does not have to happen. */
export const isToCome = ({ cancelAtPeriodEnd, nextPlanId, pause }: Membership, nowMs: number): boolean =>
  cancelAtPeriodEnd || nextPlanId !== null || (pause !== null && isBeforePause(pause, nowMs));

export async function isPausable({ database, catalogue, now }: BillingDeps, membership: Membership): Promise<boolean> {
  if (!canPause(membership, catalogue, now())) return false;
  // It would change the plan as soon as it is paid.
  return (await findOpenPurchase(database.db, membership.userId))?.state !== 'charging';
}

/** Schedules a stored pause, at the days that the page has named or not at all. @throws {StripeUnavailableError} */
export async function pauseAsNoted(deps: BillingDeps, userId: UserId, { detail }: BillingTask): Promise<void> {
  const membership = await syncMember(deps, userId);
  const request = parseColumn(storedValues.pauseRequest, detail);
  if (!membership?.subscriptionId || !request || membership.pause) return;
  if (membership.periodEnd !== request.periodEnd || !(await isPausable(deps, membership))) {
    await notifyNotPaused(deps, membership);
    return;
  }
  await schedulePause(deps, membership, request);
  await syncMember(deps, userId);
}

/** Stripe was away until the plan had renewed or changed. */
async function notifyNotPaused(deps: BillingDeps, { userId, paidPlanId }: Membership): Promise<void> {
  const plan = deps.catalogue.byId(paidPlanId);
  if (!plan) return;
  await deps.database.transaction(async (trx) => {
    const user = await findUser(trx, userId);
    if (!user) return;
    await notifyMembership(deps, trx, { user, mail: { template: 'plan-not-paused', values: { planName: plan.name } } });
  });
}

/** The schedule of a pause outlasts it, and takes no other one. */
async function readWithoutOldPause(deps: BillingDeps, { subscriptionId }: Membership): Promise<Stripe.Subscription> {
  const subscription = await readScheduled(deps, subscriptionId);
  const schedule = findSchedule(subscription);
  if (!schedule || schedule.pause_schedules.length === 0) return subscription;
  await callStripe(deps.stripe, (client) => client.subscriptionSchedules.release(schedule.id));
  return readScheduled(deps, subscriptionId);
}

/**
 * Between its calls the subscription renews as before. Nothing is credited, because the user keeps the plan until the
 * paid period ends. The phase outlasts the pause.
 */
async function schedulePause(deps: BillingDeps, membership: Membership, pause: MemberPause): Promise<void> {
  const subscription = await readWithoutOldPause(deps, membership);
  const schedule = await attachSchedule(deps, subscription);
  const phase = untilPeriodEnd(subscription, schedule);
  await callStripe(deps.stripe, (client) =>
    client.subscriptionSchedules.update(schedule.id, {
      end_behavior: 'release',
      proration_behavior: 'none',
      phases: [{ ...phase, end_date: toSeconds(pause.resumesAt + afterPauseMs) }],
      pause_schedules: [
        {
          key: pauseKey,
          pause: {
            pause_at: { type: 'timestamp', timestamp: toSeconds(pause.pausesAt) },
            settings: { bill_for: { unused_time_from: { type: 'none' } } },
          },
          resume: { resume_at: { type: 'timestamp', timestamp: toSeconds(pause.resumesAt) }, settings: resumption },
        },
      ],
    }),
  );
}

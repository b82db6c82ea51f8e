import { dayMs, hourMs, minuteMs } from '../../shared/index.ts';
import type { BillingDeps } from '../deps.ts';
import { workOnGifts } from '../gifts/end-gifts.ts';
import { findOpenPurchase, listStuckCharges, type StoredPurchase } from '../purchase/purchase-store.ts';
import { giveUpCharge, settleCharge } from '../purchase/run-charge.ts';
import { updateContactsDue } from '../subscription/contact.ts';
import { listPausesBegun, listTrialsEnding, listUnpaidBefore } from '../subscription/due-store.ts';
import type { Membership } from '../subscription/membership.ts';
import { trialNoticeKey, trialNoticeMs, trialNoticeStart } from '../subscription/membership-changes.ts';
import { paymentGraceEnds } from '../subscription/membership-state.ts';
import { findMembership, wasNotified } from '../subscription/membership-store.ts';
import { syncMember } from '../subscription/sync-from-stripe.ts';
import { withUserLock } from '../user-lock.ts';
import type { StripeWebhooks } from '../webhooks/stripe-webhooks.ts';
import { listUnfinishedEvents, sweepEvents } from '../webhooks/webhook-store.ts';
import { readMissedEvents } from './missed-events.ts';
import { createCustomers } from './new-customers.ts';
import { moveOldChanges } from './old-changes.ts';
import { notifyRenewals } from './renewal-notices.ts';
import { cancelSubscription, runTasks } from './tasks.ts';
import { notifyTrials } from './trial-notices.ts';

/** A request in progress has finished by then. */
const abandonedAfterMs = 2 * minuteMs;
/** An hour is enough for a bank's authentication; after that the payment is abandoned. */
const leftLyingMs = 60 * minuteMs;
/** A payment that has replaced a scheduled change is dropped before the period ends: this runs every minute. */
const beforeRenewalMs = 10 * minuteMs;
const eventsKeptMs = 30 * dayMs;
const batch = 200;

/** Tests whether the paid period ends within this time. */
const endsWithin = ({ periodEnd }: Pick<Membership, 'periodEnd'>, nowMs: number, withinMs: number): boolean =>
  periodEnd !== null && periodEnd - nowMs < withinMs;

/** A failure for one user does not block the others. */
async function forEachSafely<T>(
  { log }: BillingDeps,
  items: readonly T[],
  { act, failed }: { act: (item: T) => Promise<unknown>; failed: string },
): Promise<void> {
  for (const item of items) {
    try {
      await act(item);
    } catch (error) {
      log.warn({ err: error }, failed);
    }
  }
}

/** Abandoned payments: finished if they are paid, cancelled if not. */
async function finishCharges(deps: BillingDeps): Promise<void> {
  const { database, now } = deps;
  const charging = await listStuckCharges(database.db, now() - abandonedAfterMs, batch);
  await forEachSafely(deps, charging, {
    act: ({ id, userId }) => withUserLock(database, userId, () => finishCharge(deps, { id, userId })),
    failed: 'could not settle or cancel a payment to which its member has not come back',
  });
}

/** A bank has days for a debit: Stripe's events tell of its end, and it is read once an hour. */
async function waitsForBank({ database, now }: BillingDeps, { userId, charge }: StoredPurchase): Promise<boolean> {
  const membership = charge?.byDebit && (await findMembership(database.db, userId));
  if (membership?.pending?.debit !== 'purchase' || membership.pending.failed) return false;
  return membership.syncedAt !== null && now() - membership.syncedAt < hourMs;
}

/** The caller holds the user's lock. */
async function finishCharge(deps: BillingDeps, { id, userId }: Pick<StoredPurchase, 'id' | 'userId'>): Promise<void> {
  const { database, now } = deps;
  // The user may have been faster.
  const open = await findOpenPurchase(database.db, userId);
  if (open?.id !== id || open.state !== 'charging') return;
  if (await waitsForBank(deps, open)) return;
  const { kind } = await settleCharge(deps, open);
  const still = kind === 'paid' ? undefined : await findOpenPurchase(database.db, userId);
  if (!still?.charge) return;
  const { scheduledPlanId } = still.charge;
  const membership = scheduledPlanId && (await findMembership(database.db, userId));
  // The renewal would miss the change that this payment has replaced.
  const late = membership && endsWithin(membership, now(), beforeRenewalMs);
  if (late || now() - still.charge.beganAt > leftLyingMs) await giveUpCharge(deps, still);
}

/**
 * Ends the plans of users whose grace period is over, with the subscription: no user is charged for an ended plan, and
 * a new one is not blocked.
 */
async function endGrace(deps: BillingDeps): Promise<void> {
  const { database, catalogue, now } = deps;
  const lapsed = await listUnpaidBefore(database.db, now() - catalogue.graceDays * dayMs, batch);
  await forEachSafely(deps, lapsed, {
    act: (userId) =>
      withUserLock(database, userId, async () => {
        // The user, or the card's bank, may have been faster.
        const membership = await syncMember(deps, userId);
        const end = membership && paymentGraceEnds(membership, catalogue);
        // A bank has a debit for it.
        if (membership?.pending?.debit) return;
        if (membership?.customerId && end !== undefined && end <= now()) {
          await cancelSubscription(deps, userId, membership.customerId);
        }
      }),
    failed: 'could not end a plan that is not paid',
  });
}

/** A pause begins a little before the paid period ends: the plan ends with that. */
async function endPausedPlans(deps: BillingDeps): Promise<void> {
  const { database, now } = deps;
  await forEachSafely(deps, await listPausesBegun(database.db, now(), batch), {
    act: (userId) => syncMember(deps, userId),
    failed: 'could not end a plan that is paused',
  });
}

/** Notifies of ending trials, in case Stripe's event did not arrive. */
async function notifyEndingTrials(deps: BillingDeps): Promise<void> {
  const { database, now } = deps;
  const nowMs = now();
  await forEachSafely(deps, await listTrialsEnding(database.db, nowMs, nowMs + trialNoticeMs), {
    async act(membership) {
      if (nowMs < (trialNoticeStart(membership) ?? Infinity)) return;
      if (await wasNotified(database.db, membership.userId, trialNoticeKey(membership))) return;
      await syncMember(deps, membership.userId);
    },
    failed: 'could not tell of a trial that ends',
  });
}

/** Events that were received but not processed. */
async function retryEvents({ deps, webhooks }: { deps: BillingDeps; webhooks: StripeWebhooks }): Promise<void> {
  const { database, now } = deps;
  const undone = await listUnfinishedEvents(database.db, now() - abandonedAfterMs, batch);
  await forEachSafely(deps, undone, {
    act: (id) => webhooks.retryEvents(id),
    failed: 'could not do what an event of Stripe asks for',
  });
  await sweepEvents(database.db, now() - eventsKeptMs);
}

/** Runs everything that is due. Safe to run at any time, and twice. */
export async function runMaintenance(deps: BillingDeps, webhooks: StripeWebhooks): Promise<void> {
  const parts = [
    () => runTasks(deps),
    () => finishCharges(deps),
    () => moveOldChanges(deps),
    () => endGrace(deps),
    () => endPausedPlans(deps),
    () => notifyEndingTrials(deps),
    () =>
      notifyRenewals(deps, (notices, act) =>
        forEachSafely(deps, notices, { act, failed: 'could not tell of a renewal' }),
      ),
    () =>
      notifyTrials(deps, (members, act) =>
        forEachSafely(deps, members, { act, failed: 'could not tell of the first charge after a trial' }),
      ),
    () =>
      workOnGifts(deps, (gifts, act) =>
        forEachSafely(deps, gifts, { act, failed: 'could not end a gift, or tell of its end' }),
      ),
    () => retryEvents({ deps, webhooks }),
    () => readMissedEvents(deps, webhooks),
    () => createCustomers(deps),
    () =>
      updateContactsDue(deps, (members, act) =>
        forEachSafely(deps, members, { act, failed: 'could not update the customer at Stripe' }),
      ),
  ];
  await forEachSafely(deps, parts, { act: (part) => part(), failed: 'membership job failed' });
}

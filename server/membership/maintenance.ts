import { dayMs, minuteMs } from '../shared/index.ts';
import { updateContactsDue } from './contact.ts';
import type { BillingDeps } from './deps.ts';
import { listTrialsEnding, listUnpaidBefore } from './due-store.ts';
import { paymentGraceEnds } from './effective-plan.ts';
import { endsWithin } from './membership.ts';
import { trialNoticeKey, trialNoticeMs, trialNoticeStart } from './membership-changes.ts';
import { findMembership, wasNotified } from './membership-store.ts';
import { findOpenPurchase, listStuckCharges } from './purchase-store.ts';
import { applyDueChanges } from './scheduled-change.ts';
import { cancelCharge, settleCharge } from './stripe-charge.ts';
import { syncMember } from './sync-from-stripe.ts';
import { cancelSubscription, runTasks } from './tasks.ts';
import { withUserLock } from './user-lock.ts';
import { listUnfinishedEvents, sweepEvents } from './webhook-store.ts';
import type { StripeWebhooks } from './webhooks.ts';

/** Whoever is at it has an answer by then. */
const nobodyComesMs = 2 * minuteMs;
/** The member has left the payment lying: an hour for their bank's question is plenty. */
const leftLyingMs = 60 * minuteMs;
/** Half of the time in which no code is put on any more: this runs every minute. */
const beforeRenewalMs = 10 * minuteMs;
const eventsKeptMs = 30 * dayMs;
const batch = 200;

/** What is done for one member keeps nobody else's waiting. */
async function forEachSafely<T>(
  { log }: BillingDeps,
  items: readonly T[],
  act: (item: T) => Promise<unknown>,
  failed: string,
): Promise<void> {
  for (const item of items) {
    try {
      await act(item);
    } catch (error) {
      log.warn({ err: error }, failed);
    }
  }
}

/** Payments that nobody has come back to: finished where they are paid, called off where they were left lying. */
async function finishCharges(deps: BillingDeps): Promise<void> {
  const { database, now } = deps;
  const charging = await listStuckCharges(database.db, now() - nobodyComesMs, batch);
  await forEachSafely(
    deps,
    charging,
    ({ id, userId }) =>
      withUserLock(database, userId, async () => {
        // The member may have been quicker.
        const open = await findOpenPurchase(database.db, userId);
        if (open?.id !== id || open.state !== 'charging') return;
        const { kind } = await settleCharge(deps, open, { retry: false });
        const still = kind === 'paid' ? undefined : await findOpenPurchase(database.db, userId);
        if (!still?.charge) return;
        const membership = still.charge.discounts && (await findMembership(database.db, userId));
        // The renewal would take what was meant for this payment.
        const late = membership && endsWithin(membership, now(), beforeRenewalMs);
        if (late || now() - still.charge.beganAt > leftLyingMs) await cancelCharge(deps, still);
      }),
    'could not look after a payment that nobody has come back to',
  );
}

/**
 * Members whose plan lapses, since what was not paid is waited for no longer. Its subscription ends with it: nobody is charged
 * for a plan that has ended, and nothing stands in the way of another one.
 */
async function endGrace(deps: BillingDeps): Promise<void> {
  const { database, catalogue, now } = deps;
  const lapsed = await listUnpaidBefore(database.db, now() - catalogue.graceDays * dayMs, batch);
  await forEachSafely(
    deps,
    lapsed,
    (userId) =>
      withUserLock(database, userId, async () => {
        // The member, or the card's bank, may have been quicker.
        const membership = await syncMember(deps, userId);
        const end = membership && paymentGraceEnds(membership, catalogue);
        if (membership?.customerId && end !== undefined && end <= now()) {
          await cancelSubscription(deps, userId, membership.customerId);
        }
      }),
    'could not end a plan that is not paid',
  );
}

/** Tells of trials that end, should Stripe's event not have come. */
async function notifyEndingTrials(deps: BillingDeps): Promise<void> {
  const { database, now } = deps;
  const nowMs = now();
  await forEachSafely(
    deps,
    await listTrialsEnding(database.db, nowMs, nowMs + trialNoticeMs),
    async (membership) => {
      if (nowMs < (trialNoticeStart(membership) ?? Infinity)) return;
      if (await wasNotified(database.db, membership.userId, trialNoticeKey(membership))) return;
      await syncMember(deps, membership.userId);
    },
    'could not tell of a trial that ends',
  );
}

/** Events that came in and were not done. */
async function retryEvents({ deps, webhooks }: { deps: BillingDeps; webhooks: StripeWebhooks }): Promise<void> {
  const { database, now } = deps;
  const undone = await listUnfinishedEvents(database.db, now() - nobodyComesMs, batch);
  await forEachSafely(deps, undone, (id) => webhooks.retryEvents(id), 'could not do what an event of Stripe asks for');
  await sweepEvents(database.db, now() - eventsKeptMs);
}

/** Everything that falls due by itself. Safe to run at any time, and twice. */
export async function runMaintenance(deps: BillingDeps, webhooks: StripeWebhooks): Promise<void> {
  const parts = [
    () => runTasks(deps),
    () => finishCharges(deps),
    () => applyDueChanges(deps),
    () => endGrace(deps),
    () => notifyEndingTrials(deps),
    () => retryEvents({ deps, webhooks }),
    () =>
      updateContactsDue(deps, (members, act) =>
        forEachSafely(deps, members, act, 'could not write a member’s data to Stripe'),
      ),
  ];
  await forEachSafely(deps, parts, (part) => part(), 'could not look after memberships');
}

import { dayMs, minuteMs } from '../shared/index.ts';
import { callOff, settle } from './charge.ts';
import { tellContactsDue } from './contact.ts';
import type { MembershipDeps } from './deps.ts';
import { trialsEnding, unpaidBefore } from './due-store.ts';
import { waitEnds } from './effective-plan.ts';
import { oneAtATime } from './member-lock.ts';
import { findMembership, wasTold } from './membership-store.ts';
import { trialNoticeFrom, trialNoticeMs, trialToldOf } from './news.ts';
import { chargingSince, findOpenPurchase } from './purchase-store.ts';
import { convertDue } from './scheduled.ts';
import { endsSoon } from './standing.ts';
import { syncMember } from './sync.ts';
import { cancelNow, carryOutTasks } from './tasks.ts';
import { sweepEvents, undoneEvents } from './webhook-store.ts';
import type { Webhooks } from './webhooks.ts';

/** Whoever is at it has an answer by then. */
const nobodyComesMs = 2 * minuteMs;
/** The member has left the payment lying: an hour for their bank's question is plenty. */
const leftLyingMs = 60 * minuteMs;
/** Half of the time in which no code is put on any more: this runs every minute. */
const beforeRenewalMs = 10 * minuteMs;
const eventsKeptMs = 30 * dayMs;
const batch = 200;

/** What is done for one member keeps nobody else's waiting. */
async function each<T>(
  { log }: MembershipDeps,
  things: readonly T[],
  act: (thing: T) => Promise<unknown>,
  failed: string,
): Promise<void> {
  for (const thing of things) {
    try {
      await act(thing);
    } catch (error) {
      log.warn({ err: error }, failed);
    }
  }
}

/** Payments that nobody has come back to: finished where they are paid, called off where they were left lying. */
async function finishCharges(deps: MembershipDeps): Promise<void> {
  const { database, now } = deps;
  const charging = await chargingSince(database.db, now() - nobodyComesMs, batch);
  await each(
    deps,
    charging,
    ({ id, userId }) =>
      oneAtATime(database, userId, async () => {
        // The member may have been quicker.
        const open = await findOpenPurchase(database.db, userId);
        if (open?.id !== id || open.state !== 'charging') return;
        const { kind } = await settle(deps, open, { retry: false });
        const still = kind === 'paid' ? undefined : await findOpenPurchase(database.db, userId);
        if (!still?.charge) return;
        const membership = still.charge.discounts && (await findMembership(database.db, userId));
        // The renewal would take what was meant for this payment.
        const late = membership && endsSoon(membership, now(), beforeRenewalMs);
        if (late || now() - still.charge.beganAt > leftLyingMs) await callOff(deps, still);
      }),
    'could not look after a payment that nobody has come back to',
  );
}

/**
 * Members whose plan lapses, since what was not paid is waited for no longer. Its subscription ends with it: nobody is charged
 * for a plan that has ended, and nothing stands in the way of another one.
 */
async function endGrace(deps: MembershipDeps): Promise<void> {
  const { database, catalogue, now } = deps;
  const lapsed = await unpaidBefore(database.db, now() - catalogue.graceDays * dayMs, batch);
  await each(
    deps,
    lapsed,
    (userId) =>
      oneAtATime(database, userId, async () => {
        // The member, or the card's bank, may have been quicker.
        const membership = await syncMember(deps, userId);
        const end = membership && waitEnds(membership, catalogue);
        if (membership?.customerId && end !== undefined && end <= now()) {
          await cancelNow(deps, userId, membership.customerId);
        }
      }),
    'could not end a plan that is not paid',
  );
}

/** Tells of trials that end, should Stripe's event not have come. */
async function tellOfTrials(deps: MembershipDeps): Promise<void> {
  const { database, now } = deps;
  const nowMs = now();
  await each(
    deps,
    await trialsEnding(database.db, nowMs, nowMs + trialNoticeMs),
    async (membership) => {
      if (nowMs < (trialNoticeFrom(membership) ?? Infinity)) return;
      if (await wasTold(database.db, membership.userId, trialToldOf(membership))) return;
      await syncMember(deps, membership.userId);
    },
    'could not tell of a trial that ends',
  );
}

/** Events that came in and were not done. */
async function takeUpEvents({ deps, webhooks }: { deps: MembershipDeps; webhooks: Webhooks }): Promise<void> {
  const { database, now } = deps;
  const undone = await undoneEvents(database.db, now() - nobodyComesMs, batch);
  await each(deps, undone, (id) => webhooks.takeUp(id), 'could not do what an event of Stripe asks for');
  await sweepEvents(database.db, now() - eventsKeptMs);
}

/** Everything that falls due by itself. Safe to run at any time, and twice. */
export async function lookAfterMemberships(deps: MembershipDeps, webhooks: Webhooks): Promise<void> {
  const parts = [
    () => carryOutTasks(deps),
    () => finishCharges(deps),
    () => convertDue(deps),
    () => endGrace(deps),
    () => tellOfTrials(deps),
    () => takeUpEvents({ deps, webhooks }),
    () =>
      tellContactsDue(deps, (members, act) => each(deps, members, act, 'could not write a member’s data to Stripe')),
  ];
  await each(deps, parts, (part) => part(), 'could not look after memberships');
}

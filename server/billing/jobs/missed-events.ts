import type Stripe from 'stripe';
import { hourMs, minuteMs } from '../../shared/index.ts';
import type { BillingDeps } from '../deps.ts';
import { callStripe } from '../stripe/stripe-client.ts';
import { toMs } from '../stripe/stripe-objects.ts';
import { eventTypes } from '../webhooks/event-subjects.ts';
import type { StripeWebhooks } from '../webhooks/stripe-webhooks.ts';
import { eventsProgress, findProgress, saveProgress } from './progress-store.ts';

/** Stripe's limit for one list. */
const typesAtOnce = 20;
/** An event may be listed later than one that has happened after it. */
const overlapMs = 15 * minuteMs;
/** The webhook of a newer event may still be on its way. */
const deliveryMs = 5 * minuteMs;

/** Every event of this time, the oldest first. @throws {StripeUnavailableError} */
function listEvents(
  deps: BillingDeps,
  { fromMs, untilMs }: { fromMs: number; untilMs: number },
): Promise<Stripe.Event[]> {
  const created = { gte: Math.floor(fromMs / 1_000), lte: Math.floor(untilMs / 1_000) };
  return callStripe(deps.stripe, async (stripe) => {
    const events: Stripe.Event[] = [];
    for (let at = 0; at < eventTypes.length; at += typesAtOnce) {
      const types = eventTypes.slice(at, at + typesAtOnce);
      for await (const event of stripe.events.list({ types, created, limit: 100 })) events.push(event);
    }
    return events.reverse().sort((one, other) => one.created - other.created);
  });
}

/**
 * Once an hour, the events whose webhooks did not arrive: without any, this is a constant number of requests, however
 * many members there are. The first comparison sets the time from which on events are read.
 * @throws {StripeUnavailableError}
 */
export async function readMissedEvents(deps: BillingDeps, webhooks: Pick<StripeWebhooks, 'takeMissed'>): Promise<void> {
  const { database, now } = deps;
  const nowMs = now();
  const last = await findProgress(database.db, eventsProgress);
  if (!last || nowMs - last.updatedAt < hourMs) return;
  const events = await listEvents(deps, { fromMs: last.at - overlapMs, untilMs: nowMs - deliveryMs });
  await webhooks.takeMissed(events);
  const at = Math.max(last.at, ...events.slice(-1).map(({ created }) => toMs(created)));
  await saveProgress(database.db, eventsProgress, { at, position: null, updatedAt: nowMs });
}

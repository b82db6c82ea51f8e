import { hourMs, minuteMs } from '../shared/index.ts';
import { createLease, everySoOften } from '../store/index.ts';
import type { MembershipDeps } from './deps.ts';
import { type Reconciled, type ReconcileOptions, reconcileWithStripe } from './reconcile.ts';
import { lookAfterMemberships } from './upkeep.ts';
import type { Webhooks } from './webhooks.ts';

const lookMs = minuteMs;
/** How often it is looked whether the hour is over: the hour counts across restarts. */
const askMs = 5 * minuteMs;
const hourKey = 'billing:reconciled';

/** Says in the log what only somebody who looks can mend. */
export async function reconcile(
  deps: MembershipDeps,
  webhooks: Webhooks,
  options: ReconcileOptions = {},
): Promise<Reconciled> {
  const done = await reconcileWithStripe(deps, webhooks, options);
  const { compared, repaired, left } = done;
  for (const difference of left) deps.log.warn({ act: 'reconcile', ...difference }, 'not as it is at Stripe');
  deps.metrics.reconciled(repaired.length, left.length);
  const counts = { compared, repaired: repaired.length, left: left.length };
  deps.log.info({ act: 'reconcile', ...counts }, 'memberships have been compared with Stripe');
  return done;
}

/** Compares everything, unless that was done within the hour; what failed is tried again at the next turn. */
export async function reconcileHourly(
  deps: MembershipDeps,
  webhooks: Webhooks,
  goOn: () => Promise<boolean> = async () => true,
): Promise<void> {
  if (!(await deps.kv.setIfAbsent(hourKey, 'begun', hourMs))) return;
  try {
    await reconcile(deps, webhooks, { goOn });
  } catch (error) {
    await deps.kv.delete(hourKey);
    throw error;
  }
}

/** Does what is due in one process at a time: the small things every minute, everything every hour. Answers how to stop. */
export function workNowAndThen(deps: MembershipDeps, webhooks: Webhooks): () => Promise<void> {
  const { database, log } = deps;
  let stopping = false;
  // By the machine's clock: a sandbox that lets time pass must not let two processes at it.
  const looking = createLease(database, 'memberships', 10 * minuteMs, Date.now);
  const comparing = createLease(database, 'memberships compared', 2 * hourMs, Date.now);
  const stops = [
    everySoOften(
      looking,
      lookMs,
      () => lookAfterMemberships(deps, webhooks),
      (error) => log.warn({ err: error }, 'could not look after memberships'),
    ),
    everySoOften(
      comparing,
      askMs,
      () => reconcileHourly(deps, webhooks, async () => !stopping && (await comparing.acquire())),
      (error) => log.warn({ err: error }, 'could not compare memberships with Stripe'),
    ),
  ];
  return async () => {
    stopping = true;
    await Promise.all(stops.map((stop) => stop()));
  };
}

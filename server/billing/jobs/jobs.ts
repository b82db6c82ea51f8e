import { hourMs, minuteMs } from '../../shared/index.ts';
import { createLease, runPeriodically } from '../../store/index.ts';
import type { BillingDeps } from '../deps.ts';
import type { StripeWebhooks } from '../webhooks/stripe-webhooks.ts';
import { reconcileDaily } from './comparison.ts';
import { runMaintenance } from './maintenance.ts';

const lookMs = minuteMs;
/** How often the daily job checks the time, which counts across restarts. */
const askMs = 5 * minuteMs;
/**
 * Runs the jobs in one process at a time: small ones every minute, the comparison every day. Returns the function that
 * stops them.
 */
export function startBillingJobs(deps: BillingDeps, webhooks: StripeWebhooks): () => Promise<void> {
  const { database, log } = deps;
  let stopping = false;
  // By the machine's clock: a sandbox that advances time must not let two processes run.
  const looking = createLease(database, 'memberships', { ttlMs: 10 * minuteMs, now: Date.now });
  const comparing = createLease(database, 'memberships compared', { ttlMs: 2 * hourMs, now: Date.now });
  const stops = [
    runPeriodically(looking, {
      everyMs: lookMs,
      run: () => runMaintenance(deps, webhooks),
      onError: (error) => log.warn({ err: error }, 'membership job failed'),
    }),
    runPeriodically(comparing, {
      everyMs: askMs,
      run: () => reconcileDaily(deps, async () => !stopping && (await comparing.acquire())),
      onError: (error) => log.warn({ err: error }, 'could not compare memberships with Stripe'),
    }),
  ];
  return async () => {
    stopping = true;
    await Promise.all(stops.map((stop) => stop()));
  };
}

import { hourMs, minuteMs } from '../../shared/index.ts';
import { createLease, runPeriodically } from '../../store/index.ts';
import type { BillingDeps } from '../deps.ts';
import { type ReconcileOptions, type ReconcileResult, reconcileAll } from '../stripe/reconcile.ts';
import type { StripeWebhooks } from '../webhooks/stripe-webhooks.ts';
import { runMaintenance } from './maintenance.ts';

const lookMs = minuteMs;
/** How often the hourly job checks the time: the hour counts across restarts. */
const askMs = 5 * minuteMs;
const hourKey = 'billing:reconciled';

/** Logs differences that only an operator can repair. */
export async function reconcile(
  deps: BillingDeps,
  webhooks: StripeWebhooks,
  options: ReconcileOptions = {},
): Promise<ReconcileResult> {
  const done = await reconcileAll(deps, webhooks, options);
  const { compared, repaired, left } = done;
  for (const difference of left) deps.log.warn({ act: 'reconcile', ...difference }, 'membership differs from Stripe');
  deps.metrics.reconciled(repaired.length, left.length);
  const counts = { compared, repaired: repaired.length, left: left.length };
  deps.log.info({ act: 'reconcile', ...counts }, 'memberships compared with Stripe');
  return done;
}

/** Compares everything, unless that was done within the hour; failures are tried again in the next run. */
export async function reconcileHourly(
  deps: BillingDeps,
  webhooks: StripeWebhooks,
  shouldContinue: () => Promise<boolean> = async () => true,
): Promise<void> {
  if (!(await deps.kv.setIfAbsent(hourKey, 'begun', hourMs))) return;
  try {
    await reconcile(deps, webhooks, { shouldContinue });
  } catch (error) {
    await deps.kv.delete(hourKey);
    throw error;
  }
}

/**
 * Runs the jobs in one process at a time: small ones every minute, the comparison every hour. Returns the function that
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
      run: () => reconcileHourly(deps, webhooks, async () => !stopping && (await comparing.acquire())),
      onError: (error) => log.warn({ err: error }, 'could not compare memberships with Stripe'),
    }),
  ];
  return async () => {
    stopping = true;
    await Promise.all(stops.map((stop) => stop()));
  };
}

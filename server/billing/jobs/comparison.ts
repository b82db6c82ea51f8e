import { dayMs, hourMs, toUserId, type UserId } from '../../shared/index.ts';
import type { BillingDeps } from '../deps.ts';
import { type ReconcileOptions, type ReconcileResult, reconcileAll } from '../stripe/reconcile.ts';
import { comparisonLeft, comparisonProgress, eventsProgress, findProgress, saveProgress } from './progress-store.ts';

/** Stripe keeps events for 30 days; an older one can only be found by comparing everything. */
const eventsReadableMs = 28 * dayMs;

/**
 * Logs differences that only an operator can repair.
 * @param leftBefore how many an earlier part of this comparison has left
 */
export async function reconcile(
  deps: BillingDeps,
  options: ReconcileOptions = {},
  leftBefore = 0,
): Promise<ReconcileResult> {
  const done = await reconcileAll(deps, options);
  const { compared, repaired, left, isStopped } = done;
  for (const difference of left) deps.log.warn({ act: 'reconcile', ...difference }, 'membership differs from Stripe');
  deps.metrics.reconciled(repaired.length, isStopped ? undefined : leftBefore + left.length);
  const counts = { compared, repaired: repaired.length, left: left.length };
  deps.log.info({ act: 'reconcile', ...counts }, 'memberships compared with Stripe');
  return done;
}

/** Tests whether events may have been missed that Stripe does not list any more; then reads them from now on. */
async function restartEvents(deps: BillingDeps, nowMs: number): Promise<boolean> {
  const { db } = deps.database;
  const events = await findProgress(db, eventsProgress);
  if (events && events.at >= nowMs - eventsReadableMs) return false;
  await saveProgress(db, eventsProgress, { at: nowMs - hourMs, position: null, updatedAt: nowMs });
  return true;
}

/**
 * Compares everything once a day. One that was interrupted goes on after the last compared user, in any process.
 * @param shouldContinue asked after each batch; false: stop, another process has taken over
 * @throws {StripeUnavailableError}
 */
export async function reconcileDaily(
  deps: BillingDeps,
  shouldContinue: () => Promise<boolean> = async () => true,
): Promise<void> {
  const { db } = deps.database;
  const nowMs = deps.now();
  const last = await findProgress(db, comparisonProgress);
  const missed = await restartEvents(deps, nowMs);
  const isUnfinished = last !== undefined && last.position !== null;
  if (last && !isUnfinished && !missed && nowMs - last.at < dayMs) return;
  const at = isUnfinished ? last.at : nowMs;
  const earlier = isUnfinished ? await findProgress(db, comparisonLeft) : undefined;
  const leftBefore = earlier?.at === at ? Number(earlier.position) : 0;
  const save = (position: string | null, left: number) =>
    deps.database.transaction(async (trx) => {
      const updatedAt = deps.now();
      await saveProgress(trx, comparisonProgress, { at, position, updatedAt });
      await saveProgress(trx, comparisonLeft, { at, position: String(left), updatedAt });
    });
  if (!isUnfinished) await save('', 0);
  const after = toUserId(last?.position ?? '');
  const onBatch = async (user: UserId, left: number) => {
    await save(user, leftBefore + left);
    return shouldContinue();
  };
  const { isStopped, left } = await reconcile(deps, { after, onBatch }, leftBefore);
  if (!isStopped) await save(null, leftBefore + left.length);
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { UserId } from '../shared/index.ts';
import { createLease, type Database, isLeaseHeld } from '../store/index.ts';
import type { PaymentProgress } from './payment-progress.ts';
import { StripeUnavailableError } from './results.ts';

/** Expiry of the lock after a crash of its process. */
const heldMs = 10_000;
const renewedMs = 3_000;
const patienceMs = 15_000;
const pauseMs = 100;
/** More parallel actions are not a user's: each waiting one polls the database. */
const maxAtOnce = 12;

const atOnce = new Map<string, number>();

/** By the user: resolves when none of their actions runs in this process. */
const idle = new Map<string, PromiseWithResolvers<void>>();
/** An action takes longer only while Stripe is slow. */
const idleWithinMs = 5_000;

/**
 * Waits for the actions of a user in this process: an action reads Stripe at its end, so that a read meanwhile would only
 * repeat that, or make it repeat.
 */
export async function untilIdle(userId: UserId): Promise<void> {
  const running = idle.get(userId);
  if (!running) return;
  await endsWithin(running.promise, idleWithinMs);
}

/** @returns whether the work has ended, well or not, within this time */
export async function endsWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const patience = new AbortController();
  const tooLate = sleep(Math.max(0, ms), false, { signal: patience.signal }).catch(() => false);
  const end = () => true;
  const isEnded = await Promise.race([work.then(end, end), tooLate]);
  patience.abort();
  return isEnded;
}

export function createPaymentProgress(
  database: Database,
): PaymentProgress & { run<T>(userId: UserId, work: () => Promise<T>): Promise<T> } {
  const payments = new Set<{ userId: UserId; end: Promise<unknown> }>();
  const find = (userId?: UserId) => [...payments].filter((one) => userId === undefined || one.userId === userId);
  return {
    async run(userId, work) {
      const running = work();
      const payment = { userId, end: running };
      payments.add(payment);
      try {
        return await running;
      } finally {
        payments.delete(payment);
      }
    },
    async isPaying(userId, where) {
      if (find(userId).length > 0) return true;
      return where === 'everywhere' && isLeaseHeld(database, leaseName(userId), Date.now());
    },
    untilPaid: (withinMs, userId) => endsWithin(Promise.allSettled(find(userId).map(({ end }) => end)), withinMs),
  };
}

const leaseName = (userId: UserId): string => `billing:${userId}`;

/**
 * One action on a user's payments at a time, in all processes: two tabs, a double click, or a change of mind during a
 * charge run one after the other.
 * @throws {StripeUnavailableError} if the earlier action takes too long, or too many wait
 */
export async function withUserLock<T>(database: Database, userId: UserId, act: () => Promise<T>): Promise<T> {
  const others = atOnce.get(userId) ?? 0;
  if (others >= maxAtOnce) throw new StripeUnavailableError('too many acts of this member at once');
  atOnce.set(userId, others + 1);
  if (others === 0) idle.set(userId, Promise.withResolvers());
  try {
    return await runInTurn(database, userId, act);
  } finally {
    const left = (atOnce.get(userId) ?? 1) - 1;
    if (left > 0) atOnce.set(userId, left);
    else {
      atOnce.delete(userId);
      idle.get(userId)?.resolve();
      idle.delete(userId);
    }
  }
}

async function runInTurn<T>(database: Database, userId: UserId, act: () => Promise<T>): Promise<T> {
  // By the machine's clock: a test that moves the product's must not open the lock.
  const lease = createLease(database, leaseName(userId), { ttlMs: heldMs, now: Date.now });
  const until = Date.now() + patienceMs;
  while (!(await lease.acquire())) {
    if (Date.now() > until) throw new StripeUnavailableError('another act of this member takes too long');
    await sleep(pauseMs);
  }
  let renewal: Promise<unknown> = Promise.resolve();
  const renewing = setInterval(() => {
    renewal = lease.acquire().catch(() => {});
  }, renewedMs);
  try {
    return await act();
  } finally {
    clearInterval(renewing);
    // A renewal after the release would hold the lock without an owner.
    await renewal;
    await lease.release();
  }
}

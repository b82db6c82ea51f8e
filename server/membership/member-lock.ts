import { setTimeout as sleep } from 'node:timers/promises';
import { createLease, type Database } from '../store/index.ts';
import { BillingUnavailable } from './results.ts';

/** A process that died holding it is waited for no longer than this. */
const heldMs = 10_000;
const renewedMs = 3_000;
const patienceMs = 15_000;
const pauseMs = 100;

/**
 * One act on a member's money at a time, in all processes: two tabs, a double click, or a change of mind while a card is being
 * charged come one after the other.
 * @throws {BillingUnavailable} when the act before takes too long
 */
export async function oneAtATime<T>(database: Database, userId: string, act: () => Promise<T>): Promise<T> {
  // By the machine's clock: a test that moves the product's must not let anybody in.
  const lease = createLease(database, `billing:${userId}`, heldMs, Date.now);
  const until = Date.now() + patienceMs;
  while (!(await lease.acquire())) {
    if (Date.now() > until) throw new BillingUnavailable('another act of this member takes too long');
    await sleep(pauseMs);
  }
  const renewing = setInterval(() => void lease.acquire().catch(() => {}), renewedMs);
  try {
    return await act();
  } finally {
    clearInterval(renewing);
    await lease.release();
  }
}

import type { MessageChannel, Metrics } from '../shared/index.ts';
import type { Db, SecretBox } from '../store/index.ts';
import { PermanentDeliveryError, toFailureReason } from './carrier.ts';
import type { DeliverMessage } from './deliver-message.ts';
import { openMessage } from './outbox.ts';
import { beginAttempt, type DueMessage, markDead, markDelivered, markFailed } from './outbox-store.ts';
import { retryDelay } from './retry-delay.ts';

export interface DeliveryAttemptSettings {
  box: SecretBox;
  deliver: DeliverMessage;
  metrics: Metrics;
  log: { warn(fields: object, message: string): void; error(fields: object, message: string): void };
  now: () => number;
}

interface Settings extends DeliveryAttemptSettings {
  db: Db;
  random: () => number;
  /** Limit of one delivery. */
  deliveryMs: number;
  /** Whether this process may still deliver. */
  works: () => boolean;
}

interface DueItem {
  channel: MessageChannel;
  row: DueMessage;
}

interface Failure {
  error: unknown;
  /** Until the retry; undefined if there is none. */
  waitMs: number | undefined;
  beganMs: number;
}

/**
 * Makes the function that delivers one message and writes the result.
 * @returns that function; it resolves with whether the message was delivered now
 */
export function createDeliveryAttempts(settings: Settings): (item: DueItem) => Promise<boolean> {
  const { db, box, deliver, metrics, log, now, random, deliveryMs, works } = settings;
  /** Delivered, but the store was unavailable when that should have been written. */
  const unmarked = new Set<string>();

  async function writeDelivered(id: string): Promise<void> {
    await markDelivered(db, id, now());
    unmarked.delete(id);
  }

  function report({ channel, row }: DueItem, result: 'delivered' | 'failed' | 'dead', beganMs = performance.now()) {
    if (row.decoy === 1) return;
    metrics.messageTried({ channel, template: row.template, result, durationMs: performance.now() - beganMs });
  }

  async function giveUp(item: DueItem, cause: { reason: string; wipe: boolean }, beganMs?: number): Promise<void> {
    const { id, template } = item.row;
    await markDead(db, id, { ...cause, nowMs: now() });
    report(item, 'dead', beganMs);
    const { channel } = item;
    log.error({ message: id, channel, template, reason: cause.reason }, 'message delivery failed permanently');
  }

  async function handleFailure(item: DueItem, { error, waitMs, beganMs }: Failure): Promise<void> {
    const { channel, row } = item;
    const { id, template } = row;
    if (row.decoy === 1) return writeDelivered(id);
    const reason = toFailureReason(error);
    if (error instanceof PermanentDeliveryError || waitMs === undefined) {
      return giveUp(item, { reason, wipe: false }, beganMs);
    }
    await markFailed(db, id, { reason, nextAttemptAt: now() + waitMs });
    report(item, 'failed', beganMs);
    log.warn(
      { message: id, channel, template, reason, attempt: row.attempts + 1 },
      'message delivery failed, will be retried',
    );
  }

  /** A message that needs no attempt: it has been delivered already, or has expired. */
  async function settleWithoutAttempt(item: DueItem): Promise<boolean> {
    const { id, expiresAt, decoy } = item.row;
    const isExpired = expiresAt !== null && expiresAt <= now();
    if (unmarked.has(id) || (isExpired && decoy === 1)) await writeDelivered(id);
    else if (isExpired) await giveUp(item, { reason: 'expired', wipe: true });
    else return false;
    return true;
  }

  return async (item) => {
    const { row } = item;
    // It may have been found just before the stop, or under a lease that has expired since.
    if (!works() || (await settleWithoutAttempt(item))) return false;
    const waitMs = retryDelay(row.attempts + 1, random());
    if (!(await beginAttempt(db, row, now() + (waitMs ?? 0)))) return false;
    const beganMs = performance.now();
    try {
      const message = openMessage(box, row.id, row.sealedPayload);
      await within(deliveryMs, deliver(message, row));
    } catch (error) {
      await handleFailure(item, { error, waitMs, beganMs });
      return false;
    }
    unmarked.add(row.id);
    report(item, 'delivered', beganMs);
    await writeDelivered(row.id);
    return true;
  };
}

/** @throws {Error} if it takes longer; the work itself may still complete, unseen */
async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let limit: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    limit = setTimeout(() => reject(new Error(`no answer within ${ms / 1000} seconds`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(limit);
  }
}

import type { Metrics } from '../metrics/index.ts';
import { createLease, type Database, type SecretBox, StoreUnavailable } from '../store/index.ts';
import { createBatchRunner } from './batch-runner.ts';
import { PermanentDeliveryError, toFailureReason } from './carrier.ts';
import { channels, type DeliverMessage } from './deliver-message.ts';
import { sweepNotifications } from './notification-store.ts';
import { openMessage } from './outbox.ts';
import {
  beginAttempt,
  countQueued,
  type DueMessage,
  dueMessages,
  markDead,
  markDelivered,
  markFailed,
  sweepOutbox,
} from './outbox-store.ts';
import { retryDelay } from './retry-delay.ts';

export interface OutboxWorker {
  /** Works from now on, whenever this process holds the lease. */
  start(): void;
  /**
   * A transaction with a message was committed. In a process without the lease, the next turn of the worker finds it.
   */
  wake(): void;
  /**
   * One manual turn: takes the lease if it is free, and delivers what is due.
   * @returns the number of attempted deliveries
   */
  turn(): Promise<number>;
  /** Starts nothing new, and waits for deliveries in progress; the next worker repeats unfinished ones. */
  stop(): Promise<void>;
}

export interface OutboxWorkerSettings {
  database: Database;
  box: SecretBox;
  deliver: DeliverMessage;
  metrics: Metrics;
  log: { warn(fields: object, message: string): void; error(fields: object, message: string): void };
  now: () => number;
  random?: () => number;
  timing?: Partial<Timing>;
  /** Parallel deliveries of one channel. */
  atOnce?: number;
}

interface Timing {
  /** Time between two looks at the outbox. */
  turnMs: number;
  /** How long after a crash another process takes over. */
  leaseMs: number;
  /** Time between two renewals; longer than a turn, because each is a write. */
  leaseEveryMs: number;
  /** Limit of one delivery. Carriers have shorter limits of their own; this one is for those that hang nevertheless. */
  deliveryMs: number;
  /** How long `stop` waits. */
  stopMs: number;
  sweepMs: number;
}

const usual: Timing = {
  turnMs: 1_000,
  leaseMs: 10_000,
  leaseEveryMs: 3_000,
  deliveryMs: 20_000,
  stopMs: 6_000,
  sweepMs: 10 * 60_000,
};

export function createOutboxWorker({
  database,
  box,
  deliver,
  metrics,
  log,
  now,
  random = Math.random,
  timing = {},
  atOnce = 8,
}: OutboxWorkerSettings): OutboxWorker {
  const { db } = database;
  const { turnMs, leaseMs, leaseEveryMs, deliveryMs, stopMs, sweepMs } = { ...usual, ...timing };
  const lease = createLease(database, 'outbox', { ttlMs: leaseMs, now });
  /** Delivered, but the store was unavailable when that should have been written. */
  const unmarked = new Set<string>();
  let heldUntil = 0;
  let nextAcquireAt = 0;
  let nextSweepAt = 0;
  let stopping = false;

  const works = () => !stopping && now() < heldUntil;

  async function hold(): Promise<boolean> {
    const askedAt = now();
    if (askedAt >= nextAcquireAt) {
      nextAcquireAt = askedAt + leaseEveryMs;
      const held = await lease.acquire();
      // A little shorter than the other processes see.
      heldUntil = held ? askedAt + leaseMs * 0.9 : 0;
      if (!held) metrics.messagesWaiting(0, 0);
    }
    return works();
  }

  async function letGo(): Promise<void> {
    if (heldUntil === 0) return;
    heldUntil = 0;
    await lease.release();
  }

  const lanes = channels.map((channel) => {
    const lane = createBatchRunner<DueMessage>({
      atOnce,
      nextItems: async (limit, except) => (works() ? dueMessages(db, { channel, nowMs: now(), limit, except }) : []),
      act: (row) => attempt(channel, row).catch((error: unknown) => storeTrouble(error, row.id)),
    });
    return { channel, lane };
  });

  function storeTrouble(error: unknown, id?: string): void {
    const why = error instanceof StoreUnavailable ? 'warn' : 'error';
    log[why]({ err: error, ...(id !== undefined && { message: id }) }, 'the outbox could not be worked');
  }

  async function attempt(channel: (typeof channels)[number], row: DueMessage): Promise<void> {
    const { id, template } = row;
    // It may have been found just before the stop, or under a lease that has expired since.
    if (!works()) return;
    if (unmarked.has(id)) return delivered(id);
    const reportAttempt = (result: 'delivered' | 'failed' | 'dead', beganMs = performance.now()) => {
      if (row.decoy === 0) metrics.messageTried({ channel, template, result, durationMs: performance.now() - beganMs });
    };
    const giveUp = async (reason: string, wipe: boolean, beganMs?: number) => {
      await markDead(db, id, { reason, nowMs: now(), wipe });
      reportAttempt('dead', beganMs);
      log.error({ message: id, channel, template, reason }, 'message delivery failed permanently');
    };
    if (row.expires_at !== null && row.expires_at <= now()) {
      return row.decoy === 1 ? delivered(id) : giveUp('expired', true);
    }
    const wait = retryDelay(row.attempts + 1, random());
    if (!(await beginAttempt(db, row, now() + (wait ?? 0)))) return;
    const beganMs = performance.now();
    try {
      const message = openMessage(box, id, row.sealed_payload);
      await within(deliveryMs, deliver(message, row));
    } catch (error) {
      if (row.decoy === 1) return delivered(id);
      const reason = toFailureReason(error);
      if (error instanceof PermanentDeliveryError || wait === undefined) return giveUp(reason, false, beganMs);
      await markFailed(db, id, { reason, nextAttemptAt: now() + wait });
      reportAttempt('failed', beganMs);
      log.warn(
        { message: id, channel, template, reason, attempt: row.attempts + 1 },
        'message delivery failed, will be retried',
      );
      return;
    }
    unmarked.add(id);
    reportAttempt('delivered', beganMs);
    await delivered(id);
    // The next of a group may use another channel.
    if (row.group_id !== null) for (const { channel: other, lane } of lanes) if (other !== channel) run(lane);
  }

  async function delivered(id: string): Promise<void> {
    await markDelivered(db, id, now());
    unmarked.delete(id);
  }

  const run = (lane: { run(): Promise<number> }) => void lane.run().catch(storeTrouble);

  async function lookAfter(): Promise<void> {
    if (now() >= nextSweepAt) {
      nextSweepAt = now() + sweepMs;
      await sweepOutbox(db, now());
      await sweepNotifications(db, now());
    }
    if (!metrics.on) return;
    const { count, since } = await countQueued(db);
    metrics.messagesWaiting(count, since === null ? 0 : Math.max(0, now() - since));
  }

  let timer: NodeJS.Timeout | undefined;
  let turning: Promise<void> | undefined;

  async function tick(): Promise<void> {
    if (!(await hold())) return;
    for (const { lane } of lanes) run(lane);
    await lookAfter();
  }

  function beginTick(): void {
    turning ??= tick()
      .catch(storeTrouble)
      .finally(() => {
        turning = undefined;
      });
  }

  return {
    start() {
      if (timer || stopping) return;
      timer = setInterval(beginTick, turnMs);
      timer.unref();
      beginTick();
    },
    wake() {
      if (timer && works()) for (const { lane } of lanes) run(lane);
    },
    async turn() {
      nextAcquireAt = 0;
      if (!(await hold())) return 0;
      let tried = 0;
      for (let more = true; more && works(); ) {
        const counts = await Promise.all(lanes.map(({ lane }) => lane.run()));
        const sum = counts.reduce((total, count) => total + count, 0);
        tried += sum;
        more = sum > 0;
      }
      if (!timer) await letGo();
      return tried;
    },
    async stop() {
      clearInterval(timer);
      stopping = true;
      const over = Promise.all([turning, ...lanes.map(({ lane }) => lane.run().catch(() => 0))]);
      await Promise.race([over, sleep(stopMs)]);
      metrics.messagesWaiting(0, 0);
      await letGo().catch(() => {});
    },
  };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
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

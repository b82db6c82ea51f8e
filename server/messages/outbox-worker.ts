import { createLease, type Database, StoreUnavailable } from '../store/index.ts';
import { type BatchRunner, createBatchRunner } from './batch-runner.ts';
import { channels } from './deliver-message.ts';
import { createDeliveryAttempts, type DeliveryAttemptSettings } from './delivery-attempts.ts';
import { sweepNotifications } from './notification-store.ts';
import { createOutboxLease } from './outbox-lease.ts';
import { countQueued, type DueMessage, dueMessages, sweepOutbox } from './outbox-store.ts';

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

export interface OutboxWorkerSettings extends DeliveryAttemptSettings {
  database: Database;
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

/** Makes the function that sweeps old rows now and then, and reports the waiting messages. */
function createUpkeep({ database: { db }, metrics, now }: OutboxWorkerSettings, sweepMs: number): () => Promise<void> {
  let nextSweepAt = 0;
  return async () => {
    if (now() >= nextSweepAt) {
      nextSweepAt = now() + sweepMs;
      await sweepOutbox(db, now());
      await sweepNotifications(db, now());
    }
    if (!metrics.on) return;
    const { count, since } = await countQueued(db);
    metrics.messagesWaiting(count, since === null ? 0 : Math.max(0, now() - since));
  };
}

/** Delivers until nothing is due. @returns the number of attempted deliveries */
async function deliverAll(lanes: readonly BatchRunner[], works: () => boolean): Promise<number> {
  let tried = 0;
  for (let more = true; more && works(); ) {
    const counts = await Promise.all(lanes.map((lane) => lane.run()));
    const sum = counts.reduce((total, count) => total + count, 0);
    tried += sum;
    more = sum > 0;
  }
  return tried;
}

export function createOutboxWorker(settings: OutboxWorkerSettings): OutboxWorker {
  const { database, metrics, log, now, random = Math.random, timing = {}, atOnce = 8 } = settings;
  const { db } = database;
  const { turnMs, leaseMs, leaseEveryMs, deliveryMs, stopMs, sweepMs } = { ...usual, ...timing };
  const lease = createOutboxLease({
    lease: createLease(database, 'outbox', { ttlMs: leaseMs, now }),
    leaseMs,
    leaseEveryMs,
    now,
    onRefused: () => metrics.messagesWaiting(0, 0),
  });
  let stopping = false;
  const works = () => !stopping && lease.isHeld();
  const attempt = createDeliveryAttempts({ ...settings, db, random, deliveryMs, works });
  const lookAfter = createUpkeep(settings, sweepMs);

  function reportTrouble(error: unknown, id?: string): void {
    const level = error instanceof StoreUnavailable ? 'warn' : 'error';
    log[level]({ err: error, ...(id !== undefined && { message: id }) }, 'the outbox could not be worked');
  }

  const run = (lane: BatchRunner) => void lane.run().catch(reportTrouble);
  const lanes: BatchRunner[] = channels.map((channel) => {
    const lane = createBatchRunner<DueMessage>({
      atOnce,
      nextItems: async (limit, except) => (works() ? dueMessages(db, { channel, nowMs: now(), limit, except }) : []),
      act: (row) => deliver(row).catch((error: unknown) => reportTrouble(error, row.id)),
    });
    async function deliver(row: DueMessage): Promise<void> {
      const isDelivered = await attempt({ channel, row });
      // The next of a group may use another channel.
      if (isDelivered && row.groupId !== null) for (const other of lanes) if (other !== lane) run(other);
    }
    return lane;
  });

  let timer: NodeJS.Timeout | undefined;
  let turning: Promise<void> | undefined;

  async function tick(): Promise<void> {
    if (!(await lease.hold()) || stopping) return;
    lanes.forEach(run);
    await lookAfter();
  }

  function beginTick(): void {
    turning ??= tick()
      .catch(reportTrouble)
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
      if (timer && works()) lanes.forEach(run);
    },
    async turn() {
      if (!(await lease.hold({ atOnce: true })) || stopping) return 0;
      const tried = await deliverAll(lanes, works);
      if (!timer) await lease.release();
      return tried;
    },
    async stop() {
      clearInterval(timer);
      stopping = true;
      const over = Promise.all([turning, ...lanes.map((lane) => lane.run().catch(() => 0))]);
      await Promise.race([over, sleep(stopMs)]);
      metrics.messagesWaiting(0, 0);
      await lease.release().catch(() => {});
    },
  };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}

import { setTimeout as sleep } from 'node:timers/promises';
import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue, type Registry } from 'prom-client';

/** One process's metrics, as they travel between processes. */
type MetricsSnapshot = MetricObjectWithValues<MetricValue<string>>[];

/** How the primary asks a worker, and how a worker answers. */
interface MetricsRequest {
  foyer: 'metrics?';
}
interface MetricsResponse {
  foyer: 'metrics';
  snapshot: MetricsSnapshot;
}

const isQuestion = (message: unknown): message is MetricsRequest =>
  Reflect.get(Object(message), 'foyer') === 'metrics?';
const isAnswer = (message: unknown): message is MetricsResponse => Reflect.get(Object(message), 'foyer') === 'metrics';

/** A worker that is too busy for longer is shown as it was when it last answered. */
const answerLimitMs = 1_000;

/** What the collector needs of a worker: `cluster.Worker` has it. */
export interface WorkerChannel {
  send(message: object, done?: (error: Error | null) => void): boolean;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  once(event: 'disconnect', listener: () => void): unknown;
}

/** What a worker needs of its end: `process` has it. */
export interface PrimaryChannel {
  readonly connected: boolean;
  send?(message: object, handle: undefined, options: undefined, done: (error: Error | null) => void): boolean;
  on(event: 'message', listener: (message: unknown) => void): unknown;
}

/** In a worker: answers the primary. Resolves `last` when the primary has the final count, before the worker ends. */
export function replyToPrimary(registry: Registry, channel: PrimaryChannel = process): { last(): Promise<void> } {
  const send = async () => {
    const answer: MetricsResponse = { foyer: 'metrics', snapshot: await registry.getMetricsAsJSON() };
    await new Promise<void>((resolve) => {
      // Without a primary there is nobody to tell.
      if (!channel.connected || channel.send === undefined) return resolve();
      channel.send(answer, undefined, undefined, () => resolve());
    });
  };
  channel.on('message', (message: unknown) => {
    if (isQuestion(message)) void send();
  });
  return { last: send };
}

/** Only what adds up: a worker that is gone uses no memory any more. */
const lasting = (snapshot: MetricsSnapshot) =>
  // The library types the kind as an enum, and sends its name.
  snapshot.filter(({ type }) => ['counter', 'histogram'].includes(String(type)));

/** Metrics that can be read, in Prometheus's text format. */
export interface CollectedMetrics {
  contentType: string;
  text(): Promise<string>;
}

export interface WorkerCollector extends CollectedMetrics {
  /** To be told of every worker when it is forked. */
  add(worker: WorkerChannel): void;
}

/**
 * In the primary: adds up what its workers count. The library's own collector forgets what a worker has counted when that
 * worker ends, which a Prometheus takes for a restart of everything and counts the others' past again; here counts of
 * those that have ended stay in the sum. A worker killed at once loses what it counted since it was last asked.
 */
export function createWorkerCollector(): WorkerCollector {
  const latest = new Map<WorkerChannel, MetricsSnapshot>();
  const waiting = new Map<WorkerChannel, Set<() => void>>();
  let ended: Promise<MetricsSnapshot> = Promise.resolve([]);

  function ask(worker: WorkerChannel): Promise<void> {
    return new Promise((resolve) => {
      waiting.get(worker)?.add(resolve);
      worker.send({ foyer: 'metrics?' } satisfies MetricsRequest, (error) => error && resolve());
    });
  }

  function release(worker: WorkerChannel): void {
    for (const resolve of waiting.get(worker) ?? []) resolve();
    waiting.get(worker)?.clear();
  }

  return {
    contentType: AggregatorRegistry.PROMETHEUS_CONTENT_TYPE,
    add(worker) {
      waiting.set(worker, new Set());
      worker.on('message', (message) => {
        if (!isAnswer(message)) return;
        latest.set(worker, message.snapshot);
        release(worker);
      });
      // After it nothing can come from the worker any more; its exit may be told before its last message.
      worker.once('disconnect', () => {
        const last = latest.get(worker);
        latest.delete(worker);
        release(worker);
        waiting.delete(worker);
        if (last) ended = ended.then((sum) => AggregatorRegistry.aggregate([sum, lasting(last)]).getMetricsAsJSON());
      });
    },
    async text() {
      const limit = new AbortController();
      const timeUp = sleep(answerLimitMs, undefined, { signal: limit.signal }).catch(() => {});
      await Promise.race([Promise.all([...waiting.keys()].map(ask)), timeUp]);
      limit.abort();
      return AggregatorRegistry.aggregate([await ended, ...latest.values()]).metrics();
    },
  };
}

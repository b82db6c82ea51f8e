import { setTimeout as sleep } from 'node:timers/promises';
import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue, type Registry } from 'prom-client';

/** One process's metrics, in the form that is sent between processes. */
type MetricsSnapshot = MetricObjectWithValues<MetricValue<string>>[];

/** The messages between primary and worker. */
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

/** For a worker that does not answer in this time, its last answer counts. */
const answerLimitMs = 1_000;

/** The part of `cluster.Worker` that the collector needs. */
export interface WorkerChannel {
  send(message: object, done?: (error: Error | null) => void): boolean;
  on(event: 'message', listener: (message: unknown) => void): unknown;
  once(event: 'disconnect', listener: () => void): unknown;
}

/** The part of `process` that a worker needs. */
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
      // Without a primary there is no receiver.
      if (!channel.connected || channel.send === undefined) return resolve();
      channel.send(answer, undefined, undefined, () => resolve());
    });
  };
  channel.on('message', (message: unknown) => {
    if (isQuestion(message)) void send();
  });
  return { last: send };
}

/** Only counts: a worker that has ended uses no memory any more. */
const lasting = (snapshot: MetricsSnapshot) =>
  // The library types the kind as an enum, and sends its name.
  snapshot.filter(({ type }) => ['counter', 'histogram'].includes(String(type)));

/** Metrics that can be read, in Prometheus's text format. */
export interface CollectedMetrics {
  contentType: string;
  text(): Promise<string>;
}

export interface WorkerCollector extends CollectedMetrics {
  /** Must be called for every forked worker. */
  add(worker: WorkerChannel): void;
}

/**
 * In the primary: adds the counts of its workers. The library's own collector drops the counts of a worker when it
 * ends, which Prometheus takes for a restart and counts the past of the others again; here the counts of ended workers
 * stay in the sum. A killed worker loses its counts since the last request.
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
      // No message can follow it; the exit event may precede the last message.
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

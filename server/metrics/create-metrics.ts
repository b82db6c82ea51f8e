import { type Metrics, noMetrics } from '../shared/index.ts';
import type { CollectedMetrics, WorkerCollector } from './workers.ts';

/** The metrics of the process, and their reader; without METRICS_PORT there is no reader. */
export interface OpenMetrics extends Metrics {
  /** The counts of this process. */
  local?: CollectedMetrics;
  /** In a worker: answers the primary's requests from now on; `last` sends the final counts. */
  answerPrimary?(): { last(): Promise<void> };
}

/** @param port METRICS_PORT; undefined counts nothing and does not load the library */
export async function createMetrics(port: number | undefined): Promise<OpenMetrics> {
  if (port === undefined) return noMetrics;
  const [{ createPrometheusMetrics }, { replyToPrimary }] = await Promise.all([
    import('./prometheus.ts'),
    import('./workers.ts'),
  ]);
  const { registry, ...metrics } = createPrometheusMetrics();
  return {
    ...metrics,
    local: { contentType: registry.contentType, text: () => registry.metrics() },
    answerPrimary: () => replyToPrimary(registry),
  };
}

/** In the primary of several processes: the sum of its workers. */
export async function createCollector(): Promise<WorkerCollector> {
  const { createWorkerCollector } = await import('./workers.ts');
  return createWorkerCollector();
}

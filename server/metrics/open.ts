import { type Metrics, noMetrics } from './metrics.ts';
import type { Collected, WorkerCollector } from './workers.ts';

/** Where the process reports, and how that is read; without METRICS_PORT nobody reads. */
export interface OpenMetrics extends Metrics {
  /** What this process counts. */
  own?: Collected;
  /** In a worker: answers the primary's questions from now on; `last` hands it the final counts. */
  answerPrimary?(): { last(): Promise<void> };
}

/** @param port METRICS_PORT; undefined counts nothing and does not load the library */
export async function openMetrics(port: number | undefined): Promise<OpenMetrics> {
  if (port === undefined) return noMetrics;
  const [{ createPrometheusMetrics }, { answerPrimary }] = await Promise.all([
    import('./prometheus.ts'),
    import('./workers.ts'),
  ]);
  const { registry, ...metrics } = createPrometheusMetrics();
  return {
    ...metrics,
    own: { contentType: registry.contentType, text: () => registry.metrics() },
    answerPrimary: () => answerPrimary(registry),
  };
}

/** In the primary of several processes: the sum of its workers. */
export async function openCollector(): Promise<WorkerCollector> {
  const { collectFromWorkers } = await import('./workers.ts');
  return collectFromWorkers();
}

/**
 * The module of metrics: counts, times and states for Prometheus (text format 0.0.4).
 * Owns the metrics' names, their labels, and the sum over several processes. Does not own when an event is counted:
 * each module reports its own events through `Metrics` (shared/), and none of them knows the library, which is loaded
 * only with METRICS_PORT.
 */

export { createCollector, createMetrics, type OpenMetrics } from './create-metrics.ts';
export { metricsEndpoint } from './endpoint.ts';
export type { CollectedMetrics, WorkerCollector } from './workers.ts';

/**
 * What the operator sees from outside: counts, times and states for Prometheus (text format 0.0.4).
 *
 * Owns the metrics' names, their labels, and how those of several processes become one. Does not own when something is
 * counted: each room reports its own acts through `Metrics`, and none of them knows the library. That is loaded only when
 * METRICS_PORT is set.
 */

export { createCollector, createMetrics, type OpenMetrics } from './create-metrics.ts';
export { metricsEndpoint } from './endpoint.ts';
export {
  type ClientType,
  type GuessLimit,
  type IssuedKind,
  type MessageAttempt,
  type MessageChannel,
  type Metrics,
  noMetrics,
} from './metrics.ts';
export type { CollectedMetrics, WorkerChannel, WorkerCollector } from './workers.ts';

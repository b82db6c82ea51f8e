/**
 * The module of the process: its start, readiness, shutdown and worker processes.
 * Owns signals, ports and the cluster. Does not own the served application: that is `app.ts`.
 */

export { listen } from './listen.ts';
export { announceReady, prepare, requireMigrations } from './prepare-start.ts';
export { serve } from './serve.ts';
export { serveMetrics } from './serve-metrics.ts';
export { toStartError } from './start-error.ts';
export { isOrder, startWorkers } from './workers.ts';

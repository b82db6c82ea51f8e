import type { Server } from 'node:http';
import type { Deps } from '../deps.ts';
import { type CollectedMetrics, metricsEndpoint } from '../metrics/index.ts';
import { listen } from './listen.ts';

/** Opens the operator's port for metrics; undefined if there is none. @throws {StartError} if it is in use */
export async function serveMetrics(
  { config, log }: Pick<Deps, 'config' | 'log'>,
  source: CollectedMetrics | undefined,
): Promise<Server | undefined> {
  if (config.METRICS_PORT === undefined || !source) return undefined;
  const endpoint = metricsEndpoint(source, (error) => log.error({ err: error }, 'could not collect the metrics'));
  const variables = { port: 'METRICS_PORT', host: 'METRICS_HOST' };
  return listen(endpoint, { port: config.METRICS_PORT, host: config.METRICS_HOST, variables });
}

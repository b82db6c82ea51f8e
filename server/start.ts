import cluster from 'node:cluster';
import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { misspelt } from '../config/misspelt.ts';
import { createDeps, type Deps } from './deps.ts';
import { createCollector } from './metrics/index.ts';
import {
  announceReady,
  isOrder,
  prepare,
  serve,
  serveMetrics,
  serveSandbox,
  startWorkers,
  toStartError,
} from './process/index.ts';

/** Between saying so and refusing connections: what asks /readyz does so every second or more. */
const announceMs = 1_000;

/** Ends the process when `stop` has done its work, at the first of the signals. */
function stopOn(signals: readonly NodeJS.Signals[], deps: Deps, stop: () => Promise<void>): void {
  let stopping = false;
  const begin = () => {
    if (stopping) return;
    stopping = true;
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        deps.log.error({ err: error }, 'could not stop cleanly');
        process.exit(1);
      },
    );
  };
  for (const signal of signals) process.on(signal, begin);
}

const say = (line: string) => console.log(line);

function close(...servers: (Server | undefined)[]): void {
  for (const server of servers) {
    server?.close();
    server?.closeAllConnections();
  }
}

/** One process that does everything. */
async function startAlone(deps: Deps): Promise<void> {
  await prepare(deps, say);
  const sandbox = await serveSandbox(deps);
  const serving = await serve(deps);
  await sandbox?.foyerServes();
  const metrics = await serveMetrics(deps, deps.metrics.local);
  announceReady(deps, say);
  stopOn(['SIGINT', 'SIGTERM', 'SIGHUP'], deps, async () => {
    const { production } = deps.config;
    serving.announce();
    if (production) await sleep(announceMs);
    await serving.stop({ keepIdle: production });
    await sandbox?.close();
    close(metrics);
  });
}

/** The process that keeps the workers alive; it serves nothing but the metrics and what the sandbox has beside Foyer. */
async function startPrimary(deps: Deps): Promise<void> {
  await prepare(deps, say);
  await Promise.all([deps.kv.close(), deps.database.close()]);
  const sandbox = await serveSandbox(deps);
  const collector = deps.config.METRICS_PORT === undefined ? undefined : await createCollector();
  const metrics = await serveMetrics(deps, collector);
  const workers = await startWorkers(deps.config.WEB_CONCURRENCY, deps.log, (worker) => collector?.add(worker));
  await sandbox?.foyerServes();
  announceReady(deps, say);
  process.on('SIGHUP', () => {
    workers
      .reload()
      .catch((error: unknown) =>
        deps.log.error({ err: error }, 'the reload has stopped: the workers that were not replaced go on'),
      );
  });
  stopOn(['SIGINT', 'SIGTERM'], deps, async () => {
    const { production } = deps.config;
    workers.announce();
    if (production) await sleep(announceMs);
    await workers.stop(production ? 'drain' : 'stop');
    await sandbox?.close();
    close(metrics);
  });
  const error = await workers.failed;
  await workers.stop('stop');
  throw error;
}

/** One of several; the primary tells it when to end, and Node ends it at once when the primary is gone. */
async function startWorker(deps: Deps): Promise<void> {
  const counts = deps.metrics.answerPrimary?.();
  const serving = await serve(deps);
  // A terminal sends its signals to the whole group: the primary decides.
  process.on('SIGINT', () => {});
  process.on('SIGHUP', () => {});
  let keepIdle = deps.config.production;
  process.on('message', (message: unknown) => {
    if (!isOrder(message)) return;
    if (message === 'announce') return serving.announce();
    keepIdle = message === 'drain';
    process.kill(process.pid, 'SIGTERM');
  });
  stopOn(['SIGTERM'], deps, async () => {
    await serving.stop({ keepIdle });
    await counts?.last();
  });
}

/** A misspelt variable is not read, and its default holds without a word. */
function warnOfMisspelt({ log }: Deps): void {
  const variables = misspelt(process.env).map(({ name, meant }) => `${name}: did you mean ${meant}?`);
  if (variables.length > 0) log.warn({ variables }, 'unknown environment variables resemble those of Foyer');
}

/** The server process: starts, and stops on SIGINT and SIGTERM. */
export async function start(): Promise<void> {
  try {
    const deps = await createDeps(process.env);
    if (!cluster.isWorker) warnOfMisspelt(deps);
    if (cluster.isWorker) await startWorker(deps);
    else if (deps.config.WEB_CONCURRENCY > 1) await startPrimary(deps);
    else await startAlone(deps);
  } catch (error) {
    console.error(toStartError(error));
    process.exit(1);
  }
}

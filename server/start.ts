import cluster from 'node:cluster';
import type { Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { misspelt } from '../config/misspelt.ts';
import { createRedactor, listSecrets } from '../config/redact.ts';
import { checkMailService, checkTextService } from './carriers.ts';
import type { Companion, RunningCompanion } from './companion.ts';
import { createDeps, type Deps } from './deps.ts';
import type { Extensions } from './extensions.ts';
import { createCollector } from './metrics/index.ts';
import {
  announceReady,
  isOrder,
  prepare,
  requireMigrations,
  serve,
  serveMetrics,
  startWorkers,
  toStartError,
} from './process/index.ts';

/** Time between the announcement and refusing connections: a load balancer reads /readyz every second or more often. */
const announceMs = 1_000;

/** Ends the process after `stop`, at the first of the signals. */
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

interface Start {
  deps: Deps;
  extensions: Extensions;
  companion?: Companion | undefined;
}

/** Serves the companion, if the sandbox is on. */
const serveCompanion = async ({ deps, companion }: Start): Promise<RunningCompanion | undefined> =>
  deps.config.SANDBOX ? companion?.serve(deps) : undefined;

/** One process that does everything. */
async function startAlone(start: Start): Promise<void> {
  const { deps, extensions, companion } = start;
  await prepare(deps, say, companion);
  const beside = await serveCompanion(start);
  const serving = await serve(deps, extensions);
  await beside?.foyerServes();
  const metrics = await serveMetrics(deps, deps.metrics.local);
  announceReady(deps, say, companion);
  // The end of a developer's terminal; a service has none, and is told to read its files again.
  const ofTerminal = !deps.config.production && process.stdin.isTTY;
  if (!ofTerminal) process.on('SIGHUP', serving.reload);
  stopOn(['SIGINT', 'SIGTERM', ...(ofTerminal ? (['SIGHUP'] as const) : [])], deps, async () => {
    const { production } = deps.config;
    serving.announce();
    if (production) await sleep(announceMs);
    await serving.stop({ keepIdle: production });
    await beside?.close();
    close(metrics);
  });
}

/** The process that keeps the workers alive; it serves nothing but the metrics and the companion. */
async function startPrimary(start: Start): Promise<void> {
  const { deps, companion } = start;
  await prepare(deps, say, companion);
  await Promise.all([deps.kv.close(), deps.database.close()]);
  const beside = await serveCompanion(start);
  const collector = deps.config.METRICS_PORT === undefined ? undefined : await createCollector();
  const metrics = await serveMetrics(deps, collector);
  const workers = await startWorkers(deps.config.WEB_CONCURRENCY, deps.log, (worker) => collector?.add(worker));
  await beside?.foyerServes();
  announceReady(deps, say, companion);
  process.on('SIGHUP', () => {
    workers
      .reload()
      .catch((error: unknown) =>
        deps.log.error({ err: error }, 'reload stopped: workers that were not replaced continue'),
      );
  });
  stopOn(['SIGINT', 'SIGTERM'], deps, async () => {
    const { production } = deps.config;
    workers.announce();
    if (production) await sleep(announceMs);
    await workers.stop(production ? 'drain' : 'stop');
    await beside?.close();
    close(metrics);
  });
  const error = await workers.failed;
  await workers.stop('stop');
  throw error;
}

/** One of several workers; the primary sends it the message to end, and Node ends it at once if the primary is gone. */
async function startWorker({ deps, extensions }: Start): Promise<void> {
  await requireMigrations(deps);
  const counts = deps.metrics.answerPrimary?.();
  const serving = await serve(deps, extensions);
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

/** A misspelt variable is ignored, and its default applies silently. */
function warnOfMisspelt({ log }: Deps): void {
  const variables = misspelt(process.env).map(({ name, meant }) => `${name}: did you mean ${meant}?`);
  if (variables.length > 0) log.warn({ variables }, 'unknown environment variables resemble those of Foyer');
}

/**
 * Asks the services for messages once whether they accept the credentials. The start does not wait for it: a service
 * that is away must not stop the sign-in.
 */
async function warnOfServices({ config, log }: Deps): Promise<void> {
  if (config.SANDBOX) return;
  const redact = createRedactor(listSecrets(process.env, config.SECRET_KEYS));
  for (const check of [checkMailService, checkTextService]) {
    const found = await check(config);
    if (!found || found.state.kind === 'ready') continue;
    const { kind, why } = found.state;
    log.warn(
      { act: 'message-service', service: found.name, state: kind, reason: redact(why) },
      'messages cannot be sent: see `foyer doctor`',
    );
  }
}

/**
 * The server process: starts, and stops on SIGINT and SIGTERM.
 * @param companion other servers of the process when the sandbox is on
 */
export async function start(companion?: Companion): Promise<void> {
  try {
    const { deps, extensions } = await createDeps(process.env, companion);
    const opened = { deps, extensions, companion };
    if (!cluster.isWorker) {
      warnOfMisspelt(deps);
      warnOfServices(deps).catch((error: unknown) =>
        deps.log.warn({ err: error, act: 'message-service' }, 'could not check the services for messages'),
      );
    }
    if (cluster.isWorker) await startWorker(opened);
    else if (deps.config.WEB_CONCURRENCY > 1) await startPrimary(opened);
    else await startAlone(opened);
  } catch (error) {
    console.error(toStartError(error));
    process.exit(1);
  }
}

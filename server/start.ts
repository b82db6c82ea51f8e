import cluster from 'node:cluster';
import { type Deps, openDeps } from './deps.ts';
import { explain, prepare, sayReady, serve, serveDemoApp, startWorkers } from './process/index.ts';

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

/** One process that does everything. */
async function startAlone(deps: Deps): Promise<void> {
  await prepare(deps, say);
  const serving = await serve(deps);
  const demo = await serveDemoApp(deps);
  sayReady(deps, say);
  stopOn(['SIGINT', 'SIGTERM', 'SIGHUP'], deps, async () => {
    demo?.close();
    demo?.closeAllConnections();
    const { production } = deps.config;
    await serving.stop({ announceMs: production ? announceMs : 0, keepIdle: production });
  });
}

/** The process that keeps the workers alive; it serves nothing but the sandbox's demo app. */
async function startPrimary(deps: Deps): Promise<void> {
  await prepare(deps, say);
  await Promise.all([deps.kv.close(), deps.database.close()]);
  const demo = await serveDemoApp(deps);
  const workers = await startWorkers(deps.config.WEB_CONCURRENCY, deps.log);
  sayReady(deps, say);
  process.on('SIGHUP', () => {
    workers.reload().catch((error: unknown) => deps.log.error({ err: error }, 'could not replace the workers'));
  });
  stopOn(['SIGINT', 'SIGTERM'], deps, async () => {
    demo?.close();
    demo?.closeAllConnections();
    await workers.stop(deps.config.production ? 'drain' : 'stop');
  });
  const error = await workers.failed;
  await workers.stop('stop');
  throw error;
}

/** One of several; the primary tells it when to end, and when the primary is gone it ends too. */
async function startWorker(deps: Deps): Promise<void> {
  const serving = await serve(deps);
  // A terminal sends its signals to the whole group: the primary decides.
  process.on('SIGINT', () => {});
  process.on('SIGHUP', () => {});
  let keepIdle = deps.config.production;
  process.on('message', (message) => {
    keepIdle = message === 'drain';
    process.kill(process.pid, 'SIGTERM');
  });
  process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  stopOn(['SIGTERM'], deps, () => serving.stop({ keepIdle }));
}

/** The server process: starts, and stops on SIGINT and SIGTERM. */
export async function start(): Promise<void> {
  try {
    const deps = await openDeps(process.env);
    if (cluster.isWorker) await startWorker(deps);
    else if (deps.config.WEB_CONCURRENCY > 1) await startPrimary(deps);
    else await startAlone(deps);
  } catch (error) {
    console.error(explain(error));
    process.exit(1);
  }
}

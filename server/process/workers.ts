import cluster, { type Worker } from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../http/index.ts';
import { StartError } from './start-error.ts';

/** How a worker ends: `drain` lets clients send one more request on idle connections, `stop` closes those at once. */
export type StopMode = 'drain' | 'stop';

/** What the primary tells a worker; `announce`: all are about to end, /readyz shall say so. */
export type WorkerCommand = StopMode | 'announce';

export const isOrder = (message: unknown): message is WorkerCommand =>
  message === 'drain' || message === 'stop' || message === 'announce';

export interface Workers {
  /**
   * Replaces every worker by a new one, each old one draining only when its successor serves.
   * @throws {Error} when a successor does not start; those that have not been replaced go on
   */
  reload(): Promise<void>;
  /** Tells all that the service is about to end (a worker that is replaced alone is not told); none is replaced any more. */
  announce(): void;
  /** Ends all, with or without waiting for idle clients; resolves when every one has ended. */
  stop(how: StopMode): Promise<void>;
  /** Settles when none serves and so many died right after their start that there is no point in going on. */
  readonly failed: Promise<StartError>;
}

/** A worker that dies younger than this has not served. */
const quickMs = 2_000;
const maxQuickDeaths = 5;
/** Between attempts while others serve. */
const longestPauseMs = 30_000;
const pauseMs = (deaths: number) => Math.min(longestPauseMs, 100 * 2 ** deaths);
/** A worker that does not end by itself; with the announcement before it less than ten seconds. */
const killAfterMs = 8_700;

/** Keeps `count` workers alive. They share the port, and everything that lasts through the stores. */
export async function startWorkers(
  count: number,
  log: Logger,
  onFork: (worker: Worker) => void = () => {},
): Promise<Workers> {
  // Workers take connections from the port themselves. Node's other way, the primary handing them out in turn, forgets those
  // that are on their way to a worker that is killed: their visitors would wait for ever.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  // A worker has the environment of this process: one that read the file again would have the variables that are new there,
  // and not those that were changed.
  cluster.setupPrimary({ execArgv: process.execArgv.filter((option) => !option.startsWith('--env-file')) });
  let stopping = false;
  let quickDeaths = 0;
  const serving = new Set<Worker>();
  const retired = new WeakSet<Worker>();
  const { promise: failed, resolve: fail } = Promise.withResolvers<StartError>();

  /** Resolves when the new worker serves; one that dies after that is replaced. @throws {Error} when it dies before */
  function fork(): Promise<Worker> {
    return new Promise((resolve, reject) => {
      const startedAt = Date.now();
      const worker = cluster.fork();
      onFork(worker);
      // What is said to one that is dying fails; unheard, that would end this process. Its exit follows.
      worker.on('error', (error) => log.debug({ err: error, worker: worker.process.pid }, 'a worker cannot be told'));
      worker.once('listening', () => {
        serving.add(worker);
        resolve(worker);
      });
      worker.once('exit', (code, signal) => {
        const served = serving.delete(worker);
        if (!stopping && !retired.has(worker)) {
          quickDeaths = Date.now() - startedAt < quickMs ? quickDeaths + 1 : 0;
          log.error({ worker: worker.process.pid, code, signal }, 'a worker died');
          // Whoever waits in vain learns it from `failed`.
          if (served) keepTrying().catch(() => {});
        }
        reject(new Error(`worker ${worker.process.pid} died before it served (${signal ?? code})`));
      });
    });
  }

  /** One more worker, however often it takes while others serve. @throws {StartError} when none does and it is hopeless */
  async function keepTrying(): Promise<void> {
    while (!stopping) {
      if (serving.size === 0 && quickDeaths >= maxQuickDeaths) throw giveUp();
      if (serving.size > 0 && quickDeaths > 0) await sleep(pauseMs(quickDeaths - 1));
      if (stopping) return;
      try {
        await fork();
        return;
      } catch {
        // Said already, with its exit code.
      }
    }
  }

  function giveUp(): StartError {
    stopping = true;
    const error = new StartError(`${quickDeaths} workers died right after their start: see the lines above.`);
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGKILL');
    fail(error);
    return error;
  }

  function retire(worker: Worker, how: StopMode): Promise<void> {
    retired.add(worker);
    return new Promise((resolve) => {
      if (worker.isDead()) return resolve();
      const kill = setTimeout(() => worker.process.kill('SIGKILL'), killAfterMs);
      worker.once('exit', () => {
        clearTimeout(kill);
        resolve();
      });
      // One that is still starting does not listen to words yet.
      if (serving.has(worker))
        worker.send(how satisfies WorkerCommand, (error) => error && worker.process.kill('SIGTERM'));
      else worker.process.kill('SIGTERM');
    });
  }

  await Promise.all(Array.from({ length: count }, keepTrying));

  let reloading = Promise.resolve();
  return {
    failed,
    reload() {
      const next = async () => {
        for (const old of [...serving]) {
          if (stopping) return;
          await fork();
          await retire(old, 'drain');
        }
        log.info({ workers: serving.size }, 'all workers replaced');
      };
      // A reload that failed does not stand in the way of the next.
      reloading = reloading.then(next, next);
      return reloading;
    },
    announce() {
      // systemd and terminals signal the workers too: one that ends from now on is not replaced.
      stopping = true;
      for (const worker of serving) worker.send('announce' satisfies WorkerCommand, () => {});
    },
    async stop(how) {
      stopping = true;
      await Promise.all(Object.values(cluster.workers ?? {}).map((worker) => worker && retire(worker, how)));
    },
  };
}

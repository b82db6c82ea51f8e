import cluster, { type Worker } from 'node:cluster';
import type { Logger } from '../http/index.ts';
import { CannotStart } from './explain.ts';

/** How a worker ends: `drain` lets clients send one more request on idle connections, `stop` closes those at once. */
export type Parting = 'drain' | 'stop';

/** What the primary tells a worker; `announce`: all are about to end, /readyz shall say so. */
export type Order = Parting | 'announce';

export const isOrder = (message: unknown): message is Order =>
  message === 'drain' || message === 'stop' || message === 'announce';

export interface Workers {
  /** Replaces every worker by a new one, each old one draining only when its successor serves. */
  reload(): Promise<void>;
  /** Tells all that the service is about to end (a worker that is replaced alone is not told); none is replaced any more. */
  announce(): void;
  /** Ends all, with or without waiting for idle clients; resolves when every one has ended. */
  stop(how: Parting): Promise<void>;
  /** Settles when so many workers died right after their start that there is no point in going on. */
  readonly failed: Promise<CannotStart>;
}

/** A worker that dies younger than this has not served. */
const quickMs = 2_000;
const mostQuickDeaths = 5;
/** A worker that does not end by itself. */
const killAfterMs = 9_500;

/** Keeps `count` workers alive. They share the port, and everything that lasts through the stores. */
export async function startWorkers(
  count: number,
  log: Logger,
  onFork: (worker: Worker) => void = () => {},
): Promise<Workers> {
  let stopping = false;
  let quickDeaths = 0;
  const serving = new Set<Worker>();
  const { promise: failed, resolve: fail } = Promise.withResolvers<CannotStart>();

  /** Resolves when the new worker listens; a worker that dies before is replaced until it is hopeless. */
  function fork(): Promise<Worker> {
    return new Promise((resolve, reject) => {
      const startedAt = Date.now();
      const worker = cluster.fork();
      onFork(worker);
      worker.once('listening', () => {
        serving.add(worker);
        resolve(worker);
      });
      worker.once('exit', (code, signal) => {
        const wasServing = serving.delete(worker);
        if (stopping || retired.has(worker)) return;
        quickDeaths = Date.now() - startedAt < quickMs ? quickDeaths + 1 : 0;
        log.error({ worker: worker.process.pid, code, signal }, 'a worker died');
        if (quickDeaths >= mostQuickDeaths) {
          const error = new CannotStart(`${quickDeaths} workers died right after their start: see the lines above.`);
          fail(error);
          reject(error);
          return;
        }
        fork().then(wasServing ? () => {} : resolve, reject);
      });
    });
  }

  const retired = new WeakSet<Worker>();

  function retire(worker: Worker, how: Parting): Promise<void> {
    retired.add(worker);
    return new Promise((resolve) => {
      if (worker.isDead()) return resolve();
      const kill = setTimeout(() => worker.process.kill('SIGKILL'), killAfterMs);
      worker.once('exit', () => {
        clearTimeout(kill);
        resolve();
      });
      worker.send(how, (error) => error && worker.process.kill('SIGTERM'));
    });
  }

  // A failed fork has settled `failed` already; the caller of the first ones learns it from the rejection.
  await Promise.all(Array.from({ length: count }, fork));

  let reloading = Promise.resolve();
  return {
    failed,
    reload() {
      reloading = reloading.then(async () => {
        for (const old of [...serving]) {
          if (stopping) return;
          await fork();
          await retire(old, 'drain');
        }
        log.info({ workers: serving.size }, 'all workers replaced');
      });
      return reloading;
    },
    announce() {
      // systemd and terminals signal the workers too: one that ends from now on is not replaced.
      stopping = true;
      for (const worker of serving) worker.send('announce' satisfies Order, () => {});
    },
    async stop(how) {
      stopping = true;
      await Promise.all(Object.values(cluster.workers ?? {}).map((worker) => worker && retire(worker, how)));
    },
  };
}

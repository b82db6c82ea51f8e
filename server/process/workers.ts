import cluster, { type Worker } from 'node:cluster';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../http/index.ts';
import { StartError } from './start-error.ts';

/** How a worker ends: `drain` lets clients send one more request on idle connections, `stop` closes those at once. */
type StopMode = 'drain' | 'stop';

/** The messages from the primary to a worker; `announce`: all are about to end, and /readyz must report it. */
type WorkerCommand = StopMode | 'announce';

export const isOrder = (message: unknown): message is WorkerCommand =>
  message === 'drain' || message === 'stop' || message === 'announce';

interface Workers {
  /**
   * Replaces every worker by a new one; each old one drains only after its successor serves.
   * @throws {Error} if a successor does not start; the workers that were not replaced continue
   */
  reload(): Promise<void>;
  /** Announces the shutdown to all (a single replacement is not announced); no worker is replaced any more. */
  announce(): void;
  /** Ends all, with or without waiting for idle clients; resolves when every one has ended. */
  stop(how: StopMode): Promise<void>;
  /** Settles when no worker serves and so many died right after their start that further attempts are pointless. */
  readonly failed: Promise<StartError>;
}

/** A worker that dies younger than this has not served. */
const quickMs = 2_000;
const maxQuickDeaths = 5;
/** Between attempts while others serve. */
const longestPauseMs = 30_000;
const pauseMs = (deaths: number) => Math.min(longestPauseMs, 100 * 2 ** deaths);
/** For a worker that does not end by itself; with the announcement before it less than ten seconds. */
const killAfterMs = 8_700;

/** The workers of this process. */
class WorkerPool implements Workers {
  readonly failed: Promise<StartError>;
  readonly #fail: (error: StartError) => void;
  readonly #log: Logger;
  readonly #onFork: (worker: Worker) => void;
  readonly #serving = new Set<Worker>();
  readonly #retired = new WeakSet<Worker>();
  #stopping = false;
  #quickDeaths = 0;
  #reloading = Promise.resolve();

  constructor(log: Logger, onFork: (worker: Worker) => void) {
    const { promise, resolve } = Promise.withResolvers<StartError>();
    this.failed = promise;
    this.#fail = resolve;
    this.#log = log;
    this.#onFork = onFork;
  }

  /** Resolves when the new worker serves; one that dies after that is replaced. @throws {Error} if it dies before */
  #fork(): Promise<Worker> {
    return new Promise((resolve, reject) => {
      const startedAt = Date.now();
      const worker = cluster.fork();
      this.#onFork(worker);
      // A message to a dying worker fails; an unhandled error would end this process. Its exit follows.
      worker.on('error', (error) =>
        this.#log.debug({ err: error, worker: worker.process.pid }, 'could not send a message to a worker'),
      );
      worker.once('listening', () => {
        this.#serving.add(worker);
        resolve(worker);
      });
      worker.once('exit', (code, signal) => {
        const served = this.#serving.delete(worker);
        if (!this.#stopping && !this.#retired.has(worker)) {
          this.#quickDeaths = Date.now() - startedAt < quickMs ? this.#quickDeaths + 1 : 0;
          this.#log.error({ worker: worker.process.pid, code, signal }, 'a worker died');
          // The failure is reported by `failed`.
          if (served) this.addWorker().catch(() => {});
        }
        reject(new Error(`worker ${worker.process.pid} died before it served (${signal ?? code})`));
      });
    });
  }

  /**
   * Adds one worker, after any number of attempts while others serve. @throws {StartError} if none does and further
   * attempts are pointless
   */
  async addWorker(): Promise<void> {
    while (!this.#stopping) {
      const deaths = this.#quickDeaths;
      if (this.#serving.size === 0 && deaths >= maxQuickDeaths) throw this.#giveUp();
      if (this.#serving.size > 0 && deaths > 0) await sleep(pauseMs(deaths - 1));
      if (this.#stopping) return;
      try {
        await this.#fork();
        return;
      } catch {
        // Already reported, with its exit code.
      }
    }
  }

  #giveUp(): StartError {
    this.#stopping = true;
    const error = new StartError(`${this.#quickDeaths} workers died right after their start: see the lines above.`);
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGKILL');
    this.#fail(error);
    return error;
  }

  #retire(worker: Worker, how: StopMode): Promise<void> {
    this.#retired.add(worker);
    return new Promise((resolve) => {
      if (worker.isDead()) return resolve();
      const kill = setTimeout(() => worker.process.kill('SIGKILL'), killAfterMs);
      worker.once('exit', () => {
        clearTimeout(kill);
        resolve();
      });
      // A worker that is still starting cannot receive messages yet.
      if (this.#serving.has(worker))
        worker.send(how satisfies WorkerCommand, (error) => error && worker.process.kill('SIGTERM'));
      else worker.process.kill('SIGTERM');
    });
  }

  reload(): Promise<void> {
    const next = async () => {
      for (const old of [...this.#serving]) {
        if (this.#stopping) return;
        await this.#fork();
        await this.#retire(old, 'drain');
      }
      this.#log.info({ workers: this.#serving.size }, 'all workers replaced');
    };
    // A failed reload must not block the next one.
    this.#reloading = this.#reloading.then(next, next);
    return this.#reloading;
  }

  announce(): void {
    // systemd and terminals signal the workers too: one that ends from now on is not replaced.
    this.#stopping = true;
    for (const worker of this.#serving) worker.send('announce' satisfies WorkerCommand, () => {});
  }

  async stop(how: StopMode): Promise<void> {
    this.#stopping = true;
    await Promise.all(Object.values(cluster.workers ?? {}).map((worker) => worker && this.#retire(worker, how)));
  }
}

/** Keeps `count` workers alive. They share the port, and all lasting data through the stores. */
export async function startWorkers(
  count: number,
  log: Logger,
  onFork: (worker: Worker) => void = () => {},
): Promise<Workers> {
  // Workers accept connections from the port themselves. With Node's other policy, round robin by the primary,
  // connections on their way to a killed worker are lost, and their clients would wait for ever.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  // A worker inherits the environment of this process: if it read the file again it would have new variables, but not
  // changed ones.
  cluster.setupPrimary({ execArgv: process.execArgv.filter((option) => !option.startsWith('--env-file')) });
  const pool = new WorkerPool(log, onFork);
  await Promise.all(Array.from({ length: count }, () => pool.addWorker()));
  return pool;
}

import { setImmediate as nextTurn } from 'node:timers/promises';
import { StoreUnavailable } from './key-value.ts';
import type { SqliteConnection } from './sqlite.ts';
import { BUSY_LIMIT_MS, fromSqliteError, isBusy, pauseBeforeRetry } from './sqlite-errors.ts';
import type { WriteLock } from './write-lock.ts';

/** Bounds how long one transaction blocks the event loop. */
const MAX_BATCH = 400;

/** Group commit: the writes issued in one turn of the event loop share one transaction. */
export interface WriteBatch {
  /**
   * Runs `work`, synchronous SQL, in the next transaction and resolves with its result after the commit. `work` may run
   * more than once, each time after a roll-back.
   * @throws StoreUnavailable if the file stays locked, cannot be used, or is closed.
   */
  run<T>(work: () => T): Promise<T>;
  /** Commits the waiting work; after that every `run` is refused. */
  close(): Promise<void>;
}

interface Entry {
  /** Runs the work and keeps its result until the commit. */
  execute(): void;
  resolve(): void;
  reject(error: unknown): void;
  /** By the clock of `performance.now()`. */
  giveUpAt: number;
}

interface WriteBatchOptions {
  /** Taken for each transaction, if others use the connection too. */
  lock?: WriteLock;
  /** Called after each transaction, committed or rolled back, before its callers resume. */
  over?: () => void;
}

/** Makes the function that runs entries in one transaction, and resolves them after the commit. */
function createTransactor(
  connection: SqliteConnection,
  { lock, over = () => {} }: WriteBatchOptions,
): (entries: Entry[]) => Promise<void> {
  const begin = connection.prepare('BEGIN IMMEDIATE').statement;
  const commit = connection.prepare('COMMIT').statement;

  /** It runs within one turn of the event loop, so no read can happen in between. */
  function transact(entries: Entry[]): void {
    begin.run();
    try {
      for (const entry of entries) entry.execute();
      commit.run();
    } catch (error) {
      rollBackQuietly(connection);
      throw error;
    } finally {
      over();
    }
    for (const entry of entries) entry.resolve();
  }

  return async (entries) => {
    if (!lock) return transact(entries);
    await lock.acquire(BUSY_LIMIT_MS);
    try {
      transact(entries);
    } finally {
      lock.release();
    }
  };
}

export function createWriteBatch(connection: SqliteConnection, options: WriteBatchOptions = {}): WriteBatch {
  const transact = createTransactor(connection, options);
  let waiting: Entry[] = [];
  let flushing: Promise<void> | undefined;
  let closed = false;

  async function flush(): Promise<void> {
    await nextTurn();
    let busyRounds = 0;
    let oneByOne = 0;
    while (waiting.length > 0) {
      const batch = waiting.splice(0, oneByOne > 0 ? 1 : MAX_BATCH);
      try {
        await transact(batch);
        busyRounds = 0;
      } catch (error) {
        if (isBusy(error)) {
          waiting = [...withoutOverdue(batch, error), ...waiting];
          await pauseBeforeRetry(busyRounds++);
          continue;
        }
        if (batch.length > 1) {
          // One of them failed; the others must not fail with it.
          waiting = [...batch, ...waiting];
          oneByOne = batch.length;
          continue;
        }
        for (const entry of batch) entry.reject(fromSqliteError(error));
      }
      oneByOne = Math.max(0, oneByOne - 1);
      if (waiting.length > 0) await nextTurn();
    }
    flushing = undefined;
  }

  return {
    async run<T>(work: () => T): Promise<T> {
      if (closed) throw new StoreUnavailable('The SQLite file is closed');
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      let result: { value: T } | undefined;
      waiting.push({
        execute() {
          result = { value: work() };
        },
        resolve() {
          if (result) resolve(result.value);
        },
        reject,
        giveUpAt: performance.now() + BUSY_LIMIT_MS,
      });
      flushing ??= flush();
      return promise;
    },
    async close() {
      closed = true;
      await flushing;
    },
  };
}

/** Keeps those that may still wait for the lock; rejects the others. */
function withoutOverdue(entries: Entry[], cause: unknown): Entry[] {
  const now = performance.now();
  return entries.filter((entry) => {
    if (entry.giveUpAt > now) return true;
    entry.reject(new StoreUnavailable(`The SQLite file stayed locked for ${BUSY_LIMIT_MS} ms`, { cause }));
    return false;
  });
}

function rollBackQuietly(connection: SqliteConnection): void {
  try {
    connection.exec('ROLLBACK');
  } catch {
    // SQLite has already rolled back; the first error is the useful one.
  }
}

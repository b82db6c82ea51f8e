import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker as Thread } from 'node:worker_threads';
import { StoreUnavailable } from '../../server/store/index.ts';
import { whileBusy } from '../../server/store/sqlite-errors.ts';
import { backends, type OpenStores } from '../support/stores.ts';
import { startWorkers, type Worker } from './processes.ts';

describe.each(backends)('database between processes: $name', ({ open }) => {
  let stores: OpenStores;
  let workers: Worker[];

  beforeAll(async () => {
    stores = await open();
    workers = await startWorkers(2, stores.urls);
  });
  afterAll(async () => {
    await Promise.all((workers ?? []).map((worker) => worker.stop()));
    await stores.destroy();
  });

  const countOf = async (pattern: string) => {
    const row = await stores.database.db
      .selectFrom('meta')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('name', 'like', pattern)
      .executeTakeFirstOrThrow();
    return row.count;
  };

  it('Of 600 transactions that read and then write, from two processes at once, none fails and none is lost', async () => {
    const { db } = stores.database;
    await db.insertInto('meta').values({ name: 'sum', value: '0' }).execute();
    await Promise.all(workers.map((worker) => worker.perform({ name: 'transactions', key: 'sum', count: 300 })));
    const sum = await db.selectFrom('meta').select('value').where('name', '=', 'sum').executeTakeFirst();
    expect(sum).toEqual({ value: '600' });
    expect(await countOf('sum:%')).toBe(600);
  });

  it('Of 600 single statements from two processes at once, none fails and none is lost', async () => {
    await Promise.all(workers.map((worker) => worker.perform({ name: 'writes', key: 'single', count: 300 })));
    expect(await countOf('single:%')).toBe(600);
  });
});

/** The longest standstill of a parallel thread: the machine causes it, not a wait for a lock. */
function watchMachine() {
  const thread = new Thread(
    `const { parentPort } = require('node:worker_threads');
    let [longest, last] = [0, performance.now()];
    const look = () => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    };
    setInterval(look, 5);
    parentPort.on('message', () => { look(); parentPort.postMessage(longest); });`,
    { eval: true, execArgv: [] },
  );
  return {
    async longestMs(): Promise<number> {
      const answered = new Promise<number>((resolve) => thread.once('message', resolve));
      thread.postMessage('how long?');
      const longest = await answered;
      await thread.terminate();
      return longest;
    },
  };
}

describe.each(backends.filter(({ name }) => name.startsWith('SQLite')))('a held write lock: $name', ({ open }) => {
  // This is long enough that a busy machine does not look like a standstill.
  const HOLD_MS = 1_500;
  let stores: OpenStores;
  let workers: Worker[];

  beforeAll(async () => {
    stores = await open();
    workers = await startWorkers(1, stores.urls);
  });
  afterAll(async () => {
    await Promise.all((workers ?? []).map((worker) => worker.stop()));
    await stores.destroy();
  });

  /** Runs `work` while the worker holds the lock. @returns the longest standstill of the event loop alone, in ms */
  async function standstillDuring(file: string, work: () => Promise<unknown>): Promise<number> {
    const [worker] = workers;
    if (!worker) throw new Error('No worker');
    await worker.perform({ name: 'holdWriteLock', key: file, count: HOLD_MS });
    const machine = watchMachine();
    let [longest, last] = [0, performance.now()];
    const look = () => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    };
    const timer = setInterval(look, 5);
    const started = performance.now();
    await work();
    look();
    expect(performance.now() - started).toBeGreaterThan(HOLD_MS / 2);
    clearInterval(timer);
    await worker.next();
    return longest - (await machine.longestMs());
  }

  it('Writes to the database wait for the lock without stopping the event loop, and reads do not wait', async () => {
    const { db } = stores.database;
    let readTookMs = Number.POSITIVE_INFINITY;
    const standstillMs = await standstillDuring('foyer.db', async () => {
      const write = db.insertInto('meta').values({ name: 'waited', value: 'x' }).execute();
      const started = performance.now();
      await db.selectFrom('meta').selectAll().execute();
      readTookMs = performance.now() - started;
      await write;
    });
    expect(standstillMs).toBeLessThan(HOLD_MS / 2);
    expect(readTookMs).toBeLessThan(HOLD_MS / 2);
    expect(await db.selectFrom('meta').select('name').execute()).toEqual([{ name: 'waited' }]);
  });

  it('Writes to the key-value file wait for the lock without stopping the event loop, and reads do not wait', async () => {
    const { kv } = stores;
    await kv.set('there', 'x', 60_000);
    let readTookMs = Number.POSITIVE_INFINITY;
    const standstillMs = await standstillDuring('short-lived.db', async () => {
      const write = kv.set('waited', 'x', 60_000);
      const started = performance.now();
      expect(await kv.get('there')).toBe('x');
      readTookMs = performance.now() - started;
      await write;
    });
    expect(standstillMs).toBeLessThan(HOLD_MS / 2);
    expect(readTookMs).toBeLessThan(HOLD_MS / 2);
    expect(await kv.get('waited')).toBe('x');
  });

  it('A process that is killed while it holds the lock leaves no lock behind and blocks no other process', async () => {
    const [doomed] = await startWorkers(1, stores.urls);
    await doomed?.perform({ name: 'writes', key: 'acknowledged', count: 20 });
    await doomed?.perform({ name: 'holdWriteLock', key: 'foyer.db', count: 60_000 });
    await doomed?.stop();
    const { db } = stores.database;
    await db.insertInto('meta').values({ name: 'after the kill', value: 'x' }).execute();
    const kept = await db.selectFrom('meta').select('name').where('name', 'like', 'acknowledged:%').execute();
    expect(kept).toHaveLength(20);
  });

  it('A caller that waits too long gets StoreUnavailable', async () => {
    const path = join(stores.urls.dataDir, 'foyer.db');
    const [holder, other] = [new DatabaseSync(path), new DatabaseSync(path)];
    holder.exec('BEGIN IMMEDIATE');
    await expect(whileBusy(() => other.exec('BEGIN IMMEDIATE'), 100)).rejects.toThrow(StoreUnavailable);
    const waiting = whileBusy(() => other.exec('BEGIN IMMEDIATE'), 5000);
    await sleep(50);
    holder.exec('ROLLBACK');
    await expect(waiting).resolves.toBeUndefined();
    holder.close();
    other.close();
  });
});

import { backends, type OpenStores } from '../support/stores.ts';
import { startWorkers, type Task, type Worker } from './processes.ts';

const MINUTE_MS = 60_000;

describe.each(backends)('key-value store between processes: $name', ({ open }) => {
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

  /** Runs the same task in both processes at once. @returns all results in one list */
  async function bothPerform<T>(task: Task): Promise<T[]> {
    const lists = await Promise.all(workers.map((worker) => worker.perform<T[]>(task)));
    return lists.flat();
  }

  const rounds = Array.from({ length: 10 }, (_, index) => index);

  it('Of 50 simultaneous takes of one key exactly one gets the value', async () => {
    for (const round of rounds) {
      const key = `take-${round}`;
      await stores.kv.set(key, 'value', MINUTE_MS);
      const taken = await bothPerform<string | null>({ name: 'take', key, count: 25 });
      expect(taken).toHaveLength(50);
      expect(taken.filter((value) => value !== null)).toEqual(['value']);
    }
  });

  it('Of 50 simultaneous redemptions of one code exactly one succeeds, and all others learn of it', async () => {
    for (const round of rounds) {
      const key = `consume-${round}`;
      await stores.kv.set(key, 'value', MINUTE_MS);
      const states = await bothPerform<string>({ name: 'consume', key, count: 25 });
      expect(states.filter((state) => state === 'consumed')).toHaveLength(1);
      expect(states.filter((state) => state === 'already-used')).toHaveLength(49);
    }
  });

  it('Of 50 simultaneous setIfAbsent calls exactly one writes', async () => {
    for (const round of rounds) {
      const wrote = await bothPerform<boolean>({ name: 'setIfAbsent', key: `absent-${round}`, count: 25 });
      expect(wrote).toHaveLength(50);
      expect(wrote.filter(Boolean)).toHaveLength(1);
    }
  });

  it('Of 50 simultaneous compareAndDelete calls exactly one deletes', async () => {
    await stores.kv.set('compared', 'value', MINUTE_MS);
    const deleted = await bothPerform<boolean>({ name: 'compareAndDelete', key: 'compared', count: 25 });
    expect(deleted.filter(Boolean)).toHaveLength(1);
  });

  it('Counters lose no increment, and no two callers see the same count', async () => {
    const counts = await bothPerform<number>({ name: 'increment', key: 'counter', count: 500 });
    expect(new Set(counts).size).toBe(1000);
    expect(await stores.kv.count('counter')).toBe(1000);
  });

  it('Sets lose no member', async () => {
    await bothPerform({ name: 'addToSet', key: 'set', count: 300 });
    expect(await stores.kv.setMembers('set')).toHaveLength(600);
  });
});

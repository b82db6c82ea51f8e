import { createLease, runPeriodically } from '../../server/store/index.ts';
import { backends, type OpenStores } from '../support/stores.ts';

describe.each(backends)('leases on $name', ({ open }) => {
  let stores: OpenStores;
  let nowMs = 1_000_000;
  const now = () => nowMs;
  const lease = (name: string) => createLease(stores.database, name, { ttlMs: 10_000, now });

  beforeAll(async () => {
    stores = await open();
  });
  afterAll(() => stores?.destroy());

  it('Of many callers that request one lease at once, one gets it', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => lease('race').acquire()));
    expect(answers.filter(Boolean)).toHaveLength(1);
  });

  it('A lease is prolonged by its holder and refused to others until it expires', async () => {
    const [mine, theirs] = [lease('turns'), lease('turns')];
    expect(await mine.acquire()).toBe(true);
    nowMs += 9_000;
    expect(await mine.acquire()).toBe(true);
    nowMs += 9_000;
    expect(await theirs.acquire()).toBe(false);
    nowMs += 1_000;
    expect(await theirs.acquire()).toBe(true);
    expect(await mine.acquire()).toBe(false);
  });

  it('A lease is free at once when it is released, but only its holder can release it', async () => {
    const [mine, theirs] = [lease('back'), lease('back')];
    await mine.acquire();
    await theirs.release();
    expect(await theirs.acquire()).toBe(false);
    await mine.release();
    expect(await theirs.acquire()).toBe(true);
  });

  it('A job with a lease runs in one process alone and continues after a failure', async () => {
    const done: string[] = [];
    const errors: unknown[] = [];
    const start = (who: string) =>
      runPeriodically(lease('job'), {
        everyMs: 5,
        run: async () => {
          done.push(who);
          if (done.length === 1) throw new Error('the first turn fails');
        },
        onError: (error) => errors.push(error),
      });
    const stops = [start('a'), start('b')];
    while (done.length < 5) await new Promise((resolve) => setTimeout(resolve, 5));
    await Promise.all(stops.map((stop) => stop()));
    expect(new Set(done.slice(0, 5)).size).toBe(1);
    expect(errors).toEqual([new Error('the first turn fails')]);
  });
});

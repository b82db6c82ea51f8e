import { setTimeout as sleep } from 'node:timers/promises';
import { anyBackend, type Backend, backends, type OpenStores } from '../support/stores.ts';
import { type Moment, startHonestCarrier } from './honest-carrier.ts';
import { type ChildSettings, dist, type OutboxChild, startChild } from './outbox-child.ts';
import { seededRandom } from './seeded.ts';

/** `FOYER_FAULT_SEEDS=300 npm run test:all -- test/faults` has more. */
const seeds = Number(process.env.FOYER_FAULT_SEEDS ?? 20);
const speed = 50;
const changes = 25;

type Carrier = Awaited<ReturnType<typeof startHonestCarrier>>;

/**
 * The moment of the kill and its occurrence: after the commit, during the request to the mail service, after it accepted
 * the mail, or after its answer.
 */
function momentOf(seed: number): { moment: Moment | 'committed'; nth: number } {
  const random = seededRandom(seed);
  const moments = ['committed', 'arrived', 'taken', 'answered'] as const;
  return { moment: moments[Math.floor(random() * moments.length)] ?? 'taken', nth: 1 + Math.floor(random() * 12) };
}

/** Lets the child work until the moment of the seed and kills it. @returns false if the child finished before */
async function killAt(child: OutboxChild, carrier: Carrier, seed: number): Promise<boolean> {
  const { moment, nth } = momentOf(seed);
  let seen = 0;
  const come = new Promise<void>((resolve) => {
    const listener = (name: string) => {
      if (name !== moment) return;
      seen += 1;
      if (seen === nth) resolve();
    };
    carrier.listen(listener);
    child.onReport(listener);
  });
  child.begin({ seed, changes });
  const limit = new AbortController();
  const late = sleep(20_000, true, { signal: limit.signal }).catch(() => true);
  const missed = await Promise.race([come.then(() => false), late]);
  await child.kill();
  limit.abort();
  return !missed;
}

const waiting = async ({ database }: OpenStores) =>
  (await database.db.selectFrom('outbox').select('id').where('state', '=', 'waiting').execute()).length;

describe.each(backends)('a process that is killed, on $name', (backend: Backend) => {
  // The database matters little here, and each seed starts a process.
  const times = backend === anyBackend ? seeds : Math.ceil(seeds / 4);
  let stores: OpenStores;
  let carrier: Carrier;
  let settings: ChildSettings;
  beforeAll(async () => {
    stores = await backend.open();
    carrier = await startHonestCarrier(seededRandom(7));
    const { databaseUrl, dataDir } = stores.urls;
    settings = { databaseUrl, dataDir, dist, carrierUrl: carrier.url, epochMs: Date.now(), speed };
  });
  afterAll(async () => {
    await carrier?.close();
    await stores?.destroy();
  });

  it(
    'A killed process loses no message, doubles none and keeps the order of groups',
    async () => {
      let next = startChild(settings);
      let killed = 0;
      const left: { seed: number; moment: string; messages: number }[] = [];
      for (let seed = 1; seed <= times; seed += 1) {
        const child = await next;
        // The next child starts in the meantime.
        next = startChild(settings);
        if (await killAt(child, carrier, seed)) killed += 1;
        left.push({ seed, moment: momentOf(seed).moment, messages: await waiting(stores) });
      }
      // The last child finds what the others left.
      const last = await next;
      last.begin({ seed: 0, changes: 1 });
      for (let looks = 0; looks < 3_000; looks += 1) {
        await sleep(20);
        if (looks > 10 && (await waiting(stores)) === 0) break;
      }
      await last.kill();

      const { db } = stores.database;
      const made = await db.selectFrom('meta').select(['name', 'value']).where('name', 'like', 'change %').execute();
      const taken = carrier.taken();
      const rows = await db.selectFrom('outbox').select(['state', 'sealedPayload']).execute();
      // Every change has exactly one message, and no change that was rolled back has one.
      expect(taken.map(({ change }) => `change ${change}`).sort()).toEqual(made.map(({ name }) => name).sort());
      expect(rows).toHaveLength(made.length);
      expect(new Set(rows.map(({ state }) => state))).toEqual(new Set(['delivered']));
      expect(rows.filter(({ sealedPayload }) => sealedPayload !== null)).toEqual([]);
      for (const group of new Set(made.map(({ value }) => value).filter(Boolean))) {
        const order = taken.filter((mail) => mail.group === group).map(({ change }) => Number(change.split(':')[1]));
        expect({ group, order }).toEqual({ group, order: order.toSorted((a, b) => a - b) });
      }
      // Without these the test proves nothing: a child that dies before the answer leaves at least the mail it sent.
      expect(killed).toBe(times);
      const unanswered = left.filter(({ moment }) => moment === 'arrived' || moment === 'taken');
      expect(unanswered.length).toBeGreaterThanOrEqual(2);
      expect(unanswered.filter(({ messages }) => messages === 0)).toEqual([]);
      const sum = left.reduce((total, { messages }) => total + messages, 0);
      console.info(
        `${backend.name}: killed ${killed} times, ${made.length} messages, ${sum} were left for the next process, ${carrier.repeated()} came twice and were recognised`,
      );
    },
    90_000 + seeds * 5_000,
  );
});

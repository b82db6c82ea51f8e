import { setTimeout as sleep } from 'node:timers/promises';
import type { DeliverMessage } from '../../server/messages/deliver-message.ts';
import type { Message } from '../../server/messages/index.ts';
import { createOutbox } from '../../server/messages/outbox.ts';
import {
  createOutboxWorker,
  type OutboxWorker,
  type OutboxWorkerSettings,
} from '../../server/messages/outbox-worker.ts';
import { noMetrics } from '../../server/shared/index.ts';
import { createSecretBox } from '../../server/store/index.ts';
import { toUserId } from '../support/ids.ts';
import type { Backend, OpenStores } from '../support/stores.ts';

export const box = createSecretBox(['a secret key that is used by tests alone'], 'outbox');

/** An outbox on these stores with a clock that stands still until it is moved, and workers that tell what they do. */
export function outboxSetup({ database }: OpenStores) {
  let nowMs = Date.UTC(2026, 10, 21);
  const now = () => nowMs;
  const outbox = createOutbox({ box, now });
  const workers: OutboxWorker[] = [];
  const silent = { warn() {}, error() {} };
  return {
    now,
    outbox,
    pass(ms: number) {
      nowMs += ms;
    },
    add: async (message: Message) => (await database.transaction((trx) => outbox.add(trx, message))).id,
    worker(deliver: DeliverMessage, { timing, ...settings }: Partial<OutboxWorkerSettings> = {}) {
      const worker = createOutboxWorker({
        database,
        box,
        deliver,
        metrics: noMetrics,
        log: silent,
        now,
        random: () => 0.5,
        timing: { stopMs: 1_000, ...timing },
        ...settings,
      });
      workers.push(worker);
      return worker;
    },
    /** All workers. */
    stop: () => Promise.all(workers.map((worker) => worker.stop())),
    row: (id: string) => database.db.selectFrom('outbox').selectAll().where('id', '=', id).executeTakeFirst(),
    rows: () => database.db.selectFrom('outbox').selectAll().orderBy('id').execute(),
    clear: () => database.db.deleteFrom('outbox').execute(),
  };
}

export type Setup = ReturnType<typeof outboxSetup>;

export const notice = (title: string, more: object = {}): Message => ({
  channel: 'notification',
  userId: toUserId('somebody'),
  title,
  description: '',
  category: 'test',
  ...more,
});

export const mail = (to: string, more: object = {}): Message => ({
  channel: 'mail',
  to,
  template: 'verify-email',
  lang: 'en',
  values: { givenName: 'Ada', code: '123456', minutes: 10 },
  ...more,
});

/** What a message is called in these tests. */
export const nameOf = (message: Message) =>
  message.channel === 'notification' ? message.title : (message as { to: string }).to;

/** Until something is so. @throws after five seconds */
export async function until(what: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 5_000;
  while (!(await what())) {
    if (performance.now() > end) throw new Error('it never came to be so');
    await sleep(5);
  }
}

/** A carrier that answers when the test says so. */
export function slowCarrier() {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    begun,
    deliver(message: Parameters<typeof nameOf>[0]) {
      const name = nameOf(message);
      begun.push(name);
      return new Promise<void>((resolve) => ends.set(name, resolve));
    },
    end: (name: string) => ends.get(name)?.(),
  };
}

/** An outbox on these stores as they are at first: without a message, a lease or a deduplication id. */
async function emptySetup(stores: OpenStores): Promise<Setup> {
  const setup = outboxSetup(stores);
  await setup.clear();
  await stores.database.db.deleteFrom('leases').execute();
  await stores.database.db.deleteFrom('outboxDeduplication').execute();
  return setup;
}

/** The same for each test of a block. @param use gets the outbox and its stores before each test */
export function eachSetup(backend: Backend, use: (setup: Setup, stores: OpenStores) => void): void {
  let stores: OpenStores;
  let setup: Setup | undefined;
  beforeAll(async () => {
    stores = await backend.open();
  });
  afterAll(() => stores?.destroy());
  beforeEach(async () => {
    setup = await emptySetup(stores);
    use(setup, stores);
  });
  // A worker that a failed test has left would work in the next test.
  afterEach(() => setup?.stop());
}

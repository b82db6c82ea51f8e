import { type Message, PermanentDeliveryError } from '../../server/messages/index.ts';
import { noMetrics } from '../../server/shared/index.ts';
import { backends, type OpenStores } from '../support/stores.ts';
import { eachSetup, mail, nameOf, notice, type Setup, slowCarrier, until } from './outbox-setup.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

describe.each(backends)('the worker of the outbox on $name', (backend) => {
  let stores: OpenStores;
  let setup: Setup;
  eachSetup(backend, (opened, underlying) => {
    setup = opened;
    stores = underlying;
  });

  describe('the same message', () => {
    it('A deduplication id gives one message within five minutes, also twice at once, and a new one afterwards', async () => {
      const ids = await Promise.all(
        Array.from({ length: 6 }, (_, n) => setup.add(notice(`try ${n}`, { deduplicationId: 'd' }))),
      );
      expect(new Set(ids).size).toBe(1);
      setup.pass(5 * minuteMs - 1);
      expect(await setup.add(notice('late', { deduplicationId: 'd' }))).toBe(ids[0]);
      setup.pass(1);
      expect(await setup.add(notice('later', { deduplicationId: 'd' }))).not.toBe(ids[0]);
      const done: string[] = [];
      await setup.worker(async (message) => void done.push(nameOf(message))).turn();
      expect(done).toHaveLength(2);
    });

    it('A deduplication id is not remembered from a transaction that was rolled back', async () => {
      const lost = stores.database.transaction(async (trx) => {
        await setup.outbox.add(trx, notice('lost', { deduplicationId: 'r' }));
        throw new Error('rolled back');
      });
      await expect(lost).rejects.toThrow('rolled back');
      await setup.add(notice('kept', { deduplicationId: 'r' }));
      expect(await setup.rows()).toHaveLength(1);
    });
  });

  it('The worker does not deliver an expired message, and erases its content', async () => {
    const id = await setup.add(mail('ada@example.com', { expiresAtMs: setup.now() + 10 * minuteMs }));
    const done: string[] = [];
    let down = true;
    const worker = setup.worker(async (message) => {
      if (down) throw new Error('down');
      done.push(nameOf(message));
    });
    await worker.turn();
    down = false;
    setup.pass(10 * minuteMs);
    await worker.turn();
    expect(done).toEqual([]);
    expect(await setup.row(id)).toMatchObject({ state: 'dead', lastError: 'expired', sealedPayload: null });
  });

  it('The worker keeps dead letters for two weeks, their rows for a month, and delivered rows for a week', async () => {
    const dead = await setup.add(mail('dead@example.com'));
    const delivered = await setup.add(mail('delivered@example.com'));
    const worker = setup.worker(async (message) => {
      if (nameOf(message).startsWith('dead')) throw new PermanentDeliveryError('no');
    });
    await worker.turn();
    const sweep = async () => {
      // Only a started worker sweeps.
      const other = setup.worker(async () => {}, { timing: { turnMs: 5, sweepMs: 0, leaseEveryMs: 0 } });
      other.start();
      const mark = await setup.add(notice('mark'));
      await until(async () => (await setup.row(mark))?.state === 'delivered');
      await new Promise((resolve) => setTimeout(resolve, 50));
      await other.stop();
    };
    const payloadOf = async (id: string) => (await setup.row(id))?.sealedPayload;
    setup.pass(7 * dayMs - 1);
    await sweep();
    expect(await setup.row(delivered)).toBeDefined();
    setup.pass(1);
    await sweep();
    expect(await setup.row(delivered)).toBeUndefined();
    setup.pass(7 * dayMs - 1);
    await sweep();
    expect(await payloadOf(dead)).toEqual(expect.any(String));
    setup.pass(1);
    await sweep();
    expect(await payloadOf(dead)).toBeNull();
    setup.pass(16 * dayMs);
    await sweep();
    expect(await setup.row(dead)).toBeUndefined();
  });

  it('The worker discards a rendered decoy without a count or log, and the next sweep deletes the row', async () => {
    const decoy = async (message: Message) => {
      const { database } = stores;
      return (await database.transaction((trx) => setup.outbox.add(trx, message, { decoy: true }))).id;
    };
    const good = await decoy(mail('good@example.com'));
    const broken = await decoy(mail('broken@example.com'));
    const expired = await decoy(mail('expired@example.com', { expiresAtMs: setup.now() }));
    const seen: string[] = [];
    const metrics = new Proxy(
      { ...noMetrics, on: true },
      {
        get: (target, name) =>
          name === 'messagesWaiting' || typeof Reflect.get(target, name) !== 'function'
            ? Reflect.get(target, name)
            : () => void seen.push(String(name)),
      },
    );
    const say = (_fields: object, text: string) => void seen.push(text);
    const rendered: string[] = [];
    const worker = setup.worker(
      async (message, row) => {
        rendered.push(`${nameOf(message)} ${row.decoy}`);
        if (nameOf(message).startsWith('broken')) throw new Error('a decoy that cannot be rendered');
      },
      { metrics, log: { warn: say, error: say }, timing: { turnMs: 5, sweepMs: 0, leaseEveryMs: 0 } },
    );
    await worker.turn();
    expect(rendered.map((line) => line.split('@')[0]).sort()).toEqual(['broken', 'good']);
    for (const id of [good, broken, expired]) {
      expect(await setup.row(id)).toMatchObject({ state: 'delivered', sealedPayload: null, decoy: 1 });
    }
    worker.start();
    await until(async () => (await setup.rows()).length === 0);
    expect(seen).toEqual([]);
  });

  describe('several workers', () => {
    it('Only one worker works at a time, and another continues at once when it stops', async () => {
      const done: [number, string][] = [];
      const timing = { turnMs: 5, leaseEveryMs: 0 };
      const workers = [0, 1, 2].map((n) =>
        setup.worker(async (message) => void done.push([n, nameOf(message)]), { timing }),
      );
      for (const worker of workers) worker.start();
      for (let n = 0; n < 20; n += 1) await setup.add(notice(`n${n}`));
      await until(() => done.length >= 20);
      const first = done[0]?.[0] ?? 0;
      expect(new Set(done.map(([n]) => n))).toEqual(new Set([first]));
      await workers[first]?.stop();
      await setup.add(notice('after'));
      await until(() => done.length >= 21);
      expect(done.at(-1)?.[0]).not.toBe(first);
      expect(new Set(done.map(([, name]) => name)).size).toBe(21);
      for (const worker of workers) await worker.stop();
    });

    it('A worker that disappears is replaced when its lease has expired', async () => {
      const carrier = slowCarrier();
      await setup.add(notice('hangs'));
      // It never comes back from this delivery, as if killed.
      void setup.worker(carrier.deliver).turn();
      await until(() => carrier.begun.length === 1);
      const done: string[] = [];
      const heir = setup.worker(async (message) => void done.push(nameOf(message)));
      setup.pass(9_000);
      expect(await heir.turn()).toBe(0);
      setup.pass(1_000);
      expect(await heir.turn()).toBe(1);
      expect(done).toEqual(['hangs']);
      carrier.end('hangs');
    });

    it('The worker that holds the lease is woken at once in its process', async () => {
      const done: string[] = [];
      const worker = setup.worker(async (message) => void done.push(nameOf(message)), { timing: { turnMs: 60_000 } });
      worker.start();
      await until(async () => (await stores.database.db.selectFrom('leases').selectAll().execute()).length === 1);
      await setup.add(notice('now'));
      worker.wake();
      await until(() => done.length === 1);
      await worker.stop();
    });
  });

  it('A stopping worker finishes the current delivery and starts no other', async () => {
    const carrier = slowCarrier();
    const ids = [
      await setup.add(notice('first', { groupId: 'g' })),
      await setup.add(notice('second', { groupId: 'g' })),
    ];
    const worker = setup.worker(carrier.deliver, { timing: { turnMs: 5 } });
    worker.start();
    await until(() => carrier.begun.length === 1);
    const stopped = worker.stop();
    carrier.end('first');
    await stopped;
    expect(await Promise.all(ids.map(async (id) => (await setup.row(id))?.state))).toEqual(['delivered', 'waiting']);
    expect(carrier.begun).toEqual(['first']);
  });
});

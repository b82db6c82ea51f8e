import { type Message, PermanentDeliveryError } from '../../server/messages/index.ts';
import { noMetrics } from '../../server/metrics/index.ts';
import { StoreUnavailable } from '../../server/store/index.ts';
import { backends, type OpenStores } from '../support/stores.ts';
import { mail, nameOf, notice, outboxRoom, type Room, until } from './outbox-room.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** A carrier that answers when the test says so. */
function slowCarrier() {
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

describe.each(backends)('the worker of the outbox on $name', (backend) => {
  let stores: OpenStores;
  let room: Room;
  beforeAll(async () => {
    stores = await backend.open();
  });
  afterAll(() => stores?.destroy());
  beforeEach(async () => {
    room = outboxRoom(stores);
    await room.clear();
    await stores.database.db.deleteFrom('leases').execute();
    await stores.database.db.deleteFrom('outbox_deduplication').execute();
  });

  // One that a failed test has left would work in the next one.
  afterEach(() => room.stop());

  describe('order', () => {
    it('Messages of a group are delivered in the order of writing, one at a time, without delaying others', async () => {
      const names = Array.from({ length: 12 }, (_, n) => `grouped ${n}`);
      // All in one millisecond, where ids have no order.
      for (const name of names) await room.add(notice(name, { groupId: 'g' }));
      for (let n = 0; n < 3; n += 1) await room.add(notice(`alone ${n}`));
      const done: string[] = [];
      let [now, most] = [0, 0];
      const worker = room.worker(async (message) => {
        now += 1;
        most = Math.max(most, now);
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 5));
        now -= 1;
        done.push(nameOf(message));
      });
      expect(await worker.turn()).toBe(15);
      expect(done.filter((name) => name.startsWith('grouped'))).toEqual(names);
      expect(most).toBeGreaterThan(1);
    });

    it('A message that fails delays its group, over all channels, and no other group', async () => {
      await room.add(mail('first@example.com', { groupId: 'g' }));
      await room.add(notice('second', { groupId: 'g' }));
      await room.add(notice('of another group', { groupId: 'h' }));
      const done: string[] = [];
      let down = true;
      const worker = room.worker(async (message) => {
        if (message.channel === 'mail' && down) throw new Error('down');
        done.push(nameOf(message));
      });
      await worker.turn();
      expect(done).toEqual(['of another group']);
      down = false;
      room.pass(10_000);
      await worker.turn();
      expect(done).toEqual(['of another group', 'first@example.com', 'second']);
    });

    it('A dead letter no longer delays its group', async () => {
      await room.add(mail('first@example.com', { groupId: 'g' }));
      await room.add(mail('second@example.com', { groupId: 'g' }));
      const done: string[] = [];
      await room
        .worker(async (message) => {
          if (nameOf(message).startsWith('first')) throw new PermanentDeliveryError('no such mailbox');
          done.push(nameOf(message));
        })
        .turn();
      expect(done).toEqual(['second@example.com']);
    });

    it('A mail service that hangs delays mail and no notification', async () => {
      const carrier = slowCarrier();
      const mails = Array.from({ length: 9 }, (_, n) => `ada${n}@example.com`);
      for (const to of mails) await room.add(mail(to));
      const done: string[] = [];
      const worker = room.worker(
        async (message) => {
          if (message.channel === 'mail') return carrier.deliver(message);
          done.push(nameOf(message));
        },
        { timing: { turnMs: 5 } },
      );
      worker.start();
      await until(() => carrier.begun.length === 8);
      await room.add(notice('on its way'));
      await until(() => done.length === 1);
      expect(carrier.begun).toHaveLength(8);
      for (let n = 0; n < mails.length; n += 1) {
        await until(() => carrier.begun.length > n);
        carrier.end(carrier.begun[n] ?? '');
      }
      await worker.stop();
      expect(carrier.begun.toSorted()).toEqual(mails);
    });

    it('A channel has at most the allowed number of deliveries at once', async () => {
      const carrier = slowCarrier();
      for (let n = 0; n < 5; n += 1) await room.add(notice(`n${n}`));
      const turn = room.worker(carrier.deliver, { atOnce: 2 }).turn();
      await until(() => carrier.begun.length === 2);
      for (let n = 0; n < 5; n += 1) {
        await until(() => carrier.begun.length > n);
        expect(carrier.begun.length).toBeLessThanOrEqual(n + 2);
        carrier.end(carrier.begun[n] ?? '');
      }
      expect(await turn).toBe(5);
    });
  });

  describe('the same message', () => {
    it('A deduplication id gives one message within five minutes, also twice at once, and a new one afterwards', async () => {
      const ids = await Promise.all(
        Array.from({ length: 6 }, (_, n) => room.add(notice(`try ${n}`, { deduplicationId: 'd' }))),
      );
      expect(new Set(ids).size).toBe(1);
      room.pass(5 * minuteMs - 1);
      expect(await room.add(notice('late', { deduplicationId: 'd' }))).toBe(ids[0]);
      room.pass(1);
      expect(await room.add(notice('later', { deduplicationId: 'd' }))).not.toBe(ids[0]);
      const done: string[] = [];
      await room.worker(async (message) => void done.push(nameOf(message))).turn();
      expect(done).toHaveLength(2);
    });

    it('A deduplication id is not remembered from a transaction that was rolled back', async () => {
      const lost = stores.database.transaction(async (trx) => {
        await room.outbox.add(trx, notice('lost', { deduplicationId: 'r' }));
        throw new Error('rolled back');
      });
      await expect(lost).rejects.toThrow('rolled back');
      await room.add(notice('kept', { deduplicationId: 'r' }));
      expect(await room.rows()).toHaveLength(1);
    });
  });

  describe('a failure', () => {
    it('A failed delivery is tried again after 5 seconds, doubled up to an hour, and given up after about a day', async () => {
      const id = await room.add(mail('ada@example.com'));
      const beganMs = room.now();
      const triedMs: number[] = [];
      const worker = room.worker(async () => {
        triedMs.push(room.now() - beganMs);
        throw new Error('the service is down');
      });
      for (let times = 0; times < 40; times += 1) {
        await worker.turn();
        const row = await room.row(id);
        if (row?.state !== 'waiting') break;
        const waitMs = row.next_attempt_at - room.now();
        room.pass(waitMs - 1);
        // Not before its time.
        expect(await worker.turn()).toBe(0);
        room.pass(1);
      }
      const waits = triedMs.slice(1).map((ms, n) => ms - (triedMs[n] ?? 0));
      expect(waits.slice(0, 4)).toEqual([5_000, 10_000, 20_000, 40_000]);
      expect(Math.max(...waits)).toBe(hourMs);
      const last = triedMs.at(-1) ?? 0;
      expect(last).toBeGreaterThan(22 * hourMs);
      expect(last).toBeLessThan(25 * hourMs);
      const dead = await room.row(id);
      expect(dead).toMatchObject({ state: 'dead', attempts: triedMs.length, last_error: 'the service is down' });
      expect(dead?.sealed_payload).not.toBeNull();
    });

    it('The wait after a failure varies each time, so that not all deliveries come back at once', async () => {
      const waitOf = async (random: number) => {
        const id = await room.add(mail('ada@example.com'));
        const worker = room.worker(() => Promise.reject(new Error('down')), { random: () => random });
        await worker.turn();
        return ((await room.row(id))?.next_attempt_at ?? 0) - room.now();
      };
      expect(await waitOf(0)).toBe(4_000);
      room.pass(-1);
      expect(await waitOf(1)).toBe(6_000);
    });

    it('A permanent failure becomes a dead letter at once', async () => {
      const id = await room.add(mail('ada@example.com'));
      await room.worker(() => Promise.reject(new PermanentDeliveryError('no such mailbox'))).turn();
      expect(await room.row(id)).toMatchObject({ state: 'dead', attempts: 1, last_error: 'no such mailbox' });
    });

    it('A failure is stored in one line without the address, a code or a key', async () => {
      const id = await room.add(mail('ada@example.com'));
      const said = '550 <ada@example.com>:\r\n code 123456 SG.abc-def.ghi refused';
      await room.worker(() => Promise.reject(new Error(said))).turn();
      expect((await room.row(id))?.last_error).toBe('550 <…@example.com>: code … … refused');
    });

    it('A delivery whose carrier never answers ends with the time limit', async () => {
      const id = await room.add(mail('ada@example.com'));
      await room.worker(() => new Promise(() => {}), { timing: { deliveryMs: 20 } }).turn();
      expect(await room.row(id)).toMatchObject({
        state: 'waiting',
        attempts: 1,
        last_error: 'no answer within 0.02 seconds',
      });
    });
  });

  it('The worker does not deliver an expired message, and erases its content', async () => {
    const id = await room.add(mail('ada@example.com', { expiresAtMs: room.now() + 10 * minuteMs }));
    const done: string[] = [];
    let down = true;
    const worker = room.worker(async (message) => {
      if (down) throw new Error('down');
      done.push(nameOf(message));
    });
    await worker.turn();
    down = false;
    room.pass(10 * minuteMs);
    await worker.turn();
    expect(done).toEqual([]);
    expect(await room.row(id)).toMatchObject({ state: 'dead', last_error: 'expired', sealed_payload: null });
  });

  it('The worker keeps dead letters for two weeks, their rows for a month, and delivered rows for a week', async () => {
    const dead = await room.add(mail('dead@example.com'));
    const delivered = await room.add(mail('delivered@example.com'));
    const worker = room.worker(async (message) => {
      if (nameOf(message).startsWith('dead')) throw new PermanentDeliveryError('no');
    });
    await worker.turn();
    const sweep = async () => {
      // Only a started worker sweeps.
      const other = room.worker(async () => {}, { timing: { turnMs: 5, sweepMs: 0, leaseEveryMs: 0 } });
      other.start();
      const mark = await room.add(notice('mark'));
      await until(async () => (await room.row(mark))?.state === 'delivered');
      await new Promise((resolve) => setTimeout(resolve, 50));
      await other.stop();
    };
    const payloadOf = async (id: string) => (await room.row(id))?.sealed_payload;
    room.pass(7 * dayMs - 1);
    await sweep();
    expect(await room.row(delivered)).toBeDefined();
    room.pass(1);
    await sweep();
    expect(await room.row(delivered)).toBeUndefined();
    room.pass(7 * dayMs - 1);
    await sweep();
    expect(await payloadOf(dead)).toEqual(expect.any(String));
    room.pass(1);
    await sweep();
    expect(await payloadOf(dead)).toBeNull();
    room.pass(16 * dayMs);
    await sweep();
    expect(await room.row(dead)).toBeUndefined();
  });

  it('The worker discards a rendered decoy without a count or log, and the next sweep deletes the row', async () => {
    const decoy = async (message: Message) => {
      const { database } = stores;
      return (await database.transaction((trx) => room.outbox.add(trx, message, { decoy: true }))).id;
    };
    const good = await decoy(mail('good@example.com'));
    const broken = await decoy(mail('broken@example.com'));
    const expired = await decoy(mail('expired@example.com', { expiresAtMs: room.now() }));
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
    const worker = room.worker(
      async (message, row) => {
        rendered.push(`${nameOf(message)} ${row.decoy}`);
        if (nameOf(message).startsWith('broken')) throw new Error('a decoy that cannot be rendered');
      },
      { metrics, log: { warn: say, error: say }, timing: { turnMs: 5, sweepMs: 0, leaseEveryMs: 0 } },
    );
    await worker.turn();
    expect(rendered.map((line) => line.split('@')[0]).sort()).toEqual(['broken', 'good']);
    for (const id of [good, broken, expired]) {
      expect(await room.row(id)).toMatchObject({ state: 'delivered', sealed_payload: null, decoy: 1 });
    }
    worker.start();
    await until(async () => (await room.rows()).length === 0);
    expect(seen).toEqual([]);
  });

  describe('several workers', () => {
    it('Only one worker works at a time, and another continues at once when it stops', async () => {
      const done: [number, string][] = [];
      const timing = { turnMs: 5, leaseEveryMs: 0 };
      const workers = [0, 1, 2].map((n) =>
        room.worker(async (message) => void done.push([n, nameOf(message)]), { timing }),
      );
      for (const worker of workers) worker.start();
      for (let n = 0; n < 20; n += 1) await room.add(notice(`n${n}`));
      await until(() => done.length >= 20);
      const first = done[0]?.[0] ?? 0;
      expect(new Set(done.map(([n]) => n))).toEqual(new Set([first]));
      await workers[first]?.stop();
      await room.add(notice('after'));
      await until(() => done.length >= 21);
      expect(done.at(-1)?.[0]).not.toBe(first);
      expect(new Set(done.map(([, name]) => name)).size).toBe(21);
      for (const worker of workers) await worker.stop();
    });

    it('A worker that disappears is replaced when its lease has expired', async () => {
      const carrier = slowCarrier();
      await room.add(notice('hangs'));
      // It never comes back from this delivery, as if killed.
      void room.worker(carrier.deliver).turn();
      await until(() => carrier.begun.length === 1);
      const done: string[] = [];
      const heir = room.worker(async (message) => void done.push(nameOf(message)));
      room.pass(9_000);
      expect(await heir.turn()).toBe(0);
      room.pass(1_000);
      expect(await heir.turn()).toBe(1);
      expect(done).toEqual(['hangs']);
      carrier.end('hangs');
    });

    it('The worker that holds the lease is woken at once in its process', async () => {
      const done: string[] = [];
      const worker = room.worker(async (message) => void done.push(nameOf(message)), { timing: { turnMs: 60_000 } });
      worker.start();
      await until(async () => (await stores.database.db.selectFrom('leases').selectAll().execute()).length === 1);
      await room.add(notice('now'));
      worker.wake();
      await until(() => done.length === 1);
      await worker.stop();
    });
  });

  it('A stopping worker finishes the current delivery and starts no other', async () => {
    const carrier = slowCarrier();
    const ids = [await room.add(notice('first', { groupId: 'g' })), await room.add(notice('second', { groupId: 'g' }))];
    const worker = room.worker(carrier.deliver, { timing: { turnMs: 5 } });
    worker.start();
    await until(() => carrier.begun.length === 1);
    const stopped = worker.stop();
    carrier.end('first');
    await stopped;
    expect(await Promise.all(ids.map(async (id) => (await room.row(id))?.state))).toEqual(['delivered', 'waiting']);
    expect(carrier.begun).toEqual(['first']);
  });

  it('A message delivered while the store was away is marked later and not sent again', async () => {
    const id = await room.add(notice('once'));
    const sent: string[] = [];
    const { database } = stores;
    let away = false;
    const db = new Proxy(database.db, {
      get(target, name) {
        if (away && name === 'updateTable') throw new StoreUnavailable('away');
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const worker = room.worker(
      async (message) => {
        sent.push(nameOf(message));
        away = true;
      },
      { database: { ...database, db } },
    );
    await worker.turn();
    expect(await room.row(id)).toMatchObject({ state: 'waiting', attempts: 1 });
    away = false;
    room.pass(5_000);
    await worker.turn();
    expect(sent).toEqual(['once']);
    expect(await room.row(id)).toMatchObject({ state: 'delivered' });
  });
});

import { PermanentDeliveryError } from '../../server/messages/index.ts';
import { StoreUnavailable } from '../../server/store/index.ts';
import { backends, type OpenStores } from '../support/stores.ts';
import { eachSetup, mail, nameOf, notice, type Setup } from './outbox-setup.ts';

const hourMs = 60 * 60_000;

describe.each(backends)('a failed delivery on $name', (backend) => {
  let stores: OpenStores;
  let setup: Setup;
  eachSetup(backend, (opened, underlying) => {
    setup = opened;
    stores = underlying;
  });

  it('A failed delivery is tried again after 5 seconds, doubled up to an hour, and given up after about a day', async () => {
    const id = await setup.add(mail('ada@example.com'));
    const beganMs = setup.now();
    const triedMs: number[] = [];
    const worker = setup.worker(async () => {
      triedMs.push(setup.now() - beganMs);
      throw new Error('the service is down');
    });
    for (let times = 0; times < 40; times += 1) {
      await worker.turn();
      const row = await setup.row(id);
      if (row?.state !== 'waiting') break;
      const waitMs = row.nextAttemptAt - setup.now();
      setup.pass(waitMs - 1);
      // The worker does not try again too early.
      expect(await worker.turn()).toBe(0);
      setup.pass(1);
    }
    const waits = triedMs.slice(1).map((ms, n) => ms - (triedMs[n] ?? 0));
    expect(waits.slice(0, 4)).toEqual([5_000, 10_000, 20_000, 40_000]);
    expect(Math.max(...waits)).toBe(hourMs);
    const last = triedMs.at(-1) ?? 0;
    expect(last).toBeGreaterThan(22 * hourMs);
    expect(last).toBeLessThan(25 * hourMs);
    const dead = await setup.row(id);
    expect(dead).toMatchObject({ state: 'dead', attempts: triedMs.length, lastError: 'the service is down' });
    expect(dead?.sealedPayload).not.toBeNull();
  });

  it('The wait after a failure varies each time, so that not all deliveries come back at once', async () => {
    const waitOf = async (random: number) => {
      const id = await setup.add(mail('ada@example.com'));
      const worker = setup.worker(() => Promise.reject(new Error('down')), { random: () => random });
      await worker.turn();
      return ((await setup.row(id))?.nextAttemptAt ?? 0) - setup.now();
    };
    expect(await waitOf(0)).toBe(4_000);
    setup.pass(-1);
    expect(await waitOf(1)).toBe(6_000);
  });

  it('A permanent failure becomes a dead letter at once', async () => {
    const id = await setup.add(mail('ada@example.com'));
    await setup.worker(() => Promise.reject(new PermanentDeliveryError('no such mailbox'))).turn();
    expect(await setup.row(id)).toMatchObject({ state: 'dead', attempts: 1, lastError: 'no such mailbox' });
  });

  it('A failure is stored in one line without the address, a code or a key', async () => {
    const id = await setup.add(mail('ada@example.com'));
    const said = '550 <ada@example.com>:\r\n code 123456 SG.abc-def.ghi refused';
    await setup.worker(() => Promise.reject(new Error(said))).turn();
    expect((await setup.row(id))?.lastError).toBe('550 <…@example.com>: code … … refused');
  });

  it('A delivery whose carrier never answers ends with the time limit', async () => {
    const id = await setup.add(mail('ada@example.com'));
    await setup.worker(() => new Promise(() => {}), { timing: { deliveryMs: 20 } }).turn();
    expect(await setup.row(id)).toMatchObject({
      state: 'waiting',
      attempts: 1,
      lastError: 'no answer within 0.02 seconds',
    });
  });

  it('A message delivered while the store was away is marked later and not sent again', async () => {
    const id = await setup.add(notice('once'));
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
    const worker = setup.worker(
      async (message) => {
        sent.push(nameOf(message));
        away = true;
      },
      { database: { ...database, db } },
    );
    await worker.turn();
    expect(await setup.row(id)).toMatchObject({ state: 'waiting', attempts: 1 });
    away = false;
    setup.pass(5_000);
    await worker.turn();
    expect(sent).toEqual(['once']);
    expect(await setup.row(id)).toMatchObject({ state: 'delivered' });
  });
});

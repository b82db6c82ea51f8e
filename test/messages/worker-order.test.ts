import { PermanentDeliveryError } from '../../server/messages/index.ts';
import { backends } from '../support/stores.ts';
import { eachSetup, mail, nameOf, notice, type Setup, slowCarrier, until } from './outbox-setup.ts';

describe.each(backends)('the order of deliveries on $name', (backend) => {
  let setup: Setup;
  eachSetup(backend, (opened) => {
    setup = opened;
  });

  it('Messages of a group are delivered in the order of writing, one at a time, without delaying others', async () => {
    const names = Array.from({ length: 12 }, (_, n) => `grouped ${n}`);
    // All in one millisecond, where ids have no order.
    for (const name of names) await setup.add(notice(name, { groupId: 'g' }));
    for (let n = 0; n < 3; n += 1) await setup.add(notice(`alone ${n}`));
    const done: string[] = [];
    let [now, most] = [0, 0];
    const worker = setup.worker(async (message) => {
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
    await setup.add(mail('first@example.com', { groupId: 'g' }));
    await setup.add(notice('second', { groupId: 'g' }));
    await setup.add(notice('of another group', { groupId: 'h' }));
    const done: string[] = [];
    let down = true;
    const worker = setup.worker(async (message) => {
      if (message.channel === 'mail' && down) throw new Error('down');
      done.push(nameOf(message));
    });
    await worker.turn();
    expect(done).toEqual(['of another group']);
    down = false;
    setup.pass(10_000);
    await worker.turn();
    expect(done).toEqual(['of another group', 'first@example.com', 'second']);
  });

  it('A dead letter no longer delays its group', async () => {
    await setup.add(mail('first@example.com', { groupId: 'g' }));
    await setup.add(mail('second@example.com', { groupId: 'g' }));
    const done: string[] = [];
    await setup
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
    for (const to of mails) await setup.add(mail(to));
    const done: string[] = [];
    const worker = setup.worker(
      async (message) => {
        if (message.channel === 'mail') return carrier.deliver(message);
        done.push(nameOf(message));
      },
      { timing: { turnMs: 5 } },
    );
    worker.start();
    await until(() => carrier.begun.length === 8);
    await setup.add(notice('on its way'));
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
    for (let n = 0; n < 5; n += 1) await setup.add(notice(`n${n}`));
    const turn = setup.worker(carrier.deliver, { atOnce: 2 }).turn();
    await until(() => carrier.begun.length === 2);
    for (let n = 0; n < 5; n += 1) {
      await until(() => carrier.begun.length > n);
      expect(carrier.begun.length).toBeLessThanOrEqual(n + 2);
      carrier.end(carrier.begun[n] ?? '');
    }
    expect(await turn).toBe(5);
  });
});

/**
 * A process that makes changes and delivers their messages, by the built stores, outbox, worker and carrier, until it is
 * killed. `outbox-child.ts` starts it.
 */
import { flushCompileCache } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type * as CarrierFile from '../../server/messages/create-carrier.ts';
import type * as DeliverFile from '../../server/messages/deliver-message.ts';
import type * as OutboxFile from '../../server/messages/outbox.ts';
import type * as WorkerFile from '../../server/messages/outbox-worker.ts';
import type * as SharedModule from '../../server/shared/index.ts';
import type * as StoreModule from '../../server/store/index.ts';
import type { ChildSettings, Order, Report } from './outbox-child.ts';

const settings: ChildSettings = JSON.parse(process.argv[2] ?? '');
/** The child loads single files: pages and React take half a second. */
const built = (file: string) => import(pathToFileURL(`${settings.dist}/server/${file}.js`).href);
const { createSecretBox, openDatabase }: typeof StoreModule = await built('store/index');
const { noMetrics }: typeof SharedModule = await built('shared/index');
const { createDelivery }: typeof DeliverFile = await built('messages/deliver-message');
const { createMailCarrier }: typeof CarrierFile = await built('messages/create-carrier');
const { createOutbox }: typeof OutboxFile = await built('messages/outbox');
const { createOutboxWorker }: typeof WorkerFile = await built('messages/outbox-worker');

const report = (what: Report) => process.send?.(what);
const { epochMs, speed } = settings;
/** The waits and leases of the product, but shorter. */
const now = () => Math.round(epochMs + (Date.now() - epochMs) * speed);

const carrier = await createMailCarrier({ sendGrid: { apiKey: 'SG.key', url: settings.carrierUrl } });

async function open() {
  const database = await openDatabase({ url: settings.databaseUrl, dataDir: settings.dataDir });
  const box = createSecretBox(['a secret key that is used by tests alone'], 'outbox');
  const deliver = createDelivery({
    database,
    carriers: { mail: carrier },
    from: { address: 'no-reply@example.com' },
    render() {
      throw new Error('these mails are templates of the carrier');
    },
    templateId: () => 'd-fault',
  });
  const log = { warn() {}, error() {} };
  const timing = { turnMs: 1_000 / speed };
  const worker = createOutboxWorker({ database, box, deliver, metrics: noMetrics, log, now, timing });
  worker.start();
  return { database, outbox: createOutbox({ box, now, onWake: worker.wake }) };
}

/** One change with its message, in one transaction; some are rolled back, some belong to a group. */
async function change({ database, outbox }: Awaited<ReturnType<typeof open>>, name: string, n: number) {
  const group = n % 3 === 0 ? undefined : `${name.split(':')[0]}:${n % 3}`;
  const done = await database
    .transaction(async (trx) => {
      await trx
        .insertInto('meta')
        .values({ name: `change ${name}`, value: group ?? '' })
        .execute();
      await outbox.add(trx, {
        channel: 'mail',
        to: 'ada@example.com',
        template: 'mapped:fault',
        values: { change: name, group: group ?? '' },
        ...(group !== undefined && { groupId: group }),
      });
      if (n % 7 === 6) throw new Error('changed my mind');
    })
    .then(
      () => true,
      () => false,
    );
  if (!done) return;
  report({ name: 'committed' });
  outbox.wake();
}

process.on('message', async (order: Order) => {
  const opened = await open();
  report({ name: 'working' });
  for (let n = 0; n < order.changes; n += 1) {
    await change(opened, `${order.seed}:${n}`, n);
    await sleep(2);
  }
});
// The process is killed, so it could not write Node's compile cache.
flushCompileCache();
report({ name: 'ready' });

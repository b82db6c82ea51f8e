import { PermanentDeliveryError } from '../../server/messages/index.ts';
import { createOutbox } from '../../server/messages/outbox.ts';
import { createPrometheusMetrics } from '../../server/metrics/prometheus.ts';
import { sampleOf } from '../metrics/read.ts';
import { anyBackend, type OpenStores } from '../support/stores.ts';
import { box, mail, nameOf, notice, outboxSetup, until } from './outbox-setup.ts';

let stores: OpenStores;
beforeAll(async () => {
  stores = await anyBackend.open();
});
afterAll(() => stores?.destroy());

it('The metrics count messages written, delivered, failed and given up, and measure what waits and for how long', async () => {
  const setup = outboxSetup(stores);
  const metrics = createPrometheusMetrics();
  const outbox = createOutbox({ box, now: setup.now, metrics });
  const sample = async (name: string, labels: Record<string, string> = {}) =>
    sampleOf(await metrics.registry.metrics(), name, labels);
  for (const message of [notice('fine'), mail('down@example.com'), mail('gone@example.com')]) {
    await stores.database.transaction((trx) => outbox.add(trx, message));
  }
  const worker = setup.worker(
    async (message) => {
      if (nameOf(message) === 'down@example.com') throw new Error('down');
      if (nameOf(message) === 'gone@example.com') throw new PermanentDeliveryError('gone');
    },
    { metrics, timing: { turnMs: 5 } },
  );
  worker.start();
  const attempts = (channel: string, result: string) => sample('foyer_message_attempts_total', { channel, result });
  await until(async () => (await attempts('mail', 'failed')) === 1 && (await attempts('mail', 'dead')) === 1);
  await until(async () => (await attempts('notification', 'delivered')) === 1);
  expect(await sample('foyer_messages_added_total', { channel: 'mail', template: 'verify-email' })).toBe(2);
  expect(await sample('foyer_message_delivery_duration_seconds_count', { channel: 'mail' })).toBe(2);
  setup.pass(4_000);
  await until(
    async () => (await sample('foyer_outbox_waiting')) === 1 && (await sample('foyer_outbox_oldest_seconds')) === 4,
  );
  await worker.stop();
  // Another process reports it now.
  expect(await sample('foyer_outbox_waiting')).toBe(0);
});

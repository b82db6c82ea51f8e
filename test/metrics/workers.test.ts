import { EventEmitter } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createCollector, metricsEndpoint, type WorkerCollector } from '../../server/metrics/index.ts';
import { createPrometheusMetrics } from '../../server/metrics/prometheus.ts';
import { replyToPrimary } from '../../server/metrics/workers.ts';
import { ownTime } from '../support/own-time.ts';
import { sendRequest } from '../support/send-request.ts';
import { sampleOf } from './read.ts';

/** A worker in this process: two ends of a channel. */
function worker() {
  const metrics = createPrometheusMetrics();
  const [primarySide, workerSide] = [new EventEmitter(), new EventEmitter()];
  let hears = true;
  // As the channel between processes does, which knows only JSON.
  const travel = (to: EventEmitter, message: unknown) =>
    setImmediate(() => hears && to.emit('message', JSON.parse(JSON.stringify(message))));
  const { last } = replyToPrimary(
    metrics.registry,
    Object.assign(workerSide, {
      connected: true,
      send(message: unknown, _handle?: unknown, _options?: unknown, done?: (error: Error | null) => void) {
        travel(primarySide, message);
        setImmediate(() => done?.(null));
        return true;
      },
    }),
  );
  return {
    metrics,
    last,
    channel: Object.assign(primarySide, {
      send(message: object) {
        travel(workerSide, message);
        return true;
      },
    }),
    freeze() {
      hears = false;
    },
    end: () => primarySide.emit('disconnect'),
  };
}

const signIns = async (collector: WorkerCollector) =>
  sampleOf(await collector.text(), 'foyer_sign_ins_total', { result: 'signed-in' });

describe('metrics of several workers', () => {
  it('The counters of workers are added, and a counter never falls when a worker ends', async () => {
    const collector = await createCollector();
    const workers = [worker(), worker(), worker()];
    for (const { channel, metrics } of workers) {
      collector.add(channel);
      metrics.signIn('password', 'signed-in');
      metrics.httpRequest({ method: 'GET', route: '/', status: 200, durationMs: 3 });
    }
    expect(await signIns(collector)).toBe(3);
    const [first, second] = workers;
    first?.metrics.signIn('password', 'signed-in');
    await first?.last();
    // Two at once, as when the service ends.
    first?.end();
    second?.end();
    expect(await signIns(collector)).toBe(4);
    const next = worker();
    collector.add(next.channel);
    next.metrics.signIn('password', 'signed-in');
    expect(await signIns(collector)).toBe(5);
    const text = await collector.text();
    expect(sampleOf(text, 'foyer_http_request_duration_seconds_count', { route: '/' })).toBe(3);
    const small = { route: '/', le: '0.005' };
    expect(sampleOf(text, 'foyer_http_request_duration_seconds_bucket', small)).toBe(3);
  });

  it('The memory and other gauges of a worker disappear with it', async () => {
    const collector = await createCollector();
    const [one, two] = [worker(), worker()];
    collector.add(one.channel);
    collector.add(two.channel);
    const both = sampleOf(await collector.text(), 'process_resident_memory_bytes') ?? 0;
    two.end();
    const alone = sampleOf(await collector.text(), 'process_resident_memory_bytes') ?? 0;
    expect(alone).toBeGreaterThan(0);
    expect(alone).toBeLessThan(both * 0.75);
  });

  it('A worker that does not answer is shown with its last values and delays the answer only shortly', async () => {
    const collector = await createCollector();
    const [one, two] = [worker(), worker()];
    for (const { channel, metrics } of [one, two]) {
      collector.add(channel);
      metrics.signIn('password', 'signed-in');
    }
    expect(await signIns(collector)).toBe(2);
    two.freeze();
    one.metrics.signIn('password', 'signed-in');
    const waitedMs = ownTime();
    expect(await signIns(collector)).toBe(3);
    expect(waitedMs()).toBeLessThan(3_000);
  });
});

describe('the port for metrics', () => {
  let server: Server;
  let url: string;
  let broken = false;
  const errors: unknown[] = [];
  beforeAll(async () => {
    const source = {
      contentType: 'text/plain; version=0.0.4; charset=utf-8',
      text: async () => {
        if (broken) throw new Error('no');
        return 'foyer_test 1\n';
      },
    };
    server = createServer(metricsEndpoint(source, (error) => errors.push(error)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  it('The port for metrics answers GET /metrics', async () => {
    const answer = await sendRequest(`${url}/metrics`);
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(await answer.text()).toBe('foyer_test 1\n');
  });

  it('The port for metrics answers nothing else', async () => {
    for (const path of ['/', '/metrics/', '/healthz']) expect((await sendRequest(url + path)).status).toBe(404);
    const posted = await sendRequest(`${url}/metrics`, { method: 'POST' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });

  it('GET /metrics answers 500 when the metrics cannot be collected, and the log has the reason', async () => {
    broken = true;
    expect((await sendRequest(`${url}/metrics`)).status).toBe(500);
    expect(errors).toHaveLength(1);
  });
});

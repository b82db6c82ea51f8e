import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Metrics } from './metrics.ts';

/** From a page in memory to a request that waited in a full password queue. */
const httpBuckets = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** From a read of a local file to the time limits of PostgreSQL. */
const storeBuckets = [0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 10];
/** From a row in the database to the time limit of a delivery. */
const deliveryBuckets = [0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];
const hashBuckets = [0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8];

/** Bounds the label values: a visitor may send any method. */
const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

const statusClass = (status: number | undefined) =>
  status === undefined ? 'aborted' : `${Math.floor(status / 100)}xx`;

/** All processes read the same counters. */
function gaugesOfVisitorData(registry: Registry, read: () => Promise<{ bytes: number; maxBytes: number }>): void {
  if (registry.getSingleMetric('foyer_visitor_data_bytes')) return;
  const gauge = (name: string, help: string, value: (data: { bytes: number; maxBytes: number }) => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      aggregator: 'max',
      async collect() {
        // The store's own metrics show its outage.
        const data = await read().catch(() => undefined);
        if (data) this.set(value(data));
      },
    });
  gauge('foyer_visitor_data_bytes', 'What the key-value store keeps for visitors', ({ bytes }) => bytes);
  gauge('foyer_visitor_data_max_bytes', 'The most that it may (VISITOR_DATA_MAX_MB)', ({ maxBytes }) => maxBytes);
}

export interface PrometheusMetrics extends Metrics {
  readonly registry: Registry;
}

/** Counts in this process; docs/operating.md documents the names, and a test compares them. */
export function createPrometheusMetrics(): PrometheusMetrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Counter({ name, help, labelNames, registers });
  const histogram = <L extends string>(name: string, help: string, buckets: number[], labelNames: readonly L[] = []) =>
    new Histogram({ name, help, buckets, labelNames, registers });

  const signUps = counter('foyer_sign_ups_total', 'Steps of sign-ups that were tried, by result', ['step', 'result']);
  const signIns = counter('foyer_sign_ins_total', 'Sign-ins that were tried, by result', ['method', 'result']);
  const guesses = counter('foyer_guesses_refused_total', 'Guesses refused unread, by the limit that was reached', [
    'limit',
  ]);
  const visitorsRefused = counter('foyer_visitors_refused_total', 'Requests of visitors refused to spare the store', [
    'reason',
  ]);
  const overall = counter(
    'foyer_overall_limits_reached_total',
    'Windows in which a limit of all visitors was reached',
    ['limit'],
  );
  const refused = counter('foyer_password_checks_refused_total', 'Passwords not checked because too many waited', [
    'reason',
  ]);
  const hashing = histogram('foyer_password_hash_duration_seconds', 'Waiting and hashing of one password', hashBuckets);
  const started = counter('foyer_sessions_begun_total', 'Sessions begun by signing in');
  const ended = counter('foyer_sessions_ended_total', 'Sessions ended by an act; those that ran out are not in it', [
    'cause',
  ]);
  const issued = counter('foyer_oauth_issued_total', 'Codes and tokens given to client apps', ['kind', 'client_type']);
  const reused = counter('foyer_oauth_reuse_total', 'Codes and refresh tokens that came a second time', ['kind']);
  const keyActivated = new Gauge({
    name: 'foyer_signing_key_activated_timestamp_seconds',
    help: 'Since when the key that signs does so',
    labelNames: ['alg'] as const,
    registers,
    aggregator: 'max',
  });
  const added = counter('foyer_messages_added_total', 'Messages written to the outbox', ['channel', 'template']);
  const tried = counter('foyer_message_attempts_total', 'Deliveries that were tried, by result', [
    'channel',
    'template',
    'result',
  ]);
  const delivery = histogram('foyer_message_delivery_duration_seconds', 'One delivery', deliveryBuckets, ['channel']);
  // Only the process that does the job has the values; the others report 0.
  const ofOneProcess = (name: string, help: string) => new Gauge({ name, help, registers, aggregator: 'max' });
  const waiting = ofOneProcess('foyer_outbox_waiting', 'Messages that wait for their delivery');
  const oldest = ofOneProcess('foyer_outbox_oldest_seconds', 'For how long the oldest of them has waited');
  const webhooks = counter('foyer_stripe_webhooks_total', 'Events that Stripe has sent, by type and outcome', [
    'type',
    'outcome',
  ]);
  const orders = counter('foyer_orders_total', 'Paid invoices of plans', ['kind']);
  const repairs = counter('foyer_billing_repairs_total', 'What differed from Stripe and was made equal');
  const differences = ofOneProcess('foyer_billing_differences', 'What differs from Stripe and needs an operator');
  const http = histogram(
    'foyer_http_request_duration_seconds',
    'From the request to the end of its answer',
    httpBuckets,
    ['method', 'route', 'status'],
  );
  const store = histogram('foyer_store_operation_duration_seconds', 'Operations of a store', storeBuckets, [
    'store',
    'operation',
  ]);
  const failures = counter('foyer_store_failures_total', 'Operations that failed: away (503 to members) or refused', [
    'store',
    'outcome',
  ]);

  return {
    on: true,
    registry,
    signIn: (method, result) => signIns.inc({ method, result }),
    signUp: (step, result) => signUps.inc({ step, result }),
    guessRefused: (limit) => guesses.inc({ limit }),
    visitorRefused: (reason) => visitorsRefused.inc({ reason }),
    visitorData: (read) => gaugesOfVisitorData(registry, read),
    overallReached: (limit) => overall.inc({ limit }),
    passwordRefused: (reason) => refused.inc({ reason }),
    passwordHashed: (durationMs) => hashing.observe(durationMs / 1000),
    passwordQueue(read) {
      new Gauge({
        name: 'foyer_password_queue_length',
        help: 'Passwords that wait for a core',
        registers,
        collect() {
          this.set(read().waiting);
        },
      });
      new Gauge({
        name: 'foyer_password_hashes_running',
        help: 'Passwords being hashed',
        registers,
        collect() {
          this.set(read().running);
        },
      });
    },
    sessionStarted: () => started.inc(),
    sessionEnded: (cause, count = 1) => ended.inc({ cause }, count),
    issued: (kind, clientType) => issued.inc({ kind, client_type: clientType }),
    reused: (kind) => reused.inc({ kind }),
    signingKeys(keys) {
      for (const { alg, activatesAt } of keys) keyActivated.set({ alg }, activatesAt / 1000);
    },
    messageAdded: (channel, template) => added.inc({ channel, template }),
    messageTried({ channel, template, result, durationMs }) {
      tried.inc({ channel, template, result });
      delivery.observe({ channel }, durationMs / 1000);
    },
    messagesWaiting(count, oldestMs) {
      waiting.set(count);
      oldest.set(oldestMs / 1000);
    },
    webhook: (type, outcome) => webhooks.inc({ type, outcome }),
    ordered: (kind) => orders.inc({ kind }),
    reconciled(repaired, left) {
      repairs.inc(repaired);
      differences.set(left);
    },
    httpRequest: ({ method, route, status, durationMs }) =>
      http.observe(
        { method: methods.has(method) ? method : 'other', route, status: statusClass(status) },
        durationMs / 1000,
      ),
    storeAnswered({ store: name, operation, durationMs, outcome }) {
      store.observe({ store: name, operation }, durationMs / 1000);
      if (outcome !== 'answered') failures.inc({ store: name, outcome });
    },
  };
}

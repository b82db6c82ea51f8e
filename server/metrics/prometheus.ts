import { Counter, collectDefaultMetrics, Gauge, type GaugeConfiguration, Histogram, Registry } from 'prom-client';
import type { Metrics } from '../shared/index.ts';

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

/** Makes the metrics of one registry. */
function createFactory(registry: Registry) {
  const registers = [registry];
  return {
    registry,
    counter: <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
      new Counter({ name, help, labelNames, registers }),
    histogram: <L extends string>(settings: HistogramSettings<L>) => new Histogram({ ...settings, registers }),
    gauge: <L extends string>(settings: GaugeSettings<L>) => new Gauge({ ...settings, registers }),
    /** Only the process that does the job has the value; the others report 0. */
    gaugeOfOneProcess: (name: string, help: string) => new Gauge({ name, help, registers, aggregator: 'max' }),
  };
}

interface HistogramSettings<L extends string> {
  name: string;
  help: string;
  buckets: number[];
  labelNames?: readonly L[];
}
type GaugeSettings<L extends string> = Omit<GaugeConfiguration<L>, 'registers'>;
type Factory = ReturnType<typeof createFactory>;

/** All processes read the same counters. */
function addVisitorDataGauges({ registry, gauge }: Factory, read: () => Promise<VisitorBytes>): void {
  if (registry.getSingleMetric('foyer_visitor_data_bytes')) return;
  const add = (name: string, help: string, value: (data: VisitorBytes) => number) =>
    gauge({
      name,
      help,
      aggregator: 'max',
      async collect() {
        // The store's own metrics show its outage.
        const data = await read().catch(() => undefined);
        if (data) this.set(value(data));
      },
    });
  add('foyer_visitor_data_bytes', 'What the key-value store keeps for visitors', ({ bytes }) => bytes);
  add('foyer_visitor_data_max_bytes', 'The most that it may (VISITOR_DATA_MAX_MB)', ({ maxBytes }) => maxBytes);
}

interface VisitorBytes {
  bytes: number;
  maxBytes: number;
}

type VisitorMetrics = 'signIn' | 'signUp' | 'guessRefused' | 'visitorRefused' | 'visitorData' | 'overallReached';

function createVisitorMetrics(make: Factory): Pick<Metrics, VisitorMetrics> {
  const { counter } = make;
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
  return {
    signIn: (method, result) => signIns.inc({ method, result }),
    signUp: (step, result) => signUps.inc({ step, result }),
    guessRefused: (limit) => guesses.inc({ limit }),
    visitorRefused: (reason) => visitorsRefused.inc({ reason }),
    visitorData: (read) => addVisitorDataGauges(make, read),
    overallReached: (limit) => overall.inc({ limit }),
  };
}

type PasswordMetrics = 'passwordRefused' | 'passwordHashed' | 'passwordQueue';

function createPasswordMetrics({ counter, histogram, gauge }: Factory): Pick<Metrics, PasswordMetrics> {
  const refused = counter('foyer_password_checks_refused_total', 'Passwords not checked because too many waited', [
    'reason',
  ]);
  const hashing = histogram({
    name: 'foyer_password_hash_duration_seconds',
    help: 'Waiting and hashing of one password',
    buckets: hashBuckets,
  });
  return {
    passwordRefused: (reason) => refused.inc({ reason }),
    passwordHashed: (durationMs) => hashing.observe(durationMs / 1000),
    passwordQueue(read) {
      gauge({
        name: 'foyer_password_queue_length',
        help: 'Passwords that wait for a core',
        collect() {
          this.set(read().waiting);
        },
      });
      gauge({
        name: 'foyer_password_hashes_running',
        help: 'Passwords being hashed',
        collect() {
          this.set(read().running);
        },
      });
    },
  };
}

type SessionMetrics = 'sessionStarted' | 'sessionEnded' | 'issued' | 'reused' | 'clientRefused' | 'signingKeys';

function createSessionMetrics({ counter, gauge }: Factory): Pick<Metrics, SessionMetrics> {
  const started = counter('foyer_sessions_begun_total', 'Sessions begun by signing in');
  const ended = counter('foyer_sessions_ended_total', 'Sessions ended by an act; those that ran out are not in it', [
    'cause',
  ]);
  const issued = counter('foyer_oauth_issued_total', 'Codes and tokens given to client apps', ['kind', 'client_type']);
  const reused = counter('foyer_oauth_reuse_total', 'Codes and refresh tokens that came a second time', ['kind']);
  const refused = counter('foyer_oauth_refused_total', 'Requests of client apps that were refused', [
    'endpoint',
    'error',
  ]);
  const keyActivated = gauge({
    name: 'foyer_signing_key_activated_timestamp_seconds',
    help: 'Since when the key that signs does so',
    labelNames: ['alg'],
    aggregator: 'max',
  });
  return {
    sessionStarted: () => started.inc(),
    sessionEnded: (cause, count = 1) => ended.inc({ cause }, count),
    issued: (kind, clientType) => issued.inc({ kind, client_type: clientType }),
    reused: (kind) => reused.inc({ kind }),
    clientRefused: (endpoint, error) => refused.inc({ endpoint, error }),
    signingKeys(keys) {
      for (const { alg, activatesAt } of keys) keyActivated.set({ alg }, activatesAt / 1000);
    },
  };
}

type MessageMetrics = 'messageAdded' | 'messageTried' | 'messagesWaiting';

function createMessageMetrics({ counter, histogram, gaugeOfOneProcess }: Factory): Pick<Metrics, MessageMetrics> {
  const added = counter('foyer_messages_added_total', 'Messages written to the outbox', ['channel', 'template']);
  const tried = counter('foyer_message_attempts_total', 'Deliveries that were tried, by result', [
    'channel',
    'template',
    'result',
  ]);
  const delivery = histogram({
    name: 'foyer_message_delivery_duration_seconds',
    help: 'One delivery',
    buckets: deliveryBuckets,
    labelNames: ['channel'],
  });
  const waiting = gaugeOfOneProcess('foyer_outbox_waiting', 'Messages that wait for their delivery');
  const oldest = gaugeOfOneProcess('foyer_outbox_oldest_seconds', 'For how long the oldest of them has waited');
  return {
    messageAdded: (channel, template) => added.inc({ channel, template }),
    messageTried({ channel, template, result, durationMs }) {
      tried.inc({ channel, template, result });
      delivery.observe({ channel }, durationMs / 1000);
    },
    messagesWaiting(count, oldestMs) {
      waiting.set(count);
      oldest.set(oldestMs / 1000);
    },
  };
}

type BillingMetrics = 'webhook' | 'ordered' | 'reconciled';

function createBillingMetrics({ counter, gaugeOfOneProcess }: Factory): Pick<Metrics, BillingMetrics> {
  const webhooks = counter('foyer_stripe_webhooks_total', 'Events that Stripe has sent, by type and outcome', [
    'type',
    'outcome',
  ]);
  const orders = counter('foyer_orders_total', 'Paid invoices of plans', ['kind']);
  const repairs = counter('foyer_billing_repairs_total', 'What differed from Stripe and was made equal');
  const differences = gaugeOfOneProcess('foyer_billing_differences', 'What differs from Stripe and needs an operator');
  return {
    webhook: (type, outcome) => webhooks.inc({ type, outcome }),
    ordered: (kind) => orders.inc({ kind }),
    reconciled(repaired, left) {
      repairs.inc(repaired);
      if (left !== undefined) differences.set(left);
    },
  };
}

type RequestMetrics = 'httpRequest' | 'storeAnswered' | 'requestRefused';

function createRequestMetrics({ counter, histogram }: Factory): Pick<Metrics, RequestMetrics> {
  const refused = counter('foyer_requests_refused_total', 'Requests refused because the process had too much to do', [
    'importance',
    'reason',
  ]);
  const http = histogram({
    name: 'foyer_http_request_duration_seconds',
    help: 'From the request to the end of its answer',
    buckets: httpBuckets,
    labelNames: ['method', 'route', 'status'],
  });
  const store = histogram({
    name: 'foyer_store_operation_duration_seconds',
    help: 'Operations of a store',
    buckets: storeBuckets,
    labelNames: ['store', 'operation'],
  });
  const failures = counter('foyer_store_failures_total', 'Operations that failed: away (503 to members) or refused', [
    'store',
    'outcome',
  ]);
  return {
    requestRefused: (importance, reason) => refused.inc({ importance, reason }),
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

export interface PrometheusMetrics extends Metrics {
  readonly registry: Registry;
}

/** Counts in this process; docs/operating.md documents the names, and a test compares them. */
export function createPrometheusMetrics(): PrometheusMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const make = createFactory(registry);
  return {
    on: true,
    registry,
    ...createVisitorMetrics(make),
    ...createPasswordMetrics(make),
    ...createSessionMetrics(make),
    ...createMessageMetrics(make),
    ...createBillingMetrics(make),
    ...createRequestMetrics(make),
  };
}

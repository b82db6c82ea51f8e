import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import express, { type ErrorRequestHandler, type NextFunction } from 'express';
import { onlyFromThisMachine } from '../../server/http/index.ts';
import { apiRoutes, type Exchange } from './api.ts';
import { controlRoutes } from './control.ts';
import { createEngine, type Engine } from './engine/index.ts';
import { createView } from './expansion.ts';
import { createFaults, type FaultKind } from './faults.ts';
import { hostedPages } from './hosted-pages.ts';
import { createIdempotency } from './idempotency.ts';
import { createRequestRate } from './request-rate.ts';
import { scriptRoute } from './script.ts';
import { createStateFile } from './state-file.ts';
import { createWebhooks, type Webhooks, type WebhookTarget } from './webhooks.ts';

export interface StripeStandIn {
  /** `/v1/*`, `/stripe.js`, `/stand-in/*`; passes on all others, if it is used within an Express app. */
  listener: RequestListener & ((req: IncomingMessage, res: ServerResponse, next: NextFunction) => void);
  engine: Engine;
  webhooks: Webhooks;
  /** The next matching request is `lost`, finds Stripe `unreachable`, or is answered by an error (`FaultKind`). */
  fault(kind: FaultKind, match?: (method: string, path: string) => boolean): void;
  /** Sees every request with its answer. */
  observe(observer: (exchange: Exchange) => void): void;
  /** Its whole state as JSON (objects, idempotency keys, deliveries), and the inverse. */
  snapshot(): unknown;
  restore(snapshot: unknown): void;
  /** Ends deliveries, and writes unsaved state to the disk. */
  close(): Promise<void>;
}

/** Other requests than Stripe's calls: an unknown origin, an unreadable body, a fault of the stand-in itself. */
function answerError(log: (line: string) => void): ErrorRequestHandler {
  return (error, req, res, next) => {
    if (res.headersSent) return next(error);
    const { status = 500, message } = error as { status?: number; message?: string };
    if (status >= 500) log(`The stand-in for Stripe has failed at ${req.method} ${req.path}: ${error.stack ?? error}`);
    res.status(status).json({ error: { type: 'invalid_request_error', message: String(message) } });
  };
}

export interface StripeStandInOptions {
  secretKey: string;
  publishableKey: string;
  webhook?: WebhookTarget;
  /** Milliseconds since the epoch. */
  now(): number;
  /** The invoice of a renewal stays a draft for an hour, as at Stripe; by default it is charged at once. */
  draftsRenewals?: boolean;
  /** Days from each failed attempt at a renewal to the next; by default those of Smart Retries. */
  retryAfterDays?: readonly number[];
  /** Further requests of a second are answered 429, as at Stripe; by default there is no limit. */
  requestsPerSecond?: number;
  /** The address for browsers, for example http://127.0.0.1:3001. */
  origin: string;
  /** The file of its persistent state; without one it has none. */
  file?: string;
  /** The folder of the build's output, for /stripe.js. */
  clientDir?: string;
  log?(line: string): void;
}

/** Stripe's HTTP API (2026-10-28) and what belongs to it, for the sandbox and for tests. Money moves nowhere. */
export function createStripeStandIn(options: StripeStandInOptions): StripeStandIn {
  const { secretKey, publishableKey, webhook, now, file, clientDir, log = () => {} } = options;
  let cause: { id: string | null; idempotency_key: string | null } = { id: null, idempotency_key: null };
  const observers: ((exchange: Exchange) => void)[] = [];
  const faults = createFaults();
  const engine = createEngine({
    ...options,
    onEvent(event) {
      event.request = { ...cause };
      deliveries.add(event);
    },
  });
  const view = createView((id) => engine.find(id));
  const idempotency = createIdempotency(() => engine.nowMs());
  const snapshot = () => ({
    engine: engine.snapshot(),
    idempotency: idempotency.snapshot(),
    webhooks: deliveries.snapshot(),
  });
  const restore = (stored: unknown) => {
    const {
      engine: objects,
      idempotency: answers,
      webhooks,
    } = stored as Record<keyof ReturnType<typeof snapshot>, unknown>;
    engine.restore(objects);
    idempotency.restore(answers);
    deliveries.restore(webhooks);
  };
  const stateFile = file === undefined ? undefined : createStateFile(file, snapshot, log);
  const onChange = () => stateFile?.changed();
  const deliveries = createWebhooks({ target: webhook, view: (event) => view(event), log, onChange });
  stateFile?.read(restore);

  const app = express();
  app.disable('x-powered-by').set('query parser', 'extended');
  app.use(['/v1', '/stand-in', '/stripe.js'], onlyFromThisMachine());
  apiRoutes(app, {
    engine,
    view,
    idempotency,
    faults,
    rate: createRequestRate(options.requestsPerSecond),
    keys: { secret: secretKey, publishable: publishableKey },
    withCause(request, work) {
      cause = request;
      try {
        return work();
      } finally {
        cause = { id: null, idempotency_key: null };
      }
    },
    onExchange: (exchange) => {
      for (const observe of observers) observe(exchange);
    },
    onChange,
  });
  hostedPages(app, engine, onChange);
  controlRoutes(app, { engine, secretKey, now, onChange });
  if (clientDir !== undefined) scriptRoute(app, clientDir);
  app.use(['/v1', '/stand-in', '/stripe.js'], answerError(log));

  return {
    listener: app as unknown as StripeStandIn['listener'],
    engine,
    webhooks: deliveries.webhooks,
    fault: (kind, match) => faults.plan(kind, match),
    observe(observer) {
      observers.push(observer);
    },
    snapshot: () => structuredClone(snapshot()),
    restore,
    async close() {
      await deliveries.close();
      await stateFile?.close();
    },
  };
}

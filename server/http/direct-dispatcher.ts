import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Express, Request, RequestHandler, Response } from 'express';
import { createRequestCounter } from './request-counter.ts';

/** A middleware that uses only the API of Node, so that it runs with and without Express. */
export type NodeMiddleware = (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void) => void;

/** Answers a request, or rejects before it has started to. */
export type DirectHandler = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

/** Answers the GET requests to its address that it accepts; Express answers the others. */
export interface DirectPage {
  accepts(req: IncomingMessage): boolean;
  answer(req: Request, res: Response): void;
}

/** The work of this process at the moment, for the decision whether it takes one more request (overload.ts). */
export interface Load {
  /** Requests that were admitted, have arrived whole and are not answered yet. */
  inProgress: number;
  /** Requests that were admitted in this turn of the event loop. */
  admittedInTurn: number;
  /** Time that this turn has taken since its first request: the delay of all that waits for the next one. */
  turnMs: number;
  /** An earlier turn of the last second was too long as well. */
  isLasting: boolean;
}

/** The gate before all others. */
export interface AdmissionGate {
  /** Below both, `refuses` is not asked. */
  calm: { inProgress: number; turnMs: number };
  /** @returns whether it has answered the request */
  refuses(req: IncomingMessage, res: ServerResponse, load: Load): boolean;
}

/** By path. An address with a query is never one of them. */
export type DirectPages = ReadonlyMap<string, DirectPage>;

/** By method and path: `POST /oauth2/token`. */
export type DirectCalls = ReadonlyMap<string, DirectHandler>;

interface DirectCall {
  req: IncomingMessage;
  res: ServerResponse;
  handler: DirectHandler;
}

/** How errors of requests that bypass Express reach its error handler. */
interface ErrorBridge {
  /** Answers an error with a page or a problem document, also if the request did not pass through Express. */
  handleError(req: IncomingMessage, res: ServerResponse, error: unknown): void;
  /** Gives a request that bypasses Express its properties, as Express itself does. */
  toExpress(req: Request, res: Response): void;
  /** The same for a handler. */
  withExpress(answer: DirectPage['answer']): DirectHandler;
  /** The first handler of Express: passes errors of the direct calls to the error handler. */
  middleware: RequestHandler;
}

export function createErrorBridge(app: Express): ErrorBridge {
  const failures = new WeakMap<IncomingMessage, { error: unknown }>();
  return {
    handleError(req, res, error) {
      failures.set(req, { error });
      app(req, res);
    },
    toExpress(req, res) {
      if (req.app !== undefined) return;
      Object.setPrototypeOf(req, app.request);
      Object.setPrototypeOf(res, app.response);
    },
    withExpress: (answer) => async (req, res) => {
      const exchange: { req: Request; res: Response } = {
        req: Object.setPrototypeOf(req, app.request),
        res: Object.setPrototypeOf(res, app.response),
      };
      // `res.send` compares the headers of both.
      exchange.req.res = exchange.res;
      answer(exchange.req, exchange.res);
    },
    middleware(req, _res, next) {
      const failure = failures.get(req);
      if (!failure) return next();
      failures.delete(req);
      next(failure.error);
    },
  };
}

/**
 * The routing of Express costs more than a whole call of the OpenID library. The calls that every sign-in makes, and
 * prepared pages, therefore bypass Express. They pass the same gates in the same order; Express handles everything else and all errors.
 */
export function createDirectDispatcher(
  app: Express,
  { calls, pages }: { calls: DirectCalls; pages: DirectPages },
  { gates, handleError, withExpress }: { gates: readonly NodeMiddleware[] } & Omit<ErrorBridge, 'middleware'>,
): RequestListener {
  const handlers = new Map([...pages].map(([path, { answer }]) => [path, withExpress(answer)]));
  function pass(call: DirectCall, at: number): void {
    const { req, res, handler } = call;
    const gate = gates[at];
    if (!gate) {
      handler(req, res).catch((error: unknown) => handleError(req, res, error));
      return;
    }
    try {
      gate(req, res, (error) => (error === undefined ? pass(call, at + 1) : handleError(req, res, error)));
    } catch (error) {
      handleError(req, res, error);
    }
  }

  const findHandler = (req: IncomingMessage): DirectHandler | undefined => {
    const url = req.url ?? '';
    if (req.method === 'GET' && pages.get(url)?.accepts(req)) return handlers.get(url);
    const query = url.indexOf('?');
    return calls.get(`${req.method} ${query === -1 ? url : url.slice(0, query)}`);
  };

  return (req, res) => {
    const handler = findHandler(req);
    if (handler) pass({ req, res, handler }, 0);
    else app(req, res);
  };
}

/** An overload that ended longer ago has no effect on the next long turn. */
const lastingMs = 1_000;
/** Probes, and files in memory: they are always answered, and answer nothing else. */
function isAlwaysAnswered(url: string): boolean {
  return url.startsWith('/assets/') || url === '/healthz' || url === '/readyz';
}

/** Asks the gate before each request while the process is busy. Calm requests cost a clock reading. */
export function admitRequests(listener: RequestListener, { calm, refuses }: AdmissionGate): RequestListener {
  const load: Load = { inProgress: 0, admittedInTurn: 0, turnMs: 0, isLasting: false };
  let turnBeganMs: number | undefined;
  let longUntilMs = Number.NEGATIVE_INFINITY;
  const counter = createRequestCounter((by) => {
    load.inProgress += by;
  });

  function look(nowMs: number): void {
    if (turnBeganMs === undefined) {
      turnBeganMs = nowMs;
      load.admittedInTurn = 0;
      load.isLasting = nowMs - longUntilMs < lastingMs;
      // After all requests that have arrived by now.
      setImmediate(endTurn);
      counter.pauseSlow(nowMs);
    }
    load.turnMs = nowMs - turnBeganMs;
  }

  function endTurn(): void {
    const nowMs = performance.now();
    if (turnBeganMs !== undefined && nowMs - turnBeganMs >= calm.turnMs) longUntilMs = nowMs;
    turnBeganMs = undefined;
  }

  return (req, res) => {
    if (isAlwaysAnswered(req.url ?? '')) return listener(req, res);
    look(performance.now());
    const isCalm = load.inProgress < calm.inProgress && load.turnMs < calm.turnMs;
    if (!isCalm && refuses(req, res, load)) return;
    load.admittedInTurn += 1;
    // Pictures: a slow reader uses a connection, and no capacity.
    if (req.url?.startsWith('/media/')) return listener(req, res);
    counter.count(req, res);
    listener(req, res);
  };
}

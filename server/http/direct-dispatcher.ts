import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Express, Request, RequestHandler, Response } from 'express';

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
  /** Those in progress that have a password hashed. */
  passwords: ReadonlySet<IncomingMessage>;
  /** How often that set has changed. */
  passwordChanges: number;
}

/** The gate before all others. */
export interface AdmissionGate {
  /** Below both, `refuses` is not asked; with fewer passwords than these, `refusesPassword` is not. */
  calm: { inProgress: number; turnMs: number; passwords: number };
  /** The passwords that wait to be hashed. */
  passwordQueue(): { waiting: number };
  /** @returns whether it has answered the request */
  refuses(req: IncomingMessage, res: ServerResponse, load: Load): boolean;
  /** The same for a form or call that has a password hashed, behind `refuses`. */
  refusesPassword(req: IncomingMessage, res: ServerResponse, load: Load): boolean;
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
/** Most bodies arrive with their head, or right behind it. */
const arrivalMs = 100;

/** Probes, and files in memory: they are always answered, and answer nothing else. */
function isAlwaysAnswered(url: string): boolean {
  return url.startsWith('/assets/') || url === '/healthz' || url === '/readyz';
}

/** Forms and calls that have a password hashed, which costs more than all else. */
const passwordPaths =
  /^\/(?:sign-in|signup(?:\/plan\/[^/?]+)?|reset-password|undo-email-change|re-authenticate|settings\/password|identity\/(?:signUp|forgotPasswordSubmit|changePassword))(?:\?|$)/;

const hashesPassword = ({ method, url = '' }: IncomingMessage) => method === 'POST' && passwordPaths.test(url);

/** Counts a request until its answer is complete or its client has gone. @returns for a body that is still arriving */
function countInProgress(change: (by: 1 | -1) => void, res: ServerResponse): { pause(): void; goOn(): void } {
  let state: 'counted' | 'paused' | 'closed' = 'counted';
  change(1);
  res.once('close', () => {
    if (state === 'counted') change(-1);
    state = 'closed';
  });
  return {
    pause() {
      if (state !== 'counted') return;
      state = 'paused';
      change(-1);
    },
    goOn() {
      if (state !== 'paused') return;
      state = 'counted';
      change(1);
    },
  };
}

/** They usually have no body. */
const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Asks the gate before each request while the process is busy. Calm requests cost a clock reading. */
export function admitRequests(listener: RequestListener, gate: AdmissionGate): RequestListener {
  const { calm } = gate;
  const passwords = new Set<IncomingMessage>();
  const load: Load = { inProgress: 0, admittedInTurn: 0, turnMs: 0, isLasting: false, passwords, passwordChanges: 0 };
  let turnBeganMs: number | undefined;
  let longUntilMs = Number.NEGATIVE_INFINITY;
  let arriving: { req: IncomingMessage; sinceMs: number; pause(): void; goOn(): void }[] = [];

  /** A body that arrives slowly uses no capacity: a few such senders must not make the process look busy. */
  function pauseSlow(nowMs: number): void {
    arriving = arriving.filter(({ req, sinceMs, pause, goOn }) => {
      if (req.complete || nowMs - sinceMs < arrivalMs) return !req.complete;
      pause();
      req.once('end', goOn);
      return false;
    });
  }

  function look(nowMs: number): void {
    if (turnBeganMs === undefined) {
      turnBeganMs = nowMs;
      load.admittedInTurn = 0;
      load.isLasting = nowMs - longUntilMs < lastingMs;
      // After all requests that have arrived by now.
      setImmediate(endTurn);
      if (arriving.length > 0) pauseSlow(nowMs);
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
    if (!isCalm && gate.refuses(req, res, load)) return;
    const isPassword = hashesPassword(req);
    if (isPassword && Math.max(passwords.size, gate.passwordQueue().waiting) >= calm.passwords)
      if (gate.refusesPassword(req, res, load)) return;
    load.admittedInTurn += 1;
    // Pictures: a slow reader uses a connection, and no capacity.
    if (req.url?.startsWith('/media/')) return listener(req, res);
    const counted = countInProgress((by) => {
      load.inProgress += by;
      if (!isPassword) return;
      passwords[by === 1 ? 'add' : 'delete'](req);
      load.passwordChanges += 1;
    }, res);
    if (!safeMethods.has(req.method ?? '')) arriving.push({ req, sinceMs: performance.now(), ...counted });
    listener(req, res);
  };
}

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

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Express, Request, RequestHandler, Response } from 'express';

/** A middleware that uses only the API of Node, so that it runs with and without Express. */
export type NodeMiddleware = (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void) => void;

/** Answers a request, or rejects before it has started to. */
export type DirectHandler = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

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
    middleware(req, _res, next) {
      const failure = failures.get(req);
      if (!failure) return next();
      failures.delete(req);
      next(failure.error);
    },
  };
}

/**
 * The routing of Express costs more than a whole call of the OpenID library. The calls that every sign-in makes
 * therefore bypass Express. They pass the same gates in the same order; Express handles everything else and all errors.
 */
export function createDirectDispatcher(
  app: Express,
  calls: DirectCalls,
  { gates, handleError }: { gates: readonly NodeMiddleware[] } & Pick<ErrorBridge, 'handleError'>,
): RequestListener {
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

  return (req, res) => {
    const url = req.url ?? '';
    const query = url.indexOf('?');
    const handler = calls.get(`${req.method} ${query === -1 ? url : url.slice(0, query)}`);
    if (handler) pass({ req, res, handler }, 0);
    else app(req, res);
  };
}

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Express, RequestHandler } from 'express';

/** One step before a request is answered, as Express and Connect have them; it knows only what Node gives. */
export type NodeMiddleware = (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void) => void;

/** Answers a request, or rejects before it has begun to. */
export type DirectHandler = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

export interface DirectDispatcher {
  listener: RequestListener;
  /** Answers an error with its page or document, also where the request did not come through Express. */
  handleError(req: IncomingMessage, res: ServerResponse, error: unknown): void;
  /** Stands first in Express: leads what has failed before it to the error handler. */
  errorBridge: RequestHandler;
}

/**
 * Express costs more than a whole call of the OpenID library. So the calls that are made for every sign-in go past it,
 * through the same gates in the same order; everything else, and every error, is Express's.
 *
 * @param direct the handler of such a call, by its exact method and path
 */
export function createDirectDispatcher(
  app: Express,
  gates: readonly NodeMiddleware[],
  direct: (method: string, path: string) => DirectHandler | undefined,
): DirectDispatcher {
  const failures = new WeakMap<IncomingMessage, { error: unknown }>();

  function handleError(req: IncomingMessage, res: ServerResponse, error: unknown): void {
    failures.set(req, { error });
    app(req, res);
  }

  function pass(req: IncomingMessage, res: ServerResponse, handler: DirectHandler, at: number): void {
    const gate = gates[at];
    if (!gate) {
      handler(req, res).catch((error: unknown) => handleError(req, res, error));
      return;
    }
    try {
      gate(req, res, (error) => (error === undefined ? pass(req, res, handler, at + 1) : handleError(req, res, error)));
    } catch (error) {
      handleError(req, res, error);
    }
  }

  return {
    listener(req, res) {
      const url = req.url ?? '';
      const query = url.indexOf('?');
      const handler = direct(req.method ?? '', query === -1 ? url : url.slice(0, query));
      if (handler) pass(req, res, handler, 0);
      else app(req, res);
    },
    handleError,
    errorBridge(req, _res, next) {
      const failure = failures.get(req);
      if (!failure) return next();
      failures.delete(req);
      next(failure.error);
    },
  };
}

import type { RequestHandler } from 'express';

/** One request to a provider, with its answer. */
export interface ProviderExchange {
  method: string;
  path: string;
  query: Record<string, unknown>;
  body: Record<string, unknown>;
  authorization: string | undefined;
  status: number;
  /** The target of a redirect. */
  location: string | undefined;
  /** As it was sent; '' for an answer that never ended. */
  answer: string;
}

/** Reports every exchange when it is over. */
export function observe(seen: (exchange: ProviderExchange) => void): RequestHandler {
  return (req, res, next) => {
    const { send } = res;
    let answer = '';
    res.send = (body?: unknown) => {
      if (typeof body === 'string') answer = body;
      return send.call(res, body as string);
    };
    const { path, query } = { path: new URL(req.originalUrl, 'http://localhost').pathname, query: { ...req.query } };
    res.on('close', () =>
      seen({
        method: req.method,
        path,
        query,
        status: res.statusCode,
        answer,
        body: (req.body ?? {}) as Record<string, unknown>,
        authorization: req.get('authorization'),
        location: res.get('location'),
      }),
    );
    next();
  };
}

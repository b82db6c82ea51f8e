import { randomBytes } from 'node:crypto';
import type { Request, Response } from 'express';
import { type DestinationStream, type Logger, pino } from 'pino';
import { type HttpLogger, pinoHttp } from 'pino-http';

export type { Logger };

/** @param stream where lines go; standard output by default */
export function createLog(level: string, stream?: DestinationStream): Logger {
  return stream ? pino({ level }, stream) : pino({ level });
}

/** The reference that an error page shows and its log line carries: short enough to be read out. */
function reference(): string {
  return randomBytes(5).toString('hex').toUpperCase();
}

const references = new WeakMap<object, string>();

/** The reference number of this request. */
export function referenceOf(req: Request): string {
  let known = references.get(req);
  if (known === undefined) {
    known = reference();
    references.set(req, known);
  }
  return known;
}

/** Paths carry no secrets, queries may (codes, states, hints): they are never logged. */
function pathOf(url: string | undefined): string {
  return (url ?? '').split('?', 1)[0] ?? '';
}

/** One line per request: reference, method, path, status and time. No headers, queries, bodies or cookies. */
export function requestLog(log: Logger): HttpLogger<Request, Response> {
  return pinoHttp<Request, Response>({
    logger: log,
    genReqId: (req) => referenceOf(req),
    customLogLevel: (_req, res, error) =>
      error || res.statusCode >= 500 ? 'error' : res.statusCode >= 400 ? 'info' : 'debug',
    serializers: {
      req: (req: { id: string; method: string; url: string }) => ({
        id: req.id,
        method: req.method,
        path: pathOf(req.url),
      }),
      res: (res: { statusCode: number }) => ({ status: res.statusCode }),
    },
  });
}

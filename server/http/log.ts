import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type DestinationStream, type Logger, pino } from 'pino';
import type { Gate } from './front.ts';

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
export function referenceOf(req: IncomingMessage): string {
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
export function requestLog(log: Logger): Gate {
  return (req, res, next) => {
    const beganMs = performance.now();
    // Routers change it on their way.
    const { method, url } = req;
    res.once('close', () => {
      const { statusCode: status, writableEnded } = res;
      const level = status >= 500 ? 'error' : status >= 400 ? 'info' : 'debug';
      // Most lines are not wanted, and then nothing is made of them.
      if (!log.isLevelEnabled(level)) return;
      log[level](
        {
          req: { id: referenceOf(req), method, path: pathOf(url) },
          res: { status },
          responseTime: Math.round(performance.now() - beganMs),
        },
        writableEnded ? 'request completed' : 'request aborted',
      );
    });
    next();
  };
}

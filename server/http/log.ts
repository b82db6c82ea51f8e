import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type DestinationStream, type Logger, type LoggerOptions, pino, stdSerializers } from 'pino';
import type { NodeMiddleware } from './direct-dispatcher.ts';
import { routePattern } from './request-metrics.ts';

export type { Logger };

/** The request that the code which logs is working for. */
const requests = new AsyncLocalStorage<IncomingMessage>();

/**
 * What must never stand in a log is not given to it; this is the second net, for what a later line might bring along.
 * Wildcards reach one level down.
 */
const redacted = [
  ...['password', 'secret', 'token', 'cookie', 'authorization', 'headers', 'body', 'query', 'url'],
  ...['access_token', 'refresh_token', 'id_token', 'client_secret', 'code_verifier', 'verifier', 'nonce', 'otp'],
].flatMap((name) => [name, `*.${name}`]);

/**
 * An error as its name, message and stack, with those of its causes. The errors of libraries carry more: what was parsed
 * (body-parser), the command with its values (ioredis), the row (PostgreSQL).
 */
function plainError(error: Error): unknown {
  if (!(error instanceof Error)) return { type: typeof error };
  const { type, message, stack } = stdSerializers.err(error);
  const code: unknown = Reflect.get(error, 'code');
  return { type, message, stack, ...(typeof code === 'string' && { code }) };
}

/**
 * One JSON object per line, with the process's id, and with the request's reference on every line that is written while a
 * request is served, wherever.
 * @param stream where lines go; standard output by default
 */
export function createLog(level: string, stream?: DestinationStream): Logger {
  const options: LoggerOptions = {
    level,
    serializers: { err: plainError },
    redact: { paths: redacted, censor: '[redacted]' },
    mixin() {
      const req = requests.getStore();
      return req ? { reference: requestReference(req) } : {};
    },
  };
  return stream ? pino(options, stream) : pino(options);
}

/** The reference that an error page shows and its log lines carry: short enough to be read out. */
function reference(): string {
  return randomBytes(5).toString('hex').toUpperCase();
}

const references = new WeakMap<object, string>();

/** The reference number of this request. */
export function requestReference(req: IncomingMessage): string {
  let known = references.get(req);
  if (known === undefined) {
    known = reference();
    references.set(req, known);
  }
  return known;
}

/** Lines that `write` writes carry the request's reference, also where the request's own context is lost. */
export function withRequestContext(req: IncomingMessage, write: () => void): void {
  requests.run(req, write);
}

/**
 * The route's pattern, or what was asked for where there is none: paths may name a pending request, and queries carry codes,
 * states and hints, which are never logged.
 */
const loggedPath = (req: IncomingMessage, url = '') => routePattern(req) ?? (url.split('?', 1)[0] ?? '').slice(0, 200);

/** One line per request: reference, method, path, status and time. No headers, queries, bodies or cookies. */
export function requestLog(log: Logger): NodeMiddleware {
  return (req, res, next) => {
    const beganMs = performance.now();
    // Routers change it on their way.
    const { method, url } = req;
    res.once('close', () => {
      const { statusCode: status, writableEnded } = res;
      const level = status >= 500 ? 'error' : status >= 400 ? 'info' : 'debug';
      // Most lines are not wanted, and then nothing is made of them.
      if (!log.isLevelEnabled(level)) return;
      const ms = Math.round(performance.now() - beganMs);
      withRequestContext(req, () =>
        log[level](
          { method, path: loggedPath(req, url), status, ms },
          writableEnded ? 'request completed' : 'request aborted',
        ),
      );
    });
    requests.run(req, next);
  };
}

import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type DestinationStream, type Logger, type LoggerOptions, pino, stdSerializers } from 'pino';
import type { Metrics } from '../shared/index.ts';
import type { NodeMiddleware } from './direct-dispatcher.ts';

export type { Logger };

/** The request during which a log line is written. */
const requests = new AsyncLocalStorage<IncomingMessage>();

/**
 * Secrets are never passed to the log. This list is a second safeguard for lines that are added later. Wildcards match
 * one level.
 */
const redacted = [
  ...['password', 'secret', 'token', 'cookie', 'authorization', 'headers', 'body', 'query', 'url'],
  ...['access_token', 'refresh_token', 'id_token', 'client_secret', 'code_verifier', 'verifier', 'nonce', 'otp'],
].flatMap((name) => [name, `*.${name}`]);

/**
 * An error as its name, message and stack, with those of its causes. Errors of libraries contain more: the parsed text
 * (body-parser), the command with its values (ioredis), the row (PostgreSQL).
 */
function plainError(error: Error): unknown {
  if (!(error instanceof Error)) return { type: typeof error };
  const { type, message, stack } = stdSerializers.err(error);
  const code: unknown = Reflect.get(error, 'code');
  return { type, message, stack, ...(typeof code === 'string' && { code }) };
}

/**
 * Writes one JSON object per line, with the process id. Every line that is written during a request has the request's
 * reference.
 * @param stream destination of the lines; standard output by default
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

/** The reference on an error page and in its log lines: short enough to be read aloud. */
function reference(): string {
  return randomBytes(5).toString('hex').toUpperCase();
}

const references = new WeakMap<object, string>();

/** The reference of this request. */
export function requestReference(req: IncomingMessage): string {
  let known = references.get(req);
  if (known === undefined) {
    known = reference();
    references.set(req, known);
  }
  return known;
}

/** The request that is being answered; undefined in jobs and commands. */
export const currentRequest = (): IncomingMessage | undefined => requests.getStore();

/** Adds the request's reference to the lines of `write`, even if the request's own async context is lost. */
export function withRequestContext(req: IncomingMessage, write: () => void): void {
  requests.run(req, write);
}

/**
 * The pattern of the Express route that served a request, as in `/oauth2/authorize/:uid`, or undefined if none did. The
 * path itself is not used: visitors can request any path, and paths contain ids of pending requests.
 */
function routePattern(req: IncomingMessage): string | undefined {
  const route: unknown = Reflect.get(req, 'route');
  const path: unknown = Reflect.get(Object(route), 'path');
  return typeof path === 'string' ? path : undefined;
}

/**
 * The route pattern, or only a fixed text if no route matched. Paths may name a pending request, and queries contain
 * codes, states and hints, which are never logged.
 */
const loggedPath = (req: IncomingMessage, url = '') => routePattern(req) ?? (url.split('?', 1)[0] ?? '').slice(0, 200);

/** One line per request: reference, method, path, status and time. No headers, queries, bodies or cookies. */
export function requestLog(log: Logger): NodeMiddleware {
  return (req, res, next) => {
    const beganMs = performance.now();
    // Routers change the URL during routing.
    const { method, url } = req;
    res.once('close', () => {
      const { statusCode: status, writableEnded } = res;
      const level = status >= 500 ? 'error' : status >= 400 ? 'info' : 'debug';
      // Most lines are below the log level; they are not built at all.
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

/**
 * Reports each request when its answer is complete or its client has disconnected.
 * @param direct method and path of requests that bypass Express: their path is their route
 */
export function measureRequests(metrics: Metrics, direct: ReadonlySet<string>): NodeMiddleware {
  return (req, res, next) => {
    const beganMs = performance.now();
    const { method = '', url = '' } = req;
    res.once('close', () => {
      const path = url.split('?', 1)[0] ?? '';
      const other = direct.has(`${method} ${path}`) ? path : path.startsWith('/assets/') ? '/assets/*' : 'none';
      const status = res.writableFinished ? res.statusCode : undefined;
      metrics.httpRequest({
        method,
        route: routePattern(req) ?? other,
        status,
        durationMs: performance.now() - beganMs,
      });
    });
    next();
  };
}

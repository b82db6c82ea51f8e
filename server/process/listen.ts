import { createServer, type Server as HttpServer, type RequestListener, type Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { problemType } from '../http/index.ts';
import { explainListenError, type ListenPlace } from '../listen-fault.ts';
import { StartError } from './start-error.ts';

/** Requests that Node's parser rejects never reach Express, so they are answered here. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') return;
  const [status, kind, title] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? (['431 Request Header Fields Too Large', 'headersTooLarge', 'The request headers are too large.'] as const)
      : (['400 Bad Request', 'badRequest', 'The request cannot be read.'] as const);
  // RFC 9457. There is no log line that `instance` could name.
  const text = JSON.stringify({ type: problemType(kind), title, status: Number.parseInt(status, 10), detail: title });
  const head = [
    `HTTP/1.1 ${status}`,
    'Connection: close',
    'Content-Type: application/problem+json',
    `Content-Length: ${text.length}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`);
}

/** Interval of the check for unfinished requests, so one is cut at most this long after its limit. */
const connectionsCheckingInterval = 5_000;

/**
 * Longer than a proxy keeps an idle connection (nginx: 60 seconds). Otherwise the proxy could send a request at the
 * moment in which the server closes the connection, and would answer 502.
 */
const keepAliveTimeout = 65_000;
/** A stopping server waits as long for one more request on idle connections. */
const idleWhileDrainingMs = 5_000;

interface ListenAt extends ListenPlace {
  /** Further connections are closed at once; with several processes Node first offers them to another one. */
  maxConnections?: number;
}

/** @throws {StartError} if the port is in use, or the address is not this machine's */
export function listen(listener: RequestListener, at: ListenAt): Promise<HttpServer> {
  const { port, host, maxConnections } = at;
  const server = createServer(
    {
      maxHeaderSize: 16_384,
      requestTimeout: 30_000,
      headersTimeout: 15_000,
      connectionsCheckingInterval,
      keepAliveTimeout,
    },
    listener,
  );
  if (maxConnections !== undefined) server.maxConnections = maxConnections;
  server.on('clientError', refuseUnreadable);
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reason = explainListenError(error.code, at);
      reject(reason === undefined ? error : new StartError(reason));
    });
    server.listen(port, host, () => resolve(server));
  });
}

/**
 * Stops without failing a request: accepts no new connection, answers all requests on existing ones, and asks each
 * client with its next answer to use another connection. Connections that are still open at the limit are cut.
 * @param keepIdle whether clients may send one more request on idle connections; otherwise these are closed at once.
 */
export function drain(server: Server, { limitMs, keepIdle }: { limitMs: number; keepIdle: boolean }): Promise<void> {
  return new Promise((resolve) => {
    const limit = setTimeout(() => server.closeAllConnections(), limitMs);
    const idle = setTimeout(() => server.closeIdleConnections(), idleWhileDrainingMs);
    server.prependListener('request', (_req, res) => res.setHeader('Connection', 'close'));
    // The close of http.Server would cut idle connections, on which a request may just be arriving.
    NetServer.prototype.close.call(server, () => {
      clearTimeout(limit);
      clearTimeout(idle);
      resolve();
    });
    if (!keepIdle) server.closeIdleConnections();
  });
}

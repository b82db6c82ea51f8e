import { createServer, type Server as HttpServer, type RequestListener, type Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { StartError } from './start-error.ts';

/** Requests that Node's parser rejects never reach Express, so they are answered here. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') return;
  const [status, text] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? ['431 Request Header Fields Too Large', 'The request headers are too large.']
      : ['400 Bad Request', 'The request cannot be read.'];
  const head = [
    `HTTP/1.1 ${status}`,
    'Connection: close',
    'Content-Type: text/plain',
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

interface ListenAt {
  port: number;
  host: string;
  /** The variable that sets the port. */
  variable?: string;
  /** Further connections are closed at once; with several processes Node first offers them to another one. */
  maxConnections?: number;
}

/** @throws {StartError} if the port is in use */
export function listen(
  listener: RequestListener,
  { port, host, variable = 'PORT (or SANDBOX_PORT)', maxConnections }: ListenAt,
): Promise<HttpServer> {
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
      const taken = new StartError(`Port ${port} is in use: set ${variable} to another one.`);
      reject(error.code === 'EADDRINUSE' ? taken : error);
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

import { createServer as createPlainServer, type IncomingHttpHeaders, type RequestListener, request } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import type { TestCertificate } from './certificate.ts';

/** The reverse proxy of production: it terminates TLS. A test lets it spoil its requests. */
export interface ReverseProxy {
  /** `https://localhost:<port>` */
  url: string;
  /** The port of http://, which redirects. */
  plainPort: number;
  /** The target of requests. */
  target: string;
  /** Correct by default; a test can replace it. */
  toServer(headers: IncomingHttpHeaders, client: string): IncomingHttpHeaders;
  toClient(headers: IncomingHttpHeaders): IncomingHttpHeaders;
  /** Answers http://. */
  plain: RequestListener;
  /** Uses this certificate from now on. */
  present(certificate: TestCertificate): void;
  stop(): Promise<void>;
}

const listening = (server: Server) =>
  new Promise<number>((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)),
  );

export const goodHeaders: ReverseProxy['toServer'] = (headers, client) => ({
  ...headers,
  'x-forwarded-for': client,
  'x-forwarded-proto': 'https',
});

export async function startReverseProxy(certificate: TestCertificate): Promise<ReverseProxy> {
  const server = createServer(certificate, (req, res) => {
    const client = req.socket.remoteAddress ?? '';
    const upstream = request(new URL(req.url ?? '/', proxy.target), {
      method: req.method,
      headers: proxy.toServer(req.headers, client),
      agent: false,
    });
    upstream.on('response', (answer) => {
      res.writeHead(answer.statusCode ?? 500, proxy.toClient(answer.headers));
      answer.pipe(res);
    });
    upstream.on('error', () => {
      if (!res.headersSent) res.writeHead(502);
      res.end();
    });
    req.pipe(upstream);
  });
  const plainServer = createPlainServer((req, res) => proxy.plain(req, res));
  const [port, plainPort] = [await listening(server), await listening(plainServer)];
  const url = `https://localhost:${port}`;
  const proxy: ReverseProxy = {
    url,
    plainPort,
    target: 'http://127.0.0.1:9',
    toServer: goodHeaders,
    toClient: (headers) => headers,
    plain: (req, res) => res.writeHead(301, { location: url + req.url }).end(),
    present: (other) => server.setSecureContext(other),
    async stop() {
      for (const each of [server, plainServer]) {
        each.closeAllConnections();
        await new Promise((resolve) => each.close(resolve));
      }
    },
  };
  return proxy;
}

import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { TestCertificate } from './certificate.ts';

/** An HTTP proxy (RFC 9110, section 9.3.6) in front of hosts that only it can find. */
export interface ConnectProxy {
  /** `127.0.0.1:<port>` */
  host: string;
  /** The request line of each request to it, without the version. */
  asked: string[];
  /** The Proxy-Authorization header of each. */
  credentials: (string | undefined)[];
  /** Answers CONNECT with this status from now on, and connects to nothing; 200 by default. */
  status: number;
  close(): Promise<void>;
}

interface ProxiedHosts {
  /** Ports of 127.0.0.1 by `host:port`; the proxy itself ends TLS for them, but for port 80. */
  ports: Record<string, number>;
  certificate: TestCertificate;
}

function pipe(one: Socket, other: Socket): void {
  one.on('error', () => other.destroy());
  other.on('error', () => one.destroy());
  one.pipe(other);
  other.pipe(one);
}

export async function startConnectProxy({ ports, certificate }: ProxiedHosts): Promise<ConnectProxy> {
  const sockets = new Set<Socket>();
  const server = createServer((_req, res) => res.writeHead(405).end());
  server.on('connection', (socket) => sockets.add(socket));
  server.on('connect', (req, socket: Socket) => {
    proxy.asked.push(`${req.method} ${req.url}`);
    proxy.credentials.push(req.headers['proxy-authorization']);
    const port = ports[req.url ?? ''];
    const status = proxy.status === 200 && port === undefined ? 502 : proxy.status;
    socket.write(`HTTP/1.1 ${status} Answer\r\n\r\n`);
    socket.on('error', () => {});
    if (status !== 200 || port === undefined) return void socket.end();
    const onward = connect(port, '127.0.0.1');
    pipe(req.url?.endsWith(':80') ? socket : new TLSSocket(socket, { isServer: true, ...certificate }), onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: ConnectProxy = {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    credentials: [],
    status: 200,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}

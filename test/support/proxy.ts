import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net';

/** Stands between Foyer and a server of its own, so that a test can take that server away from it alone. */
export interface ServerProxy {
  /** The address of the server, through the proxy. */
  url: string;
  /** Connections break, and new ones are refused. */
  cut(): void;
  /** Nothing comes through any more, and nobody says so. */
  freeze(): void;
  /** As at first. */
  mend(): void;
  stop(): Promise<void>;
}

export async function startProxy(target: string): Promise<ServerProxy> {
  const { hostname: host, port } = new URL(target);
  const sockets = new Set<Socket>();
  let state: 'open' | 'cut' | 'frozen' = 'open';
  const server = createServer((client) => {
    const upstream = createConnection({ port: Number(port), host });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(from);
          to.destroy();
        });
      from.on('data', (chunk) => state === 'open' && to.write(chunk));
    }
    if (state === 'cut') client.destroy();
  });
  const breakAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(target);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    cut() {
      state = 'cut';
      breakAll();
    },
    freeze() {
      state = 'frozen';
    },
    mend() {
      // What was swallowed is missing: these connections are of no use any more.
      breakAll();
      state = 'open';
    },
    async stop() {
      breakAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

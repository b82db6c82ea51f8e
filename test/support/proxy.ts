import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net';
import { openDatabase, openKeyValue } from '../../server/store/index.ts';
import type { Backend } from './stores.ts';

/** A proxy between Foyer and a server, so that a test can disconnect that server for itself only. */
export interface ServerProxy {
  /** The address of the server, through the proxy. */
  url: string;
  /** Breaks connections, and refuses new ones. */
  cut(): void;
  /** Passes nothing on any more, without an error. */
  freeze(): void;
  /** Restores the initial state. */
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
      // Dropped data are missing, so these connections are useless.
      breakAll();
      state = 'open';
    },
    async stop() {
      breakAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The backend of servers, each behind a proxy of this test only; the proxies exist once it is open. */
export function behindProxies(servers: Backend): {
  backend: Backend;
  proxies: Record<'database' | 'keyValue', () => ServerProxy>;
} {
  const started = new Map<string, ServerProxy>();
  const proxy = (name: string) => () => {
    const found = started.get(name);
    if (!found) throw new Error('the backend has not been opened');
    return found;
  };
  return {
    proxies: { database: proxy('database'), keyValue: proxy('keyValue') },
    backend: {
      ...servers,
      async open() {
        const { urls, remove } = await servers.reserve({ migrated: true });
        const [toDatabase, toKeyValue] = [await startProxy(urls.databaseUrl), await startProxy(urls.redisUrl)];
        started.set('database', toDatabase).set('keyValue', toKeyValue);
        const database = await openDatabase({ url: toDatabase.url, dataDir: urls.dataDir });
        const kv = await openKeyValue({ url: toKeyValue.url, dataDir: urls.dataDir });
        return {
          database,
          kv,
          urls,
          async destroy() {
            for (const each of started.values()) each.mend();
            await Promise.all([kv.close(), database.close()]);
            await Promise.all([...started.values()].map((each) => each.stop()));
            await remove();
          },
        };
      },
    },
  };
}

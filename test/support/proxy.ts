import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net';
import { openDatabase, openKeyValue } from '../../server/store/index.ts';
import type { Backend } from './stores.ts';

/** A proxy between Foyer and a server, so that a test can disconnect that server for itself only. */
export interface ServerProxy {
  /** The address of the server, through the proxy. */
  url: string;
  /** Breaks connections, and new ones as soon as they are made. */
  cut(): void;
  /** Breaks connections, and refuses new ones (ECONNREFUSED). */
  refuse(): Promise<void>;
  /** Passes nothing on any more, without an error. */
  freeze(): void;
  /** As a lost route: present connections pass nothing in either direction, not even their end; new ones work. */
  strand(): void;
  /** Each answer comes so much later. */
  delay(ms: number): void;
  /** Waits for Foyer to send these bytes, and then fails that connection, once. @returns whether it has happened */
  trap(trap: Trap): () => boolean;
  /** Waits no longer. */
  disarm(): void;
  /** The connections from Foyer at present. */
  connections(): number;
  /** New connections lead to another server, as after a failover; present ones stay. */
  leadTo(target: string): void;
  /** Restores the initial state. */
  mend(): Promise<void>;
  stop(): Promise<void>;
}

type State = { name: 'open' | 'cut' | 'frozen' } | { name: 'late'; ms: number };

interface Trap {
  text: string;
  /** Which piece of data with this text, from 1; the first one if it is left out. */
  nth?: number;
  /** `unsent`: the server never gets them; `unanswered`: it does, and its answer is lost; `half`: half of it arrives. */
  kind: 'unsent' | 'unanswered' | 'half';
}

/** A connection of Foyer through the proxy to the server. */
class Link {
  readonly client: Socket;
  readonly upstream: Socket;
  isStranded = false;
  /** How the next answer is lost. */
  caught: Trap['kind'] | undefined;
  constructor(client: Socket, upstream: Socket) {
    this.client = client;
    this.upstream = upstream;
  }
  destroy(): void {
    this.client.destroy();
    this.upstream.destroy();
  }
}

export async function startProxy(target: string): Promise<ServerProxy> {
  let { hostname: host, port } = new URL(target);
  const links = new Set<Link>();
  let state: State = { name: 'open' };
  let trap: Required<Trap> | undefined;
  let isSprung = false;

  function toServer(link: Link, chunk: Buffer): void {
    if (link.isStranded || state.name === 'frozen') return;
    if (trap && chunk.includes(trap.text)) {
      trap.nth -= 1;
      if (trap.nth <= 0) {
        link.caught = trap.kind;
        trap = undefined;
        isSprung = true;
      }
    }
    if (link.caught === 'unsent') link.destroy();
    else link.upstream.write(chunk);
  }
  function toClient(link: Link, chunk: Buffer): void {
    if (link.isStranded || state.name === 'frozen') return;
    const { caught } = link;
    if (caught) {
      link.caught = undefined;
      if (caught === 'half') {
        link.client.write(chunk.subarray(0, Math.ceil(chunk.length / 2)));
        link.isStranded = true;
      } else link.destroy();
    } else if (state.name === 'late') setTimeout(() => link.client.write(chunk), state.ms);
    else link.client.write(chunk);
  }
  const server = createServer((client) => {
    const link = new Link(client, createConnection({ port: Number(port), host }));
    links.add(link);
    // A stranded connection's end does not arrive at the other side.
    client.on('error', () => {}).on('close', () => link.isStranded || link.destroy());
    link.upstream.on('error', () => {}).on('close', () => link.isStranded || link.destroy());
    link.upstream.on('close', () => links.delete(link));
    client.on('data', (chunk) => toServer(link, chunk));
    link.upstream.on('data', (chunk) => toClient(link, chunk));
    if (state.name === 'cut') link.destroy();
  });
  const listen = (at: number) => new Promise<void>((resolve) => server.listen(at, '127.0.0.1', resolve));
  const breakAll = () => {
    for (const link of links) link.destroy();
  };
  await listen(0);
  const url = new URL(target);
  const ownPort = (server.address() as AddressInfo).port;
  url.port = String(ownPort);
  return {
    url: url.href,
    cut() {
      state = { name: 'cut' };
      breakAll();
    },
    async refuse() {
      const closed = new Promise((resolve) => server.close(resolve));
      breakAll();
      await closed;
    },
    freeze() {
      state = { name: 'frozen' };
    },
    strand() {
      for (const link of links) link.isStranded = true;
    },
    delay(ms) {
      state = { name: 'late', ms };
    },
    trap(next) {
      trap = { nth: 1, ...next };
      isSprung = false;
      return () => isSprung;
    },
    disarm() {
      trap = undefined;
    },
    leadTo(next) {
      ({ hostname: host, port } = new URL(next));
    },
    connections: () => [...links].filter(({ client }) => !client.destroyed).length,
    async mend() {
      // Dropped data are missing, so these connections are useless.
      breakAll();
      state = { name: 'open' };
      trap = undefined;
      if (!server.listening) await listen(ownPort);
    },
    async stop() {
      breakAll();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
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
            for (const each of started.values()) await each.mend();
            await Promise.all([kv.close(), database.close()]);
            await Promise.all([...started.values()].map((each) => each.stop()));
            await remove();
          },
        };
      },
    },
  };
}

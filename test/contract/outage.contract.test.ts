import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createConnection, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { openDatabase, openKeyValue, StoreUnavailable } from '../../server/store/index.ts';
import { keepReviving } from '../../server/store/redis-revival.ts';
import { freePort, leftOut, startPostgres, startRedis, startSentinel } from '../support/services.ts';

/** Well below the timeout of a browser and above every time limit of the stores. */
const QUICKLY_MS = 6000;
const MINUTE_MS = 60_000;

async function expectUnavailable(work: Promise<unknown>): Promise<void> {
  const started = performance.now();
  await expect(work).rejects.toThrow(StoreUnavailable);
  expect(performance.now() - started).toBeLessThan(QUICKLY_MS);
}

/** Repeats `work` until it succeeds; during the fail-over only StoreUnavailable is allowed. */
async function eventually<T>(work: () => Promise<T>, limitMs = 20_000): Promise<T> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || performance.now() > deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Undone after each test, latest first, even if the test failed. */
const cleanups: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function opened<T extends { close(): Promise<void> }>(opening: Promise<T>): Promise<T> {
  const store = await opening;
  cleanups.push(() => store.close());
  return store;
}

async function started<T extends { stop(): Promise<void> }>(starting: Promise<T>): Promise<T> {
  const service = await starting;
  cleanups.push(() => service.stop());
  return service;
}

/** A server that accepts connections and never answers. */
async function startSilentServer(): Promise<{ port: number; stop(): Promise<void> }> {
  const server = createServer();
  const sockets = new Set<{ destroy(): void }>();
  server.on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A proxy between client and server. On command it drops the next answer and breaks the connection. */
async function startSwallowingProxy(targetPort: number) {
  let swallow = false;
  const server = createServer((client) => {
    const target = createConnection({ port: targetPort, host: '127.0.0.1' });
    client.on('error', () => {}).on('close', () => target.destroy());
    target.on('error', () => {}).on('close', () => client.destroy());
    client.on('data', (chunk) => target.write(chunk));
    target.on('data', (chunk) => {
      if (!swallow) return client.write(chunk);
      swallow = false;
      return client.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    swallowNextAnswer() {
      swallow = true;
    },
    async stop() {
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('a data directory that cannot be used', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'foyer-test-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('A data directory that cannot be used throws StoreUnavailable', async () => {
    const dataDir = join(folder, 'a-file');
    await writeFile(dataDir, 'not a directory');
    await expectUnavailable(openDatabase({ dataDir }));
    await expectUnavailable(openKeyValue({ dataDir }));
  });

  it('A data directory whose files are not SQLite throws StoreUnavailable', async () => {
    const noise = 'this is no database at all, but long enough to be taken for one. '.repeat(100);
    await writeFile(join(folder, 'foyer.db'), noise);
    await writeFile(join(folder, 'short-lived.db'), noise);
    await expectUnavailable(openDatabase({ dataDir: folder }));
    await expectUnavailable(openKeyValue({ dataDir: folder }));
  });

  it('A closed key-value file throws StoreUnavailable', async () => {
    const kv = await opened(openKeyValue({ dataDir: join(folder, 'closed') }));
    await kv.set('a', 'x', MINUTE_MS);
    const last = kv.set('b', 'written before it closes', MINUTE_MS);
    await kv.close();
    await last;
    await expectUnavailable(kv.get('a'));
    await expectUnavailable(kv.set('a', 'x', MINUTE_MS));
    const again = await opened(openKeyValue({ dataDir: join(folder, 'closed') }));
    expect(await again.get('b')).toBe('written before it closes');
  });
});

describe('addresses of another kind', () => {
  it('An address of another kind is refused, and the error names the right kind', async () => {
    await expect(openDatabase({ url: 'mysql://localhost/x', dataDir: '.' })).rejects.toThrow(/postgres:\/\//);
    await expect(openKeyValue({ url: 'memcached://localhost', dataDir: '.' })).rejects.toThrow(/redis:\/\//);
  });
});

if (!leftOut('postgres')) {
  describe('PostgreSQL away', () => {
    it('A PostgreSQL address without a server throws StoreUnavailable', async () => {
      await expectUnavailable(openDatabase({ url: `postgres://foyer@127.0.0.1:${await freePort()}/x`, dataDir: '.' }));
    });

    it('A PostgreSQL server that accepts and stays silent causes StoreUnavailable and no hang', async () => {
      const silent = await started(startSilentServer());
      await expectUnavailable(openDatabase({ url: `postgres://foyer@127.0.0.1:${silent.port}/x`, dataDir: '.' }));
    });

    it('A PostgreSQL server that ends while it is in use causes StoreUnavailable and no crash', async () => {
      const service = await started(startPostgres());
      const log: string[] = [];
      const database = await opened(
        openDatabase({ url: service.url, dataDir: '.', log: (message) => log.push(message) }),
      );
      await service.stop();
      await expectUnavailable(database.ping());
      await expectUnavailable(database.transaction(async () => 1));
      expect(log.length).toBeGreaterThan(0);
    });
  });
}

if (!leftOut('redis')) {
  describe('Redis Sentinel', () => {
    it('The client finds the master, survives its failure and keeps the prefix of its keys', async () => {
      const master = await started(startRedis());
      const replica = await started(startRedis(['--replicaof', '127.0.0.1', String(master.port)]));
      const direct = await opened(openKeyValue({ url: `${master.url}?prefix=mine:`, dataDir: '.' }));
      const onReplica = await opened(openKeyValue({ url: `${replica.url}?prefix=mine:`, dataDir: '.' }));
      await direct.set('before', 'x', MINUTE_MS);
      while ((await onReplica.get('before')) === null) await new Promise((resolve) => setTimeout(resolve, 50));

      const sentinel = await started(startSentinel(master.port));
      const deadAddress = `127.0.0.1:${await freePort()}`;
      const url = sentinel.url.replace('://', `://${deadAddress},`);
      const kv = await opened(openKeyValue({ url: `${url}?prefix=mine:`, dataDir: '.' }));
      expect(await kv.get('before')).toBe('x');
      await kv.set('through', 'y', MINUTE_MS);
      expect(await direct.get('through')).toBe('y');
      while ((await onReplica.get('through')) === null) await new Promise((resolve) => setTimeout(resolve, 50));

      master.signal('SIGKILL');
      await eventually(() => kv.set('after', 'z', MINUTE_MS));
      expect([await kv.get('before'), await kv.get('through')]).toEqual(['x', 'y']);
      expect(await onReplica.get('after')).toBe('z');
    });

    it('Sentinels that do not answer cause StoreUnavailable', async () => {
      const url = `redis+sentinel://127.0.0.1:${await freePort()},127.0.0.1:${await freePort()}/NAME`;
      await expectUnavailable(openKeyValue({ url, dataDir: '.' }));
    });
  });

  describe('Redis away', () => {
    it('A Redis address without a server throws StoreUnavailable', async () => {
      await expectUnavailable(openKeyValue({ url: `redis://127.0.0.1:${await freePort()}`, dataDir: '.' }));
    });

    it('A Redis server that accepts and stays silent causes StoreUnavailable and no hang', async () => {
      const silent = await started(startSilentServer());
      await expectUnavailable(openKeyValue({ url: `redis://127.0.0.1:${silent.port}`, dataDir: '.' }));
    });

    it('A Redis server that freezes causes StoreUnavailable and works again afterwards', async () => {
      const service = await started(startRedis());
      const kv = await opened(openKeyValue({ url: service.url, dataDir: '.' }));
      await kv.set('frozen', 'x', MINUTE_MS);
      service.signal('SIGSTOP');
      await Promise.all([
        expectUnavailable(kv.get('frozen')),
        expectUnavailable(kv.consumeCount('frozen:count', MINUTE_MS)),
        expectUnavailable(kv.ping()),
      ]);
      service.signal('SIGCONT');
      expect(await eventually(() => kv.get('frozen'))).toBe('x');
    });

    it('A command whose answer got lost is not sent again, because a code just taken would look used', async () => {
      const service = await started(startRedis());
      const proxy = await started(startSwallowingProxy(service.port));
      const kv = await opened(openKeyValue({ url: `redis://127.0.0.1:${proxy.port}`, dataDir: '.' }));
      await kv.set('code', 'x', MINUTE_MS);
      await kv.consumeCount('count', MINUTE_MS);
      proxy.swallowNextAnswer();
      await expectUnavailable(kv.consumeCount('count', MINUTE_MS));
      expect(await eventually(() => kv.count('count'))).toBe(2);
      proxy.swallowNextAnswer();
      await expectUnavailable(kv.consume('code'));
      const again = await eventually(() => kv.consume('code'));
      expect(again.state).toBe('already-used');
    });

    it('A client that has given up for good is revived, unless it was closed on purpose', async () => {
      const redis = new Redis((await started(startRedis())).url, { lazyConnect: true });
      await redis.connect();
      const stopReviving = keepReviving(redis);
      const ended = new Promise((resolve) => redis.once('end', resolve));
      const revived = new Promise((resolve) => redis.once('ready', resolve));
      redis.disconnect();
      await ended;
      await revived;
      expect(await redis.ping()).toBe('PONG');

      stopReviving();
      const closed = new Promise((resolve) => redis.once('end', resolve));
      redis.disconnect();
      await closed;
      await new Promise((resolve) => setTimeout(resolve, 800));
      expect(redis.status).toBe('end');
    });

    it('A full memory causes StoreUnavailable', async () => {
      const full = await started(startRedis(['--maxmemory', '1', '--maxmemory-policy', 'noeviction']));
      const kv = await opened(openKeyValue({ url: full.url, dataDir: '.' }));
      await expectUnavailable(kv.set('key', 'value', MINUTE_MS));
      await expectUnavailable(kv.consumeCount('count', MINUTE_MS));
    });

    it('A Redis server that dies causes StoreUnavailable for current and later commands', async () => {
      const dying = await started(startRedis());
      const kv = await opened(openKeyValue({ url: dying.url, dataDir: '.' }));
      dying.signal('SIGSTOP');
      const underWay = expectUnavailable(kv.takeOnce('a'));
      await new Promise((resolve) => setTimeout(resolve, 50));
      dying.signal('SIGKILL');
      await underWay;
      await expectUnavailable(kv.get('a'));
      await expectUnavailable(kv.ping());
    });
  });
}

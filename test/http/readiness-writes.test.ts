import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { sql } from 'kysely';
import { type KeyValueStore, migrate, openDatabase, openKeyValue } from '../../server/store/index.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { leftOut, type Service, startRedis } from '../support/services.ts';
import { anyBackend } from '../support/stores.ts';
import { waitFor } from '../support/wait-for.ts';

const ready = { status: 'ready', database: 'answers', keyValue: 'answers', schema: 'current' };
const refuses = (store: 'database' | 'keyValue') => ({
  ...ready,
  status: 'not ready',
  [store]: 'refuses writes',
});

async function ask({ url }: TestFoyer): Promise<[number, unknown]> {
  const answer = await fetch(`${url}/readyz`);
  return [answer.status, await answer.json()];
}

/** The outcome of a write holds for a second. */
const becomes = (foyer: TestFoyer, status: number, body: object) =>
  waitFor(async () => expect(await ask(foyer)).toEqual([status, body]), 10_000);

describe('readiness with a SQLite file that refuses writes', () => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
  });
  afterAll(() => foyer?.close());

  it('A read-only database is not ready while it still answers, and ready again afterwards', async () => {
    const { db } = foyer.stores.database;
    expect(await ask(foyer)).toEqual([200, ready]);
    await sql`PRAGMA query_only = 1`.execute(db);
    await becomes(foyer, 503, refuses('database'));
    await sql`PRAGMA query_only = 0`.execute(db);
    await becomes(foyer, 200, ready);
  });

  it('A hundred probes at once write to each store at most once a second', async () => {
    const writes = jest.spyOn(foyer.stores.kv, 'set');
    const beganMs = performance.now();
    try {
      await Promise.all(Array.from({ length: 100 }, () => ask(foyer)));
      const wholeSeconds = Math.floor((performance.now() - beganMs) / 1_000);
      expect(writes.mock.calls.filter(([key]) => key === 'write probe').length).toBeLessThanOrEqual(1 + wholeSeconds);
    } finally {
      writes.mockRestore();
    }
  });
});

// A file system of its own needs root and Linux, as the container of the continuous integration has.
const canMount = process.getuid?.() === 0 && existsSync('/proc/mounts');
if (canMount) {
  it('A full disk below SQLite is not ready, and ready again when there is room', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'foyer-full-'));
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', folder]);
    let foyer: TestFoyer | undefined;
    const database = await openDatabase({ dataDir: folder });
    try {
      await migrate(database);
      foyer = await startFoyer(anyBackend, {}, { database });
      expect(await ask(foyer)).toEqual([200, ready]);
      const ballast = join(folder, 'ballast');
      expect(() => writeFileSync(ballast, Buffer.alloc(9_000_000))).toThrow('ENOSPC');
      await becomes(foyer, 503, refuses('database'));
      rmSync(ballast);
      await becomes(foyer, 200, ready);
    } finally {
      await foyer?.close();
      await database.close();
      execFileSync('umount', [folder]);
      rmSync(folder, { recursive: true, force: true });
    }
  });
}

if (!leftOut('redis')) {
  describe('readiness with a Redis that refuses writes', () => {
    let redis: Service;
    let admin: Redis;
    let kv: KeyValueStore;
    let foyer: TestFoyer;
    let dataDir: string;
    beforeAll(async () => {
      dataDir = await mkdtemp(join(tmpdir(), 'foyer-refusing-'));
      redis = await startRedis();
      admin = new Redis(redis.url);
      kv = await openKeyValue({ url: redis.url, dataDir });
      foyer = await startFoyer(anyBackend, {}, { kv });
    });
    afterAll(async () => {
      await foyer?.close();
      await kv?.close();
      admin?.disconnect();
      await redis?.stop();
      await rm(dataDir, { recursive: true, force: true });
    });

    it('A Redis of 1 MB that is full is not ready, and ready again with more memory', async () => {
      await admin.config('SET', 'maxmemory-policy', 'noeviction');
      expect(await ask(foyer)).toEqual([200, ready]);
      await admin.set('ballast', 'x'.repeat(2_000_000));
      await admin.config('SET', 'maxmemory', '1mb');
      await becomes(foyer, 503, refuses('keyValue'));
      await expect(admin.set('any', 'value')).rejects.toThrow('OOM');
      await admin.config('SET', 'maxmemory', '0');
      await admin.del('ballast');
      await becomes(foyer, 200, ready);
    });

    it('A Redis that cannot save (MISCONF) is not ready, and ready again once it need not', async () => {
      await admin.config('SET', 'save', '3600 1');
      const [, folder = ''] = (await admin.config('GET', 'dir')) as string[];
      rmSync(folder, { recursive: true, force: true });
      await admin.bgsave();
      await becomes(foyer, 503, refuses('keyValue'));
      await expect(admin.set('any', 'value')).rejects.toThrow('MISCONF');
      await admin.config('SET', 'save', '');
      await becomes(foyer, 200, ready);
    });

    it('A read-only replica is not ready, and ready again as a master', async () => {
      const master = await startRedis();
      try {
        await becomes(foyer, 200, ready);
        await admin.replicaof('127.0.0.1', master.port);
        await becomes(foyer, 503, refuses('keyValue'));
        await expect(admin.set('any', 'value')).rejects.toThrow(/READONLY|MASTERDOWN/);
        await admin.replicaof('NO', 'ONE');
        await becomes(foyer, 200, ready);
      } finally {
        await master.stop();
      }
    });
  });
}

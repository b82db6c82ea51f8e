import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBoxes } from '../../server/deps.ts';
import { ensureKeys, rotateKeys } from '../../server/oidc/index.ts';
import { stampSandbox } from '../../server/store/index.ts';
import { production } from '../attacks/production.ts';
import { cliOn, cliSecretKey } from '../support/cli.ts';
import { examine, nowhere, ofMachine } from '../support/doctor.ts';
import { freePort } from '../support/services.ts';
import { backends, type OpenStores } from '../support/stores.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** A test asks no name server. */
const nothingResolves = () => Promise.reject(Object.assign(new Error('not asked'), { code: 'ECONNREFUSED' }));

describe.each(backends)('foyer doctor on $name', (backend) => {
  let stores: OpenStores;
  let environment: Record<string, string>;
  beforeEach(async () => {
    stores = await backend.open();
    await ensureKeys(stores.database, createBoxes([cliSecretKey]).keys, { nowMs: Date.now() });
    environment = { PUBLIC_URL: await nowhere(), PORT: String(await freePort()) };
  });
  afterEach(() => stores?.destroy());

  const look = (more: Record<string, string> = {}, now?: () => number) =>
    examine(cliOn(stores.urls, { ...environment, ...more }, now, { resolveTxt: nothingResolves }));
  /** Nothing runs in these tests, and that is said each time; so is what the test's machine and Redis are like. */
  const expected = new Set(['configuration.mode note', 'address.answer warning', 'redis.persistence warning']);
  const complaintsOf = ({ complaints }: { complaints: string[] }) =>
    complaints.filter((complaint) => !ofMachine(complaint) && !expected.has(complaint));

  it('A correct installation whose server does not run gives a warning and the exit code 0', async () => {
    const found = await look();
    expect(complaintsOf(found)).toEqual([]);
    expect(found.of('address.answer')).toMatchObject([{ level: 'warning' }]);
    expect({ code: found.code, err: found.err }).toEqual({ code: 0, err: '' });
  });

  it('The JSON report gives every finding a level, and every complaint a reason and a remedy', async () => {
    const found = await look({ METRICS_PORT: '9464', METRICS_HOST: '0.0.0.0' });
    const { ok, counts } = found.json<{ ok: boolean; counts: Record<string, number> }>();
    expect(ok).toBe(true);
    const sum = Object.values(counts).reduce((a, b) => a + b, 0);
    expect(Object.keys(counts)).toEqual(['ok', 'note', 'warning', 'fault']);
    expect(found.findings).toHaveLength(sum);
    for (const finding of found.findings) {
      expect(finding).toEqual({
        id: expect.stringMatching(/^[a-z-]+\.[a-z-]+$/),
        area: expect.stringMatching(/^[a-z-]+$/),
        level: expect.stringMatching(/^(ok|note|warning|fault)$/),
        seen: expect.stringMatching(/.{5}/),
        ...(finding.level !== 'ok' && { why: expect.stringMatching(/.{10}/), todo: expect.stringMatching(/.{10}/) }),
      });
    }
  });

  it('The text report shows areas, findings, reasons, remedies and a sum', async () => {
    const run = await cliOn(stores.urls, { ...environment, METRICS_PORT: '9464', METRICS_HOST: '0.0.0.0' })('doctor');
    expect(run.code).toBe(0);
    expect(run.out).toMatch(/^Configuration\n {2}ok {7}All variables/);
    expect(run.out).toMatch(
      /\n {2}WARNING {2}METRICS_HOST is 0\.0\.0\.0[^\n]*\n {11}Why: [^\n]+\n(.*\n)*? {11}Do: {2}[^\n]+/,
    );
    expect(run.out).toMatch(/\n\n(\d+ warnings?, )?(\d+ notes?; )?\d+ checks in order\.\n$/);
  });

  it('The doctor writes nothing', async () => {
    const rows = async () => ({
      keys: await stores.database.db.selectFrom('signingKeys').selectAll().orderBy('id').execute(),
      meta: await stores.database.db.selectFrom('meta').selectAll().execute(),
    });
    const before = await rows();
    await look();
    expect(await rows()).toEqual(before);
  });

  it('An empty folder and an empty database stay empty', async () => {
    const { urls, remove } = await backend.reserve();
    try {
      const found = await examine(cliOn(urls, environment));
      expect(complaintsOf(found)).toEqual(['database.migrations note']);
      expect(await readdir(urls.dataDir)).toEqual([]);
      const missing = await examine(
        cliOn({ ...urls, dataDir: join(urls.dataDir, 'new') }, { ...environment, SECRET_KEY: '' }),
      );
      expect(missing.code).toBe(0);
      expect(await readdir(urls.dataDir)).toEqual([]);
    } finally {
      await remove();
    }
  });

  it('A faulty configuration gives one fault for each error, still checks the stores and exits with 4', async () => {
    const found = await look({ PORT: 'x', WEB_CONCURRENCY: 'many', BRAND_ACCENT: 'green' });
    expect(found.of('configuration.faults').map(({ level, seen }) => `${level} ${seen.split(':')[0]}`)).toEqual([
      'fault PORT',
      'fault WEB_CONCURRENCY',
      'fault BRAND_ACCENT',
    ]);
    expect(found.of('database.migrations')).toMatchObject([{ level: 'ok' }]);
    expect(found.of('keys.sealed')).toMatchObject([{ level: 'ok' }]);
    expect(found).toMatchObject({ code: 4, err: expect.stringMatching(/found 3 faults/) });
    expect(found.json()).toMatchObject({ ok: false, counts: { fault: 3 } });
  });

  it('A store whose address cannot be read is skipped', async () => {
    const found = await look({ DATABASE_URL: 'mysql://db', REDIS_URL: 'memcached://x' });
    expect(found.of('database.skipped')).toHaveLength(1);
    expect(found.of('key-value.skipped')).toHaveLength(1);
    expect(found.of('database.answer')).toEqual([]);
    expect(found.code).toBe(4);
  });

  it('Pending migrations are a warning', async () => {
    const db = stores.database.db.withTables<{ schema_history: { name: string; applied_at: number } }>();
    await db.deleteFrom('schema_history').where('name', '=', '0002-leases').execute();
    const found = await look();
    expect(complaintsOf(found)).toEqual(['database.migrations warning']);
    expect(found.of('database.migrations')[0]?.seen).toContain('0002-leases');
    await db.insertInto('schema_history').values({ name: '0002-leases', applied_at: 1 }).execute();
    await db.insertInto('schema_history').values({ name: '9999-later', applied_at: 1 }).execute();
    expect(complaintsOf(await look())).toEqual(['database.newer warning']);
  });

  it('A sandbox database in production is a fault', async () => {
    await stampSandbox(stores.database, Date.now());
    expect(complaintsOf(await look())).toEqual([]);
    const found = await look({ ...production, SECRET_KEY: cliSecretKey, PUBLIC_URL: 'https://localhost:9' });
    // No mail server of production is there.
    expect(complaintsOf(found)).toEqual(['database.sandbox fault', 'messages.smtp fault', 'messages.dns note']);
  });

  it('A SECRET_KEY other than the one that sealed the keys is a fault', async () => {
    const found = await look({ SECRET_KEY: 'another secret key than the server has' });
    expect(complaintsOf(found)).toEqual(['keys.sealed fault']);
    expect(found.code).toBe(4);
  });

  it('A new SECRET_KEY before the old one gives notes only', async () => {
    const found = await look({ SECRET_KEY: `a newer secret key: 0123456789 abc,${cliSecretKey}` });
    expect(complaintsOf(found)).toEqual(['configuration.secret-key-list note', 'keys.sealed note']);
  });

  it('Missing keys, a key for only one algorithm, old keys and keys in rotation give findings', async () => {
    const { database } = stores;
    const old = await look({}, () => Date.now() + 181 * dayMs);
    expect(old.of('keys.age').map(({ level }) => level)).toEqual(['note', 'note']);
    const nowMs = Date.now();
    const times = { nowMs, signsFrom: nowMs + dayMs, keptUntil: nowMs + 30 * dayMs };
    await rotateKeys(database, createBoxes([cliSecretKey]).keys, times);
    const rotated = await look();
    expect(rotated.of('keys.next')).toHaveLength(1);
    expect((await look({}, () => nowMs + 2 * dayMs)).of('keys.retired')).toHaveLength(1);
    await database.db.deleteFrom('signingKeys').where('alg', '=', 'RS256').execute();
    expect(complaintsOf(await look())).toEqual(['keys.missing fault']);
    await database.db.deleteFrom('signingKeys').execute();
    expect(complaintsOf(await look())).toEqual(['keys.none warning']);
  });

  if (backend.name.startsWith('PostgreSQL')) {
    it('More connections than max_connections allows are a warning', async () => {
      expect((await look()).of('postgres.connections')).toMatchObject([{ level: 'ok' }]);
      const found = await look({ WEB_CONCURRENCY: '64' });
      expect(complaintsOf(found)).toEqual(['postgres.connections warning']);
      expect(found.of('postgres.connections')[0]?.todo).toMatch(/max_connections to at least 6\d\d/);
    });

    it.each([
      [-40_000, 'fault'],
      [10_000, 'warning'],
    ])('A clock of this machine that is %d ms off gives a finding for each store', async (offset, level) => {
      const found = await look({}, () => Date.now() + offset);
      expect(complaintsOf(found).sort()).toEqual([`clock.postgresql ${level}`, `clock.redis ${level}`]);
    });

    it('Missing tables are a fault, and the other checks still run', async () => {
      const { urls, remove } = await backend.reserve();
      await remove();
      const found = await examine(cliOn(urls, environment));
      expect(complaintsOf(found)).toEqual(['database.answer fault']);
      expect(found.of('redis.write')).toMatchObject([{ level: 'ok' }]);
    });
  }
});

describe('stores that are away, and secrets', () => {
  it('Two stores that are away are two faults, and everything else is still checked', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'foyer-doctor-'));
    try {
      const secrets = {
        SECRET_KEY: 'swordfish-swordfish-swordfish-swordfish',
        DATABASE_URL: `postgres://foyer:hunter2%2B@127.0.0.1:${await freePort()}/foyer`,
        REDIS_URL: `redis://foyer:correcthorse@127.0.0.1:${await freePort()}?sentinelPassword=batterystaple`,
      };
      const urls = { databaseUrl: secrets.DATABASE_URL, redisUrl: secrets.REDIS_URL, dataDir };
      const foyer = cliOn(urls, { ...secrets, PUBLIC_URL: await nowhere() });
      const found = await examine(foyer);
      expect(found.complaints).toEqual(expect.arrayContaining(['database.answer fault', 'key-value.answer fault']));
      expect(found.of('configuration.faults')).toMatchObject([{ level: 'ok' }]);
      expect(found.of('address.answer')).toHaveLength(1);
      expect(found.code).toBe(4);
      const people = await foyer('doctor');
      for (const text of [found.out, found.err, people.out, people.err]) {
        expect(text).not.toMatch(/swordfish|hunter2|correcthorse|batterystaple/);
        expect(text).not.toMatch(/\n\s+at /);
      }
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  });

  it('A configuration that is wrong throughout shows no secret', async () => {
    const broken = cliOn(
      { databaseUrl: 'mysql://root:hunter2!@db', redisUrl: 'redis://:correcthorse@a,b', dataDir: '/dev/null/no' },
      { NODE_ENV: 'production', SECRET_KEY: 'swordfish', PUBLIC_URL: 'ftp://x:batterystaple@host', PORT: '0' },
    );
    const found = await examine(broken);
    expect(found.code).toBe(4);
    expect(found.of('key-value.answer')[0]?.seen).toMatch(/Several Redis hosts need/);
    expect(found.of('address.skipped')).toHaveLength(1);
    expect(found.out + found.err).not.toMatch(/swordfish|hunter2|correcthorse|batterystaple/);
  });

  it('The key that is printed in example.env is a fault', async () => {
    const example = await readFile(join(import.meta.dirname, '..', '..', 'config', 'example.env'), 'utf8');
    const [, printed = ''] = /^#SECRET_KEY=(.+)$/m.exec(example) ?? [];
    const urls = { databaseUrl: '', redisUrl: '', dataDir: join(tmpdir(), 'foyer-doctor', 'nowhere') };
    const found = await examine(cliOn(urls, { SECRET_KEY: printed, PUBLIC_URL: await nowhere() }));
    expect(found.of('configuration.secret-key')).toMatchObject([{ level: 'fault' }]);
    expect(found.out).not.toContain(printed);
  });
});

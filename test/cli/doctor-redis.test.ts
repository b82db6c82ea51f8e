import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { cliOn } from '../support/cli.ts';
import { examine, ofMachine } from '../support/doctor.ts';
import { freePort, leftOut, type Service, startRedis, startSentinel } from '../support/services.ts';
import { waitFor } from '../support/wait-for.ts';

it('A Redis that does not run is a fault within the time limit', async () => {
  const redisUrl = `redis://127.0.0.1:${await freePort()}`;
  const environment = { PUBLIC_URL: `http://localhost:${await freePort()}` };
  const found = await examine(cliOn({ databaseUrl: '', redisUrl, dataDir: tmpdir() }, environment));
  expect(found.of('key-value.answer')).toMatchObject([
    { level: 'fault', seen: expect.stringMatching(/^Redis cannot be used: .*ECONNREFUSED/) },
  ]);
});

function withRedis(): void {
  let redis: Service;
  let admin: Redis;
  let dataDir: string;
  const set = (name: string, value: string) => admin.config('SET', name, value);

  beforeAll(async () => {
    redis = await startRedis();
    admin = new Redis(redis.url);
    dataDir = await mkdtemp(join(tmpdir(), 'foyer-doctor-'));
  });
  afterAll(async () => {
    admin?.disconnect();
    await redis?.stop();
    await rm(dataDir, { recursive: true, force: true });
  });
  beforeEach(async () => {
    await set('maxmemory-policy', 'noeviction');
    await set('maxmemory', '0');
    await admin.flushall();
    await set('appendonly', 'yes');
    await set('save', '');
  });

  const look = async (url = redis.url, now?: () => number, limitMs = 4_000) => {
    const environment = { PUBLIC_URL: `http://localhost:${await freePort()}`, PORT: String(await freePort()) };
    const found = await examine(cliOn({ databaseUrl: '', redisUrl: url, dataDir }, environment, now, { limitMs }));
    const mine = found.findings.filter(({ area, level }) => ['key-value', 'clock'].includes(area) && level !== 'ok');
    const said = mine.map(({ id, level }) => `${id} ${level}`);
    return { ...found, mine: said.filter((complaint) => !ofMachine(complaint)) };
  };

  it('A correct Redis gives no complaint, and the probe key is removed', async () => {
    const found = await look();
    expect(found.mine).toEqual([]);
    for (const id of [
      'redis.version',
      'redis.role',
      'redis.eviction',
      'redis.persistence',
      'redis.write',
      'clock.redis',
    ]) {
      expect(found.of(id)).toMatchObject([{ level: 'ok' }]);
    }
    expect(await admin.dbsize()).toBe(0);
  });

  it('A correct Redis behind a Sentinel gives no complaint', async () => {
    const sentinel = await startSentinel(redis.port);
    try {
      const found = await look(sentinel.url);
      expect(found.mine).toEqual([]);
      expect(found.of('redis.role')).toMatchObject([{ level: 'ok' }]);
    } finally {
      await sentinel.stop();
    }
  });

  it.each(['allkeys-lru', 'volatile-ttl'])('The maxmemory-policy %s is a fault', async (policy) => {
    await set('maxmemory-policy', policy);
    const found = await look();
    expect(found.mine).toEqual(['redis.eviction fault']);
    expect(found.of('redis.eviction')[0]).toMatchObject({
      seen: expect.stringContaining(policy),
      todo: expect.stringContaining('CONFIG SET maxmemory-policy noeviction'),
    });
    expect(found.code).toBe(4);
  });

  it('A Redis without persistence on disk is a warning', async () => {
    await set('appendonly', 'no');
    expect((await look()).mine).toEqual(['redis.persistence warning']);
    await set('save', '3600 1');
    expect((await look()).mine).toEqual([]);
  });

  it('A Redis that is nearly full is a warning, and a full one is a fault', async () => {
    // Redis makes it there: a value that is sent counts twice, until the buffer of its query is freed a moment later.
    await admin.setrange('ballast', 4_999_999, 'x');
    const used = Number(/^used_memory:(\d+)/m.exec(await admin.info('memory'))?.[1]);
    await set('maxmemory', String(Math.round(used * 1.15)));
    expect((await look()).mine).toEqual(['redis.memory warning']);
    await set('maxmemory', '1000');
    const full = await look();
    expect(full.mine).toContain('redis.write fault');
    expect(full.of('redis.write')[0]).toMatchObject({
      seen: expect.stringContaining('OOM'),
      todo: expect.stringMatching(/^Give Redis more memory/),
    });
  });

  it('A Redis that cannot save is a fault that names its disk', async () => {
    const unsaved = await startRedis(['--save', '3600 1', '--appendonly', 'yes']);
    const its = new Redis(unsaved.url);
    try {
      const [, folder = ''] = (await its.config('GET', 'dir')) as string[];
      await rm(folder, { recursive: true, force: true });
      await its.bgsave();
      await waitFor(() => expect(its.set('any', 'value')).rejects.toThrow('MISCONF'));
      expect((await look(unsaved.url)).of('redis.write')[0]).toMatchObject({
        seen: expect.stringContaining('MISCONF'),
        todo: expect.stringMatching(/^Make room on the disk of Redis/),
      });
    } finally {
      its.disconnect();
      await unsaved.stop();
    }
  });

  it('A replica is a fault', async () => {
    const replica = await startRedis(['--replicaof', '127.0.0.1', String(redis.port), '--save', '60 1']);
    try {
      const found = await look(replica.url);
      expect(found.mine).toEqual(['redis.role fault', 'redis.write fault']);
      expect(found.of('redis.write')[0]).toMatchObject({
        seen: expect.stringMatching(/READONLY|MASTERDOWN/),
        todo: expect.stringMatching(/^Write the address of the master into REDIS_URL/),
      });
    } finally {
      await replica.stop();
    }
  });

  it('A node of a cluster is a fault', async () => {
    const node = await startRedis(['--cluster-enabled', 'yes', '--save', '60 1']);
    try {
      expect((await look(node.url)).mine).toContain('redis.cluster fault');
    } finally {
      await node.stop();
    }
  });

  it('A login without INFO and CONFIG gives a note that names what to check', async () => {
    await admin.call('ACL', 'SETUSER', 'plain', 'on', '>battery staple', '~*', '+@all', '-info', '-config');
    const found = await look(redis.url.replace('//', '//plain:battery%20staple@'));
    expect(found.mine).toEqual(['redis.unseen note']);
    expect(found.of('redis.unseen')[0]?.seen).toMatch(/refuses INFO and CONFIG GET.*maxmemory-policy.*on disk.*master/);
    expect(found.out).not.toContain('battery');
    expect(found.code).toBe(0);
  });

  it('A login that may not run scripts or not write is a fault', async () => {
    await admin.call('ACL', 'SETUSER', 'reader', 'on', '>battery-staple', '~*', '+@all', '-eval');
    const found = await look(redis.url.replace('//', '//reader:battery-staple@'));
    expect(found.mine).toEqual(['redis.write fault']);
    // What it wrote goes by itself.
    const [key = ''] = await admin.keys('foyer:doctor:*');
    expect(await admin.pttl(key)).toBeLessThanOrEqual(5_000);
    await admin.del(key);
    await admin.call('ACL', 'SETUSER', 'reader', '-set');
    const denied = await look(redis.url.replace('//', '//reader:battery-staple@'));
    expect(denied.mine).toEqual(['redis.write fault']);
    expect(denied.of('redis.write')[0]?.todo).toMatch(/^Give the login of REDIS_URL all commands/);
    expect(await admin.dbsize()).toBe(0);
  });

  it('A wrong password is a fault and is not printed', async () => {
    const found = await look(redis.url.replace('//', '//reader:wrong-password-here@'));
    expect(found.mine).toEqual(['key-value.answer fault']);
    expect(found.out).not.toContain('wrong-password-here');
  });

  it.each([
    [-10_000, 'warning', /ahead/],
    [40_000, 'fault', /behind/],
  ])('A clock that is %d ms off gives a finding for Redis', async (offset, level, said) => {
    const found = await look(redis.url, () => Date.now() + offset);
    expect(found.mine).toEqual([`clock.redis ${level}`]);
    expect(found.of('clock.redis')[0]?.seen).toMatch(said);
  });

  it('A Redis that listens but does not answer is a fault after the time limit', async () => {
    const frozen = await startRedis();
    frozen.signal('SIGSTOP');
    try {
      expect((await look(frozen.url, undefined, 500)).mine).toEqual(['key-value.answer fault']);
    } finally {
      await frozen.stop();
    }
  });
}

if (!leftOut('redis')) describe('foyer doctor and a Redis', withRedis);

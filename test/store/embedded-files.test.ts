import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { migrate, openDatabase, openKeyValue } from '../../server/store/index.ts';
import { openEmbeddedKeyValue } from '../../server/store/key-value-embedded.ts';

describe('the files of the embedded stores', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'foyer-test-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('The files are created with their directory, readable only by their owner', async () => {
    const dataDir = join(folder, 'data');
    const database = await openDatabase({ dataDir });
    await migrate(database);
    const kv = await openKeyValue({ dataDir });
    await kv.set('a', 'x', 1000);
    const names = await readdir(dataDir);
    expect(names).toEqual(expect.arrayContaining(['foyer.db', 'short-lived.db']));
    for (const name of names) expect((await stat(join(dataDir, name))).mode & 0o077).toBe(0);
    expect((await stat(dataDir)).mode & 0o077).toBe(0);
    await kv.close();
    await database.close();
  });

  it('A file of an earlier version, whose entries are ordered by key, still works', async () => {
    const path = join(folder, 'short-lived.db');
    const before = new DatabaseSync(path);
    before.exec(`CREATE TABLE entries (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL, consumed_at INTEGER,
      expires_at INTEGER NOT NULL) STRICT, WITHOUT ROWID`);
    before
      .prepare('INSERT INTO entries (key, value, expires_at) VALUES (?, ?, ?)')
      .run('code', 'x', Date.now() + 60_000);
    before.close();
    const kv = await openEmbeddedKeyValue({ path });
    expect(await kv.consume('code')).toEqual({ state: 'consumed', value: 'x' });
    expect(await kv.consume('code')).toMatchObject({ state: 'already-used' });
    await kv.addToSet('set', 'member', 60_000);
    expect(await kv.setMembers('set')).toEqual(['member']);
    expect((await kv.consumeCount('counter', 60_000)).count).toBe(1);
    expect((await kv.consumeCount('counter', 60_000)).count).toBe(2);
    await kv.close();
  });

  it('A key without an entry is taken by no one, without waiting for the lock of the file', async () => {
    const path = join(folder, 'short-lived.db');
    const kv = await openEmbeddedKeyValue({ path });
    await kv.set('known', 'x', 60_000);
    const other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE');
    expect(await kv.takeOnce('unknown')).toBeNull();
    other.exec("DELETE FROM entries WHERE key = 'known'");
    // It is read before, and taken by the other process meanwhile.
    const taken = kv.takeOnce('known');
    other.exec('COMMIT');
    expect(await taken).toBeNull();
    other.close();
    await kv.close();
  });

  it('The sweep deletes what has expired, members of sets too, and nothing else', async () => {
    const path = join(folder, 'short-lived.db');
    const kv = await openEmbeddedKeyValue({ path, sweepIntervalMs: 40 });
    const expiring = Array.from({ length: 1200 }, (_, index) => `expiring-${index}`);
    await Promise.all(expiring.map((key) => kv.set(key, 'x', 30)));
    await kv.addToSet('expiring-set', 'member', 30);
    await kv.set('lasting', 'x', 60_000);
    await kv.addToSet('lasting-set', 'member', 60_000);
    const file = new DatabaseSync(path);
    const keys = () =>
      file
        .prepare('SELECT key FROM entries ORDER BY key')
        .all()
        .map((row) => row.key);
    const deadline = Date.now() + 5000;
    while (keys().length > 2 && Date.now() < deadline) await sleep(20);
    expect(keys()).toEqual(['lasting', 'lasting-set']);
    expect(
      file
        .prepare('SELECT key FROM members')
        .all()
        .map((row) => row.key),
    ).toEqual(['lasting-set']);
    file.close();
    await kv.close();
  });
});

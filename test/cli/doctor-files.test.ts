import { chmod, chown, copyFile, mkdir, mkdtemp, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createBoxes } from '../../server/deps.ts';
import { ensureKeys } from '../../server/oidc/index.ts';
import { migrate, openDatabase, stampSandbox } from '../../server/store/index.ts';
import { cliOn, cliSecretKey } from '../support/cli.ts';
import { examine, nowhere } from '../support/doctor.ts';

describe('foyer doctor on the folder and the files', () => {
  let dataDir: string;
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'foyer-doctor-'));
    const database = await openDatabase({ dataDir });
    await migrate(database);
    await ensureKeys(database, createBoxes([cliSecretKey]).keys, { nowMs: Date.now() });
    await database.close();
  });
  afterEach(() => rm(dataDir, { recursive: true, force: true }));

  const look = async (folder = dataDir) =>
    examine(cliOn({ databaseUrl: '', redisUrl: '', dataDir: folder }, { PUBLIC_URL: await nowhere() }));

  it('A correct folder gives no complaint, and the database is unchanged byte by byte', async () => {
    const before = await readFile(join(dataDir, 'foyer.db'));
    const found = await look();
    expect((await readFile(join(dataDir, 'foyer.db'))).equals(before)).toBe(true);
    expect(found.of('data-folder.permissions')).toMatchObject([{ level: 'ok' }]);
    expect(found.of('data-folder.space').map(({ level }) => level)).not.toContain('fault');
    expect(found.of('sqlite.check')).toMatchObject([{ level: 'ok', area: 'database' }]);
  });

  it('A folder that is open to all is a warning, and a readable database in it is a fault', async () => {
    await chmod(dataDir, 0o755);
    expect((await look()).of('data-folder.permissions')).toMatchObject([{ level: 'warning' }]);
    await chmod(join(dataDir, 'foyer.db'), 0o644);
    const found = await look();
    expect(found.of('data-folder.permissions')).toMatchObject([
      { level: 'fault', seen: expect.stringContaining('foyer.db (644)'), todo: expect.stringContaining('chmod 700') },
    ]);
    expect(found.code).toBe(4);
  });

  it('A file in place of the data folder is a fault', async () => {
    const file = join(dataDir, 'file');
    await writeFile(file, '');
    const found = await look(file);
    expect(found.of('data-folder.writable')).toMatchObject([{ level: 'fault' }]);
    expect(found.code).toBe(4);
  });

  it('A damaged database is a fault', async () => {
    const path = join(dataDir, 'foyer.db');
    const file = new DatabaseSync(path);
    file.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    file.close();
    const handle = await open(path, 'r+');
    const { size } = await handle.stat();
    // Past the first page, which says where the tables are.
    await handle.write(Buffer.alloc(size - 4096 * 2, 0xa5), 0, undefined, 4096);
    await handle.close();
    const found = await look();
    expect([...found.of('sqlite.check'), ...found.of('database.answer')].map(({ level }) => level)).toContain('fault');
    expect(found.code).toBe(4);
  });

  it('A file that is no database is a fault', async () => {
    await writeFile(join(dataDir, 'foyer.db'), 'this is no database, but it is quite long for a text'.repeat(100));
    const found = await look();
    expect(found.of('sqlite.check')).toMatchObject([
      {
        level: 'fault',
        seen: expect.stringMatching(/foyer\.db is damaged: .*not a database/),
        todo: expect.stringContaining('bring back the latest backup'),
      },
    ]);
  });

  it('Another journal mode is a warning and is not changed', async () => {
    const file = new DatabaseSync(join(dataDir, 'foyer.db'));
    file.exec('PRAGMA journal_mode = DELETE');
    file.close();
    expect((await look()).of('sqlite.wal')).toMatchObject([{ level: 'warning' }]);
    // It was looked at, not mended.
    expect((await look()).of('sqlite.wal')).toHaveLength(1);
  });

  // Only root can give files away.
  const owned = async () => {
    await chown(join(dataDir, 'foyer.db'), 65_534, 65_534);
    const found = await look();
    expect(found.of('data-folder.owner')).toMatchObject([
      { level: 'warning', seen: expect.stringContaining('foyer.db') },
    ]);
    // What SQLite leaves beside it belongs to the file's owner, or its server could not write there.
    const beside = (await readdir(dataDir)).filter((name) => /^foyer\.db-/.test(name));
    expect(beside).not.toEqual([]);
    for (const name of beside) expect((await stat(join(dataDir, name))).uid).toBe(65_534);
  };
  if (process.getuid?.() === 0) it('A file whose owner is not the owner of the folder gives a finding', owned);

  it('A running server can still use the database during the check', async () => {
    const copy = join(dataDir, 'copy');
    await mkdir(copy, { mode: 0o700 });
    await copyFile(join(dataDir, 'foyer.db'), join(copy, 'foyer.db'));
    const database = await openDatabase({ dataDir: copy });
    try {
      await look(copy);
      await stampSandbox(database, Date.now());
      expect((await look(copy)).of('sqlite.check')).toMatchObject([{ level: 'ok' }]);
    } finally {
      await database.close();
    }
  });
});

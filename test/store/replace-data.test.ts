import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../../server/store/index.ts';
import { finishReplacement, lockData, replaceData } from '../../server/store/replace-data.ts';

const former = ['foyer.db', 'foyer.db-wal', 'foyer.db-shm', 'short-lived.db'];

describe('the replacement of the stores', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'foyer-replace-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const path = (...names: string[]) => join(folder, ...names);
  const read = (...names: string[]) => readFileSync(path(...names), 'utf8');
  const ready = 'replacement.ready';

  /** The folder right after the decision: nothing is moved yet. */
  function decide(names: readonly string[] = former): void {
    for (const name of names) writeFileSync(path(name), `former ${name}`);
    writeFileSync(path('other.txt'), 'of the operator');
    mkdirSync(path(ready, 'new'), { recursive: true });
    for (const name of ['foyer.db', 'short-lived.db']) writeFileSync(path(ready, 'new', name), `new ${name}`);
    writeFileSync(path(ready, 'plan.json'), JSON.stringify({ former: names, aside: 'aside' }));
  }

  function expectReplaced(): void {
    expect(readdirSync(folder).toSorted()).toEqual(['aside', 'foyer.db', 'other.txt', 'short-lived.db']);
    expect([read('foyer.db'), read('short-lived.db')]).toEqual(['new foyer.db', 'new short-lived.db']);
    expect(readdirSync(path('aside')).toSorted()).toEqual(former.toSorted());
    for (const name of former) expect(read('aside', name)).toBe(`former ${name}`);
  }

  /** The steps of a replacement, as a process that is killed can leave them. */
  const steps: [string, () => void][] = [
    ['nothing was moved', () => {}],
    ...former.map((name): [string, () => void] => [
      `${name} was moved aside`,
      () => renameSync(path(name), path(ready, name)),
    ]),
    ['a lock was left', () => copyFileSync(path('other.txt'), path('unrelated'))],
    ['one new file was moved in', () => renameSync(path(ready, 'new', 'short-lived.db'), path('short-lived.db'))],
    ['all new files were moved in', () => renameSync(path(ready, 'new', 'foyer.db'), path('foyer.db'))],
    ['the folder of the new files was removed', () => rmdirSync(path(ready, 'new'))],
  ];

  it.each(steps.map(([name], index) => [name, index] as const))(
    'A replacement that ended when %s is completed by the next opening',
    async (_, last) => {
      decide();
      for (const [, step] of steps.slice(0, last + 1)) step();
      rmSync(path('unrelated'), { force: true });
      expect(finishReplacement(folder)).toBe(true);
      expectReplaced();
      expect(finishReplacement(folder)).toBe(false);
    },
  );

  it('A replacement that was not decided yet changes nothing', async () => {
    decide();
    renameSync(path(ready), path('restore.partial-1'));
    expect(finishReplacement(folder)).toBe(false);
    expect(read('foyer.db')).toBe('former foyer.db');
  });

  it('Opening the database completes it first', async () => {
    const database = await openDatabase({ dataDir: path('source') });
    await database.close();
    decide([]);
    copyFileSync(path('source', 'foyer.db'), path(ready, 'new', 'foyer.db'));
    rmSync(path('source'), { recursive: true });
    const opened = await openDatabase({ dataDir: folder });
    await opened.ping();
    await opened.close();
    expect(existsSync(path(ready))).toBe(false);
    expect(existsSync(path('aside'))).toBe(false);
    expect(read('short-lived.db')).toBe('new short-lived.db');
  });

  it('A replacement moves all former files aside, and its new files into their place', () => {
    for (const name of former) writeFileSync(path(name), `former ${name}`);
    writeFileSync(path('other.txt'), 'of the operator');
    mkdirSync(path('staged', 'new'), { recursive: true });
    for (const name of ['foyer.db', 'short-lived.db']) writeFileSync(path('staged', 'new', name), `new ${name}`);
    replaceData(folder, path('staged'), 'aside');
    expectReplaced();
  });

  it('A lock is refused while a connection is open, also after a second connection was closed', async () => {
    const database = await openDatabase({ dataDir: folder });
    const second = await openDatabase({ dataDir: folder });
    await second.close();
    await expect(lockData(folder)).rejects.toThrow('foyer.db is in use');
    await database.close();
    const lock = await lockData(folder);
    expect(readdirSync(folder)).toEqual(['foyer.db']);
    lock.release();
  });

  it('Another process finds the stores locked, although this process has opened its file twice', async () => {
    // A file of an earlier run is locked as soon as it is opened.
    const earlier = await openDatabase({ dataDir: folder });
    await earlier.transaction((trx) => trx.schema.createTable('some').addColumn('column', 'text').execute());
    await earlier.close();
    const database = await openDatabase({ dataDir: folder });
    const program = `
      const { DatabaseSync } = require('node:sqlite');
      try {
        new DatabaseSync(process.argv[1]).exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
        console.log('free');
      } catch (error) {
        console.log(error.message);
      }`;
    const answer = execFileSync(process.execPath, ['-e', program, path('foyer.db')], { encoding: 'utf8' });
    await database.close();
    expect(answer.trim()).toBe('database is locked');
  });

  it('A damaged file does not prevent its replacement', async () => {
    writeFileSync(path('foyer.db'), 'this is no database'.repeat(1_000));
    const lock = await lockData(folder);
    lock.release();
    expect(read('foyer.db')).toMatch(/^this is no database/);
  });
});

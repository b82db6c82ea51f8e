import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { migrate, openDatabase, pendingMigrations } from '../../server/store/index.ts';
import { migrations } from '../../server/store/migrations/index.ts';
import { type CliRun, cliOn } from '../support/cli.ts';
import { freePort } from '../support/services.ts';
import { backends, type StoreUrls } from '../support/stores.ts';

/** Refused in plain words: nothing on standard output, no stack. */
function expectTrouble(run: CliRun, said: RegExp): void {
  expect({ code: run.code, out: run.out }).toEqual({ code: 4, out: '' });
  expect(run.err).toMatch(said);
  expect(run.err).not.toMatch(/\n\s+at /);
}

describe.each(backends)('the state of the database on $name', (backend) => {
  let urls: StoreUrls;
  let remove: () => Promise<void>;
  beforeEach(async () => {
    ({ urls, remove } = await backend.reserve());
  });
  afterEach(() => remove());

  it('empty: the first command makes the tables', async () => {
    const foyer = cliOn(urls);
    const first = await foyer('user', 'add', '--email', 'ada@example.com', '--password', 'open sesame 7', '--json');
    expect(first).toMatchObject({ code: 0, err: 'The database was empty: its tables have been made.\n' });
    expect(await foyer('user', 'show', 'ada@example.com')).toMatchObject({ code: 0, err: '' });
    expect((await foyer('migrate', '--json')).json()).toEqual({ applied: [] });
  });

  it('empty, and two commands at once: both are done', async () => {
    const foyer = cliOn(urls);
    const add = (id: string) =>
      foyer('client', 'add', '--id', id, '--name', id, '--redirect-uri', 'https://a.example/cb');
    expect(
      (await Promise.all([add('one'), add('two')])).map(({ code, err }) => ({
        code,
        faults: err.replace(/^The database was empty.*\n/, ''),
      })),
    ).toEqual([
      { code: 0, faults: '' },
      { code: 0, faults: '' },
    ]);
    expect((await foyer('client', 'list', '--json')).json<unknown[]>()).toHaveLength(2);
  });

  it('half-way through its first migrations, by a start of this moment: the command waits for them', async () => {
    const database = await openDatabase({ url: urls.databaseUrl, dataDir: urls.dataDir });
    await migrate(database, migrations.slice(0, 3));
    const list = cliOn(urls)('client', 'list');
    await setTimeout(300);
    await migrate(database);
    await database.close();
    expect(await list).toMatchObject({ code: 0, err: '' });
  });

  it('half-way through them since yesterday: refused at once', async () => {
    const database = await openDatabase({ url: urls.databaseUrl, dataDir: urls.dataDir });
    await migrate(database, migrations.slice(0, 3));
    await database.db
      .withTables<{ schema_history: { applied_at: number } }>()
      .updateTable('schema_history')
      .set(({ eb }) => ({ applied_at: eb('applied_at', '-', 24 * 60 * 60_000) }))
      .execute();
    await database.close();
    expectTrouble(await cliOn(urls)('client', 'list'), /\d+ migrations pending\): run `foyer migrate`/);
  });

  it('older than this Foyer: refused until `foyer migrate` has run', async () => {
    const database = await openDatabase({ url: urls.databaseUrl, dataDir: urls.dataDir });
    await migrate(database);
    // It has tables, and of no migration does it know that it has seen it.
    await database.db.withTables<{ schema_history: { name: string } }>().deleteFrom('schema_history').execute();
    expect(await pendingMigrations(database)).not.toEqual([]);
    await database.close();
    for (const argv of [
      ['client', 'list'],
      ['user', 'list'],
      ['keys', 'rotate'],
    ]) {
      expectTrouble(await cliOn(urls)(...argv), /migrations? pending\): run `foyer migrate`, or start Foyer/);
    }
  });

  it('`foyer migrate` says what it did', async () => {
    const foyer = cliOn(urls);
    const { applied } = (await foyer('migrate', '--json')).json<{ applied: string[] }>();
    expect(applied[0]).toBe('0001-first');
    expect(await foyer('migrate')).toMatchObject({ code: 0, out: 'The database is up to date.\n', err: '' });
  });

  it('another SECRET_KEY than the server has: keys are not rotated', async () => {
    const foyer = cliOn(urls);
    await foyer('keys', 'rotate');
    const before = (await foyer('keys', 'list', '--json')).out;
    const stranger = cliOn(urls, { SECRET_KEY: 'another secret key than the server has' });
    expectTrouble(await stranger('keys', 'rotate'), /SECRET_KEY does not open what is stored/);
    expect((await foyer('keys', 'list', '--json')).out).toBe(before);
  });
});

describe('a store that cannot be used', () => {
  let dataDir: string;
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'foyer-cli-'));
  });
  afterAll(() => rm(dataDir, { recursive: true, force: true }));

  it('Redis does not answer', async () => {
    const redisUrl = `redis://127.0.0.1:${await freePort()}`;
    expectTrouble(await cliOn({ databaseUrl: '', redisUrl, dataDir })('client', 'list'), /Redis does not answer/);
  });

  it('PostgreSQL does not answer', async () => {
    const databaseUrl = `postgres://foyer:hunter2@127.0.0.1:${await freePort()}/foyer`;
    const run = await cliOn({ databaseUrl, redisUrl: '', dataDir })('client', 'list');
    expectTrouble(run, /A store does not answer/);
    expect(run.err).not.toContain('hunter2');
  });

  it('an address that Redis does not have', async () => {
    const run = await cliOn({ databaseUrl: '', redisUrl: 'redis://:hunter2@a,b', dataDir })('client', 'list');
    expectTrouble(run, /REDIS_URL: Several Redis hosts need redis\+sentinel/);
    expect(run.err).not.toContain('hunter2');
  });

  it('DATA_DIR is a file', async () => {
    const file = join(dataDir, 'file');
    await writeFile(file, '');
    expectTrouble(await cliOn({ databaseUrl: '', redisUrl: '', dataDir: file })('client', 'list'), new RegExp(file));
    expectTrouble(
      await cliOn({ databaseUrl: '', redisUrl: '', dataDir: file }, { SECRET_KEY: '' })('client', 'list'),
      new RegExp(file),
    );
  });
});

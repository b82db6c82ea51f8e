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

  it('The first command creates the tables of an empty database', async () => {
    const foyer = cliOn(urls);
    const first = await foyer('user', 'add', '--email', 'ada@example.com', '--password', 'open sesame 7', '--json');
    expect(first).toMatchObject({ code: 0, err: 'The database was empty: its tables have been made.\n' });
    expect(await foyer('user', 'show', 'ada@example.com')).toMatchObject({ code: 0, err: '' });
    expect((await foyer('migrate', '--json')).json()).toEqual({ applied: [] });
  });

  it('Two commands at once on an empty database both succeed', async () => {
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

  it('A command waits for the first migrations of a start that runs at this moment', async () => {
    const database = await openDatabase({ url: urls.databaseUrl, dataDir: urls.dataDir });
    await migrate(database, migrations.slice(0, 3));
    const list = cliOn(urls)('client', 'list');
    await setTimeout(300);
    await migrate(database);
    await database.close();
    expect(await list).toMatchObject({ code: 0, err: '' });
  });

  it('A database whose first migrations stopped yesterday is refused at once', async () => {
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

  it('A database older than this Foyer is refused until `foyer migrate` has run', async () => {
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

  it('The command `foyer migrate` reports what it did', async () => {
    const foyer = cliOn(urls);
    const { applied } = (await foyer('migrate', '--json')).json<{ applied: string[] }>();
    expect(applied[0]).toBe('0001-first');
    expect(await foyer('migrate')).toMatchObject({ code: 0, out: 'The database is up to date.\n', err: '' });
  });

  it('Keys are not rotated with another SECRET_KEY than the server has', async () => {
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

  it('A Redis that does not answer is reported', async () => {
    const redisUrl = `redis://127.0.0.1:${await freePort()}`;
    expectTrouble(await cliOn({ databaseUrl: '', redisUrl, dataDir })('client', 'list'), /Redis does not answer/);
  });

  it('A PostgreSQL that does not answer is reported without its password', async () => {
    const databaseUrl = `postgres://foyer:hunter2@127.0.0.1:${await freePort()}/foyer`;
    const run = await cliOn({ databaseUrl, redisUrl: '', dataDir })('client', 'list');
    expectTrouble(run, /A store does not answer/);
    expect(run.err).not.toContain('hunter2');
  });

  it('An invalid Redis address is reported without its password', async () => {
    const run = await cliOn({ databaseUrl: '', redisUrl: 'redis://:hunter2@a,b', dataDir })('client', 'list');
    expectTrouble(run, /REDIS_URL: Several Redis hosts need redis\+sentinel/);
    expect(run.err).not.toContain('hunter2');
  });

  it('A DATA_DIR that is a file is reported', async () => {
    const file = join(dataDir, 'file');
    await writeFile(file, '');
    expectTrouble(await cliOn({ databaseUrl: '', redisUrl: '', dataDir: file })('client', 'list'), new RegExp(file));
    expectTrouble(
      await cliOn({ databaseUrl: '', redisUrl: '', dataDir: file }, { SECRET_KEY: '' })('client', 'list'),
      new RegExp(file),
    );
  });
});

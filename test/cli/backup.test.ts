import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { migrate, openDatabase } from '../../server/store/index.ts';
import { migrations } from '../../server/store/migrations/index.ts';
import { memberWithTotp } from '../sign-in/factor-steps.ts';
import { type Cli, cliOf, cliSecretKey } from '../support/cli.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { anyBackend, backends, secondBackends } from '../support/stores.ts';
import { toldApp } from '../support/told-app.ts';
import { makeFolders, queryFile, readFolder, type TestFolders } from './backup-folders.ts';

const dayMs = 24 * 60 * 60_000;
const user = ['user', 'add', '--password', 'open sesame 7', '--verified', '--accept-terms', '--email'];

describe('foyer backup and foyer restore', () => {
  let folders: TestFolders;
  let cli: Cli;
  beforeEach(async () => {
    folders = await makeFolders();
    cli = folders.cli('data');
    await cli(...user, 'ada@example.com');
  });
  afterEach(() => folders.remove());

  const members = async (name: string) =>
    (await folders.cli(name)('user', 'list', '--json')).json<{ email: string }[]>().map(({ email }) => email);

  it('A backup is a new folder that only its owner reads, with both stores, their hashes and no secret', async () => {
    const made = await cli('backup', folders.path('copy'), '--json');
    expect(made.code).toBe(0);
    const found = await readFolder(folders.path('copy'));
    expect(Object.keys(found)).toEqual(['foyer.db', 'manifest.json', 'short-lived.db']);
    expect(Object.values(found).map(({ mode }) => mode)).toEqual([0o600, 0o600, 0o600]);
    expect((await stat(folders.path('copy'))).mode & 0o777).toBe(0o700);
    const files = made.json<{ files: { name: string; sha256: string }[] }>().files;
    expect(files.map(({ name, sha256 }) => [name, sha256])).toEqual([
      ['foyer.db', found['foyer.db']?.sha256],
      ['short-lived.db', found['short-lived.db']?.sha256],
    ]);
    for (const name of Object.keys(found))
      expect((await readFile(join(folders.path('copy'), name))).includes(cliSecretKey)).toBe(false);
    expect((await cli('audit', 'list', '--type', 'operator.command')).out).toMatch(/command=backup exitCode=0/);
  });

  it('A backup overwrites nothing, and leaves nothing behind when it is refused', async () => {
    await cli('backup', folders.path('copy'));
    const before = await readFolder(folders.path('copy'));
    expect(await cli('backup', folders.path('copy'))).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('exists already'),
    });
    expect(await readFolder(folders.path('copy'))).toEqual(before);
    expect(await cli('backup', folders.path('missing/copy'))).toMatchObject({ code: 4, out: '' });
    expect(await folders.cli('nothing')('backup', folders.path('other'))).toMatchObject({
      code: 4,
      err: expect.stringContaining('nothing to back up'),
    });
    expect(
      Object.keys(await readFolder(folders.path('.'))).filter((name) => /partial|other|nothing/.test(name)),
    ).toEqual([]);
  });

  it('A restore into a new folder has all rows of the backup, and none of later', async () => {
    await cli('backup', folders.path('copy'));
    await cli(...user, 'later@example.com');
    const restored = await folders.cli('new')('restore', folders.path('copy'), '--json');
    expect(restored).toMatchObject({ code: 0, err: '' });
    expect(restored.json()).toMatchObject({ aside: null, migrations: [], folder: folders.path('new') });
    expect(await members('new')).toEqual(['ada@example.com']);
    expect(await folders.cli('new')('audit', 'verify')).toMatchObject({ code: 0 });
    expect((await folders.cli('new')('audit', 'list')).out).toMatch(/command=restore exitCode=0/);
    expect(Object.keys(await readFolder(folders.path('new')))).toEqual(['foyer.db', 'short-lived.db']);
  });

  it('A folder with data is replaced with --replace alone, and its files are kept aside', async () => {
    await cli('backup', folders.path('copy'));
    await cli(...user, 'later@example.com');
    expect(await cli('restore', folders.path('copy'))).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringMatching(/has foyer\.db.*; --replace keeps them aside/),
    });
    expect(await members('data')).toHaveLength(2);
    const replaced = await cli('restore', folders.path('copy'), '--replace', '--json');
    expect(await members('data')).toEqual(['ada@example.com']);
    const aside = replaced.json<{ aside: string }>().aside;
    expect(Object.keys(await readFolder(aside))).toEqual(['foyer.db', 'short-lived.db']);
    expect(queryFile(join(aside, 'foyer.db'), 'select email from users order by email')).toEqual([
      { email: 'ada@example.com' },
      { email: 'later@example.com' },
    ]);
  });

  it('A backup is refused under another SECRET_KEY, and accepted while its key is one of several', async () => {
    await cli('backup', folders.path('copy'));
    const other = { SECRET_KEY: 'another secret key that is used by tests alone' };
    expect(await folders.cli('new', other)('restore', folders.path('copy'))).toMatchObject({
      code: 1,
      err: expect.stringContaining('SECRET_KEY is not that of the backup'),
    });
    const both = { SECRET_KEY: `${other.SECRET_KEY},${cliSecretKey}` };
    expect(await folders.cli('new', both)('restore', folders.path('copy'))).toMatchObject({ code: 0 });
  });

  it('A backup of a newer Foyer is refused, and one of an older Foyer gets the missing migrations', async () => {
    const older = await openDatabase({ dataDir: folders.path('older') });
    await migrate(older, migrations.slice(0, -2)).finally(() => older.close());
    await folders.cli('older')('backup', folders.path('old-copy'));
    const restored = await folders.cli('new')('restore', folders.path('old-copy'), '--json');
    expect(restored.json()).toMatchObject({ migrations: migrations.slice(-2).map(({ name }) => name) });
    const newer = await openDatabase({ dataDir: folders.path('data') });
    const next = { name: '9999-later', up: async () => {} };
    await migrate(newer, [...migrations, next]).finally(() => newer.close());
    expect((await cli('backup', folders.path('copy'))).out).toContain('migration 9999-later');
    expect(await folders.cli('other')('restore', folders.path('copy'))).toMatchObject({
      code: 1,
      err: expect.stringContaining('of a newer Foyer (9999-later)'),
    });
    expect(await readFolder(folders.path('other'))).toEqual({});
  });

  it('A restore is refused while a process has opened the stores, and changes nothing', async () => {
    await cli('backup', folders.path('copy'));
    const open = await openDatabase({ dataDir: folders.path('data') });
    try {
      expect(await cli('restore', folders.path('copy'), '--replace')).toMatchObject({
        code: 1,
        err: expect.stringContaining('foyer.db is in use: stop Foyer first'),
      });
    } finally {
      await open.close();
    }
    expect(Object.keys(await readFolder(folders.path('data')))).toEqual(['foyer.db', 'short-lived.db']);
    expect(await cli('restore', folders.path('copy'), '--replace')).toMatchObject({ code: 0 });
  });

  it('Waiting resets of a second factor are cancelled, and requested deletions wait for 14 days', async () => {
    const database = await openDatabase({ dataDir: folders.path('data') });
    const { id } = await database.db.selectFrom('users').select('id').executeTakeFirstOrThrow();
    const past = Date.now() - dayMs;
    const tokenHash = 'x' as never;
    const reset = { id: '1', userId: id, state: 'waiting', requestedAt: past, dueAt: past, endedAt: null } as const;
    await database.db
      .insertInto('factorResets')
      .values({ ...reset, tokenHash })
      .execute();
    await database.db.insertInto('accountDeletions').values({ userId: id, requestedAt: past, dueAt: past }).execute();
    await database.close();
    await cli('backup', folders.path('copy'));
    const restored = await folders.cli('new')('restore', folders.path('copy'));
    expect(restored.out).toContain('Canceled: 1 waiting reset of a second factor.');
    const path = join(folders.path('new'), 'foyer.db');
    expect(queryFile(path, 'select state from factor_resets')).toEqual([{ state: 'cancelled' }]);
    const [{ due_at: dueAt } = {}] = queryFile(path, 'select due_at from account_deletions');
    expect(Number(dueAt)).toBeGreaterThan(Date.now() + 13.9 * dayMs);
    // The member is not erased in the next minutes.
    expect(await members('new')).toEqual(['ada@example.com']);
  });
});

/** A member who is signed in, with a client app, a refresh token and a remembered device. */
async function signIn(foyer: TestFoyer) {
  const app = await toldApp(foyer);
  const { user: member } = await memberWithTotp(foyer);
  const other = await foyer.addUser();
  const browser = await foyer.signedIn(other);
  await app.tokens(browser, other);
  const device = { id: 'd', secretHash: 'h' as never, passwordEpoch: 0, userAgent: 'x', ip: '::1' };
  const times = { createdAt: 0, lastUsedAt: 0, expiresAt: Date.now() + dayMs };
  await foyer.deps.database.db
    .insertInto('rememberedDevices')
    .values({ ...device, ...times, userId: member.id })
    .execute();
  return { app, browser, other };
}

describe('access in a restored backup', () => {
  let foyer: TestFoyer;
  let folders: TestFolders;
  let setting: Awaited<ReturnType<typeof signIn>>;
  beforeAll(async () => {
    folders = await makeFolders();
    foyer = await startFoyer(anyBackend);
    setting = await signIn(foyer);
    await cliOf(foyer)('backup', folders.path('copy'));
  });
  afterAll(async () => {
    await setting?.app.close();
    await foyer?.close();
    await folders?.remove();
  });

  const count = (name: string, table: string) =>
    queryFile(join(folders.path(name), 'foyer.db'), `select count(*) as n from ${table}`)[0]?.n;

  it('Attack: sessions, refresh tokens and remembered devices that were ended after the backup do not live again', async () => {
    expect(count('copy', 'oidc')).toBeGreaterThan(0);
    const restored = await folders.cli('new')('restore', folders.path('copy'), '--json');
    expect(restored.json()).toMatchObject({ ended: { grants: 1, remembered: 1 } });
    expect([count('new', 'oidc'), count('new', 'remembered_devices'), count('new', 'client_sessions')]).toEqual([
      0, 0, 0,
    ]);
    expect(queryFile(join(folders.path('new'), 'short-lived.db'), 'select key from entries')).toEqual([]);
    // The client app learns that its session is over.
    const path = join(folders.path('new'), 'foyer.db');
    expect(queryFile(path, "select count(*) as n from outbox where channel = 'logout-token'")).toEqual([{ n: 1 }]);
    expect((await folders.cli('new')('user', 'show', setting.other.email)).out).toMatch(/^Sessions +0 open$/m);
  });

  it('The option --keep-sessions keeps them', async () => {
    const restored = await folders.cli('kept')('restore', folders.path('copy'), '--keep-sessions');
    expect(restored.out).toContain('those that ended after the backup live again');
    expect([count('kept', 'oidc'), count('kept', 'remembered_devices')]).toEqual([count('copy', 'oidc'), 1]);
    expect((await folders.cli('kept')('user', 'show', setting.other.email)).out).toMatch(/^Sessions +1 open$/m);
  });
});

describe.each(backends)('foyer restore --in-place on $name', (backend) => {
  it('Sessions, grants and remembered devices of a database that other tools restored end', async () => {
    const foyer = await startFoyer(backend);
    try {
      const { app, browser } = await signIn(foyer);
      const cli = cliOf(foyer);
      expect((await cli('restore', '--in-place', '--json')).json()).toMatchObject({
        ended: { grants: 1, remembered: 1 },
      });
      expect((await browser.get('/settings')).status).toBe(303);
      expect(await app.heard()).toHaveLength(1);
      expect(await cli('restore', '--in-place', 'folder')).toMatchObject({ code: 2 });
      await app.close();
    } finally {
      await foyer.close();
    }
  });
});

for (const backend of secondBackends) {
  describe(`foyer backup on ${backend.name}`, () => {
    let reserved: Awaited<ReturnType<typeof backend.reserve>>;
    let folders: TestFolders;
    beforeAll(async () => {
      reserved = await backend.reserve({ migrated: true });
      folders = await makeFolders();
    });
    afterAll(async () => {
      await reserved?.remove();
      await folders?.remove();
    });

    it('Backup and restore name the tools of PostgreSQL, and do nothing', async () => {
      const { databaseUrl: DATABASE_URL, redisUrl: REDIS_URL } = reserved.urls;
      const cli = folders.cli('data', { DATABASE_URL, REDIS_URL });
      expect(await cli('backup', folders.path('copy'))).toMatchObject({
        code: 1,
        err: expect.stringContaining('pg_dump'),
      });
      expect(await cli('restore', folders.path('copy'))).toMatchObject({
        code: 1,
        err: expect.stringContaining('foyer restore --in-place'),
      });
      expect(Object.keys(await readFolder(folders.path('.')))).toEqual([]);
    });

    it('With SQLite and Redis the backup has the database alone, and says so', async () => {
      const cli = folders.cli('data', { REDIS_URL: reserved.urls.redisUrl });
      await cli(...user, 'ada@example.com');
      expect((await cli('backup', folders.path('copy'))).out).toContain('The short-lived state is in Redis');
      expect(Object.keys(await readFolder(folders.path('copy')))).toEqual(['foyer.db', 'manifest.json']);
      expect(await cli('restore', folders.path('copy'), '--replace')).toMatchObject({ code: 0 });
      expect(Object.keys(await readFolder(folders.path('data')))).not.toContain('short-lived.db');
    });
  });
}

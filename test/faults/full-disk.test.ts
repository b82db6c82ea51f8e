import { execFileSync } from 'node:child_process';
import { sql } from 'kysely';
import pg from 'pg';
import { migrate, openDatabase, openKeyValue } from '../../server/store/index.ts';
import { findUser, findUserByIdentifier, type User } from '../../server/users/index.ts';
import { begin, profile } from '../sign-up/steps.ts';
import type { Browser } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toNormalisedEmail } from '../support/ids.ts';
import { leftOut } from '../support/services.ts';
import type { Backend } from '../support/stores.ts';
import { waitFor } from '../support/wait-for.ts';
import { startServers } from './own-servers.ts';
import { canMount, mountSmallDisk } from './small-disk.ts';

/** How long Foyer may take until all works again. */
const recoveredMs = 10_000;
/** A page of the database has space for some rows, so a write is not refused at once. */
const mostWrites = 400;
/** One machine stands for many visitors here. */
const manyVisitors = {
  SIGN_UP_LIMIT_OVERALL: '1000000',
  SIGN_UP_LIMIT_ADDRESS: '1000000',
  GUESS_LIMIT_ADDRESS: '1000000',
};

interface Disk {
  backend: Backend;
  fill(): Promise<void> | void;
  empty(): Promise<void> | void;
  remove(): Promise<void>;
}

/** SQLite and the embedded store, all files on one disk. */
async function openSqlite(): Promise<Disk> {
  const { folder: dataDir, remove, ...disk } = mountSmallDisk(16);
  const database = await openDatabase({ dataDir });
  await migrate(database);
  const kv = await openKeyValue({ dataDir });
  const backend: Backend = {
    name: 'on a small disk',
    open: async () => ({ database, kv, urls: { databaseUrl: '', redisUrl: '', dataDir }, destroy: async () => {} }),
    reserve: () => Promise.reject(new Error('this disk is used once')),
  };
  return {
    ...disk,
    backend,
    async remove() {
      await Promise.all([database.close(), kv.close()]);
      remove();
    },
  };
}

/** The tables of PostgreSQL on a small disk, so that it has no space for a row (53100); its log has a disk of its own. */
async function openPostgres(): Promise<Disk> {
  const id = (what: string) => Number(execFileSync('id', [what, 'postgres']).toString());
  const { folder, remove, ...disk } = mountSmallDisk(48, { uid: id('-u'), gid: id('-g') });
  const servers = await startServers();
  const admin = new pg.Client({ connectionString: servers.postgres.url });
  await admin.connect();
  await admin.query(`CREATE TABLESPACE small LOCATION '${folder}'`);
  await admin.query('ALTER DATABASE postgres SET default_tablespace = small');
  await admin.end();
  return {
    ...disk,
    backend: servers.backend,
    async remove() {
      await servers.stop();
      remove();
    },
  };
}

/** SQLite that may read and not write, as on a disk that was mounted anew after an error. */
async function openReadOnly(): Promise<Disk> {
  const { backend, remove } = await openSqlite();
  const { database } = await backend.open();
  const queryOnly = (on: 0 | 1) => sql`PRAGMA query_only = ${sql.raw(String(on))}`.execute(database.db).then(() => {});
  return { backend, remove, fill: () => queryOnly(1), empty: () => queryOnly(0) };
}

const kinds: [string, () => Promise<Disk>][] = [
  ['the disk of SQLite is full', openSqlite],
  ['the file of SQLite is read-only', openReadOnly],
  ...(leftOut('redis') || leftOut('postgres')
    ? []
    : [['the disk of PostgreSQL is full', openPostgres] satisfies [string, () => Promise<Disk>]]),
];

if (!canMount) {
  it('Without root and Linux no disk can be made small', () => expect(canMount).toBe(false));
} else {
  describe.each(kinds)('while %s', (_what, open) => {
    let disk: Disk;
    let foyer: TestFoyer;
    let user: User;
    let browser: Browser;
    beforeAll(async () => {
      disk = await open();
      foyer = await startFoyer(disk.backend, { LOG_LEVEL: 'silent', ...manyVisitors });
      user = await foyer.addUser();
      browser = await foyer.signedIn(user);
    }, 60_000);
    afterAll(async () => {
      await disk?.empty();
      await foyer?.close();
      await disk?.remove();
    });

    let names = 0;
    async function changeName(): Promise<{ answer: Response; name: string }> {
      names += 1;
      const name = `Ada ${names}`;
      return { name, answer: await browser.post('/settings/name', { given_name: name, family_name: user.familyName }) };
    }
    const signUp = async () => {
      names += 1;
      const email = `new${names}@example.com`;
      return { email, answer: await foyer.browser().post('/signup', profile(email)) };
    };
    const storedName = async () => (await findUser(foyer.deps.database.db, user.id))?.givenName;
    async function expectAway(answer: Response) {
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
      expect((await answer.text()).replaceAll(/<[^>]+>/g, ' ')).toMatch(/[Pp]lease try again (shortly|in a moment)/);
    }

    it('Members read their pages, each write is done whole or says what to do, and all works again afterwards', async () => {
      const { db } = foyer.deps.database;
      const accepted: string[] = [];
      await disk.fill();
      // The first refusals; what is acknowledged until then must be kept.
      let refused = 0;
      for (let n = 0; n < mostWrites && refused < 3; n += 1) {
        const { email, answer } = await signUp();
        if (answer.status === 303) accepted.push(email);
        else {
          await expectAway(answer);
          refused += 1;
        }
        const before = await storedName();
        const { name, answer: changed } = await changeName();
        if (changed.status !== 303) await expectAway(changed);
        expect(await storedName()).toBe(changed.status === 303 ? name : before);
      }
      expect(refused).toBe(3);
      for (const path of ['/', '/signup', '/forgot-password']) {
        expect([path, (await foyer.browser().get(path)).status]).toEqual([path, 200]);
      }
      for (const path of ['/settings', '/settings/profile', '/settings/activity'])
        expect([path, (await browser.get(path)).status]).toEqual([path, 200]);
      await waitFor(async () => expect((await fetch(`${foyer.url}/readyz`)).status).toBe(503), recoveredMs);
      expect((await fetch(`${foyer.url}/healthz`)).status).toBe(200);

      await disk.empty();
      await waitFor(async () => expect((await changeName()).answer.status).toBe(303), recoveredMs);
      await waitFor(async () => expect((await fetch(`${foyer.url}/readyz`)).status).toBe(200), recoveredMs);
      const stored = await db.selectFrom('signUps').select('email').execute();
      expect(accepted.filter((email) => !stored.some((row) => row.email === email))).toEqual([]);
      for (const email of accepted) expect(await foyer.mails(email)).toHaveLength(1);
      // A whole sign-up, and a sign-in.
      await begin(foyer, foyer.browser(), 'later@example.com');
      expect((await foyer.browser().post('/sign-in', { username: user.email, password })).status).toBe(303);
      expect((await browser.get('/settings')).status).toBe(200);
      expect(await findUserByIdentifier(db, { email: toNormalisedEmail(user.email ?? '') })).toBeDefined();
    }, 60_000);
  });
}

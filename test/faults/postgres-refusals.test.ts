import pg from 'pg';
import { findUser, type User } from '../../server/users/index.ts';
import type { Browser } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { leftOut } from '../support/services.ts';
import { waitFor } from '../support/wait-for.ts';
import { startServers } from './own-servers.ts';

type Servers = Awaited<ReturnType<typeof startServers>>;

/** Few, so that a test can take all of them. */
const maxConnections = 24;
/** How long Foyer may take until all works again. */
const recoveredMs = 10_000;

/** A PostgreSQL that answers, and refuses what it is asked: a visitor gets a page that says so, and Foyer needs no restart. */
if (leftOut('redis') || leftOut('postgres')) {
  it('Without both servers none of them can refuse', () => expect(leftOut('redis') || leftOut('postgres')).toBe(true));
} else {
  describe('a PostgreSQL that refuses', () => {
    let servers: Servers;
    let foyer: TestFoyer;
    let admin: pg.Client;
    let user: User;
    let other: User;
    let browser: Browser;
    beforeAll(async () => {
      servers = await startServers([`max_connections=${maxConnections}`]);
      foyer = await startFoyer(servers.backend, { LOG_LEVEL: 'silent' });
      admin = new pg.Client({ connectionString: servers.postgres.url, application_name: 'admin' });
      await admin.connect();
      [user, other] = [await foyer.addUser(), await foyer.addUser()];
      browser = await foyer.signedIn(user);
    }, 60_000);
    afterAll(async () => {
      await admin?.end();
      await foyer?.close();
      await servers?.stop();
    });

    /** Of another member: each sign-in is a session, and a member has so many. */
    const signIn = () => foyer.browser().post('/sign-in', { username: other.email, password });
    async function expectAway(answer: Response) {
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
      expect((await answer.text()).replaceAll(/<[^>]+>/g, ' ')).toMatch(/[Pp]lease try again (shortly|in a moment)/);
    }
    async function expectRecovered() {
      await waitFor(async () => expect((await signIn()).status).toBe(303), recoveredMs);
      await waitFor(async () => expect((await fetch(`${foyer.url}/readyz`)).status).toBe(200), recoveredMs);
      // No connection of the time before is left that still refuses.
      for (let time = 0; time < 20; time += 1) expect((await signIn()).status).toBe(303);
    }
    const endConnections = () =>
      admin.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'foyer'");

    it('While it is read-only, as a former primary is, nothing changes; afterwards all connections write again', async () => {
      const { id, givenName, familyName } = user;
      await admin.query('ALTER DATABASE postgres SET default_transaction_read_only = on');
      await endConnections();
      const fields = { given_name: 'Adele', family_name: familyName };
      await expectAway(await browser.post('/settings/name', fields));
      await Promise.all(Array.from({ length: 5 }, async () => expectAway(await signIn())));
      expect((await findUser(foyer.deps.database.db, id))?.givenName).toBe(givenName);
      await admin.query('ALTER DATABASE postgres RESET default_transaction_read_only');
      await expectRecovered();
      expect((await browser.post('/settings/name', fields)).status).toBe(303);
    }, 60_000);

    it('While it has no connection left, pages say so; afterwards they are served', async () => {
      const others: pg.Client[] = [];
      /** Takes each connection that is free. */
      async function takeAll(): Promise<void> {
        for (;;) {
          const one = new pg.Client({ connectionString: servers.postgres.url, application_name: 'other' });
          one.on('error', () => {});
          try {
            await one.connect();
          } catch {
            return;
          }
          others.push(one);
        }
      }
      const countOwn = async () =>
        (await admin.query("SELECT 1 FROM pg_stat_activity WHERE application_name = 'foyer'")).rowCount;
      try {
        while ((await countOwn()) !== 0) {
          await endConnections();
          await takeAll();
        }
        await takeAll();
        await expectAway(await signIn());
        await expectAway(await browser.get('/settings'));
      } finally {
        await Promise.all(others.map((one) => one.end()));
      }
      await expectRecovered();
      expect((await browser.get('/settings')).status).toBe(200);
    }, 60_000);
  });
}

import pg from 'pg';
import { findUser } from '../../server/users/index.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { type ServerProxy, startProxy } from '../support/proxy.ts';
import { leftOut, startStandby } from '../support/services.ts';
import { waitFor } from '../support/wait-for.ts';
import { startServers } from './own-servers.ts';

type Servers = Awaited<ReturnType<typeof startServers>>;
type Standby = Awaited<ReturnType<typeof startStandby>>;

/** How long Foyer may take until all works again. */
const recoveredMs = 15_000;

if (leftOut('redis') || leftOut('postgres')) {
  it('Without both servers none can take over', () => expect(leftOut('redis') || leftOut('postgres')).toBe(true));
} else {
  describe('a PostgreSQL whose standby takes over', () => {
    let servers: Servers;
    let standby: Standby;
    let proxy: ServerProxy;
    let foyer: TestFoyer;
    beforeAll(async () => {
      servers = await startServers();
      proxy = await startProxy(servers.postgres.url);
      foyer = await startFoyer(servers.backendAt(proxy.url), { LOG_LEVEL: 'silent' });
      standby = await startStandby(servers.postgres);
      const admin = new pg.Client({ connectionString: servers.postgres.url });
      await admin.connect();
      // What is acknowledged is on the standby.
      await admin.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
      await admin.query('SELECT pg_reload_conf()');
      await waitFor(async () => {
        const { rows } = await admin.query("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'");
        expect(rows).toHaveLength(1);
      }, recoveredMs);
      await admin.end();
    }, 60_000);
    afterAll(async () => {
      await proxy?.mend();
      await foyer?.close();
      await proxy?.stop();
      await standby?.stop();
      await servers?.stop();
    });

    it('Nothing acknowledged is lost, visitors get a page until it has, and Foyer goes on without a restart', async () => {
      const user = await foyer.addUser();
      const browser = await foyer.signedIn(user);
      const { foyer_session: session } = await browser.cookies();
      const statuses = new Set<number>();
      let [sent, acknowledged] = [0, 0];
      /** Changes the name again and again, until an answer says that it was not confirmed. */
      async function change(): Promise<void> {
        for (;;) {
          sent += 1;
          const changing = browser.post('/settings/name', { given_name: `Name ${sent}`, family_name: 'Fyfe' });
          // A member may change so much in an hour.
          if (sent === 10) servers.postgres.signal('SIGKILL');
          const answer = await changing;
          statuses.add(answer.status);
          if (answer.status !== 303) return;
          acknowledged = sent;
        }
      }
      await change();
      expect([...statuses]).toEqual([303, 503]);
      const away = await foyer.browser().post('/sign-in', { username: user.email, password });
      expect([away.status, away.headers.get('retry-after')]).toEqual([503, '5']);
      await standby.promote();
      proxy.leadTo(standby.url);
      const stored = await waitFor(async () => {
        const found = await findUser(foyer.deps.database.db, user.id);
        return Number(found?.givenName.replace('Name ', ''));
      }, recoveredMs);
      // The one without an answer may be stored.
      expect([acknowledged, sent]).toContain(stored);
      expect(acknowledged).toBeGreaterThan(0);
      await waitFor(async () => expect((await fetch(`${foyer.url}/readyz`)).status).toBe(200), recoveredMs);
      const again = await browser.post('/settings/name', { given_name: 'Adele', family_name: 'Fyfe' });
      expect(again.status).toBe(303);
      expect((await findUser(foyer.deps.database.db, user.id))?.givenName).toBe('Adele');
      expect((await browser.cookies()).foyer_session).toBe(session);
      expect((await foyer.browser().post('/sign-in', { username: user.email, password })).status).toBe(303);
    }, 90_000);
  });
}

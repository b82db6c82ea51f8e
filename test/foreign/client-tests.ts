import { locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { signInFor } from '../support/relying-party.ts';
import { anyBackend } from '../support/stores.ts';
import { addForeignApp, type ForeignApp, type ForeignClient } from './foreign-app.ts';
import { beginSignIn, followInApp, refresh, signIn, signOut, type Visit } from './member-acts.ts';

/** Longer than a first build of a program in Go. */
const startLimitMs = 300_000;

/** Each client signs a member in, and does all else that its library can. Each test begins in a new browser. */
export function testForeignClients(clients: readonly ForeignClient[]): void {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
  });
  afterAll(() => foyer?.close());

  describe.each(clients)('$name', (client) => {
    let app: ForeignApp;
    beforeAll(async () => {
      app = await addForeignApp(foyer, client);
    }, startLimitMs);
    afterAll(() => app?.stop());
    const newVisit = (): Visit => ({ foyer, app, client, browser: foyer.browser() });
    const readMember = ({ browser }: Visit) => browser.get(`${app.url}/me`);

    it('The client signs a member in by a code and learns subject and address', async () => {
      const [visit, user] = [newVisit(), await foyer.addUser()];
      const member = await signIn(visit, user);
      expect(member).toMatchObject({ userinfo: { sub: user.id, email: user.email } });
      if (client.validates) expect(member).toMatchObject({ claims: { sub: user.id } });
    });

    it('The client does not take the answer to another browser’s sign-in', async () => {
      const [visit, other] = [newVisit(), newVisit()];
      const callback = await signInFor(visit.browser, { url: await beginSignIn(visit) }, await foyer.addUser());
      expect(callback).toContain('code=');
      await followInApp(other.browser, app, callback);
      expect((await readMember(other)).status).toBeGreaterThan(300);
    });

    if (client.refreshes)
      it('The client gets a new access token by its refresh token', async () => {
        const [visit, user] = [newVisit(), await foyer.addUser()];
        await signIn(visit, user);
        expect(await refresh(visit)).toMatchObject({ userinfo: { sub: user.id, email: user.email } });
      });

    it('A sign-out at the client ends the session at Foyer and returns to the client', async () => {
      const visit = newVisit();
      await signIn(visit, await foyer.addUser());
      expect(await signOut(visit)).toBe(new URL(client.goodbye ?? '/', app.url).href);
      expect((await readMember(visit)).status).toBeGreaterThan(300);
      const form = new URL(locationOf(await visit.browser.get(await beginSignIn(visit), { from: 'cross-site' })));
      expect([form.origin, form.pathname]).toEqual([foyer.url, '/']);
    });

    if (client.backChannel !== undefined)
      it('A sign-out at Foyer ends the session at the client by a logout token', async () => {
        const [visit, elsewhere] = [newVisit(), newVisit()];
        // Some libraries end all sessions of the subject.
        await signIn(visit, await foyer.addUser());
        await signIn(elsewhere, await foyer.addUser());
        await visit.browser.post('/logout');
        await foyer.deps.outboxWorker.turn();
        expect((await readMember(visit)).status).toBeGreaterThan(300);
        expect((await readMember(elsewhere)).status).toBe(200);
      });
  });
}

import * as oidc from 'openid-client';
import { listEvents } from '../../server/audit/index.ts';
import { createGrantHooks } from '../../server/oidc/index.ts';
import { endAllSessions } from '../../server/sessions/index.ts';
import { setDisabled, type User } from '../../server/users/index.ts';
import { newPassword, reset } from '../password/steps.ts';
import type { Browser } from '../support/browser.ts';
import { cliOf } from '../support/cli.ts';
import { answerCode, device } from '../support/devices.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toClientId } from '../support/ids.ts';
import { type RelyingParty, relyingParty, tokensFor } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';

describe.each(backends)('connected apps on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  interface Connected {
    user: User;
    browser: Browser;
    client: RelyingParty;
    clientId: string;
    /** Whether the refresh token still gives an access token. The client app may use it any number of times. */
    refreshes(): Promise<boolean>;
  }

  const offline = 'openid email offline_access';

  async function connect(registration: Record<string, unknown> = { thirdParty: true }): Promise<Connected> {
    const user = await foyer.addUser();
    const registered = await foyer.addClient({ scopes: offline.split(' '), ...registration });
    const client = await relyingParty(foyer, registered, offline);
    const browser = foyer.browser();
    const tokens = await tokensFor(client, browser, user, { prompt: 'consent' });
    let current = tokens.refresh_token ?? '';
    const refreshes = async () => {
      try {
        const next = await oidc.refreshTokenGrant(client.config, current);
        current = next.refresh_token ?? current;
        return true;
      } catch (error) {
        if (error instanceof oidc.ResponseBodyError && ['invalid_grant', 'invalid_client'].includes(error.error))
          return false;
        // The client app itself no longer exists.
        if (error instanceof oidc.WWWAuthenticateChallengeError) return false;
        throw error;
      }
    };
    return { user, browser, client, clientId: registered.id, refreshes };
  }

  const appsPage = async (browser: Browser) => (await browser.get('/settings/apps')).text();

  describe('offline access', () => {
    it('Offline access survives the sign-out of its browser and the sign-in of another user there', async () => {
      const { browser, refreshes } = await connect();
      await browser.post('/logout');
      expect(await refreshes()).toBe(true);
      const other = await foyer.addUser();
      await browser.post('/sign-in', { username: other.email, password });
      expect(await refreshes()).toBe(true);
    });

    it('Without the scope offline_access the tokens of the marketplace’s own client end with the session', async () => {
      const user = await foyer.addUser();
      const client = await relyingParty(foyer, await foyer.addClient(), 'openid email');
      const browser = foyer.browser();
      const tokens = await tokensFor(client, browser, user);
      await browser.post('/logout');
      await expect(oidc.refreshTokenGrant(client.config, tokens.refresh_token ?? '')).rejects.toMatchObject({
        error: 'invalid_grant',
      });
    });

    it.each<[string, (connected: Connected) => Promise<unknown>]>([
      ['a password reset', ({ user }) => reset(foyer, foyer.browser(), user.email)],
      [
        'the operator disables the user',
        ({ user }) => {
          const { kv, database, now } = foyer.deps;
          return setDisabled(database.db, user.id, { disabledAt: now(), nowMs: now() }).then(() =>
            endAllSessions({ kv, hooks: createGrantHooks(foyer.app.oauth.grants) }, user.id),
          );
        },
      ],
      ['the client app is removed', ({ clientId }) => cliOf(foyer)('client', 'remove', clientId)],
      [
        'the registration of the client app is narrowed',
        ({ clientId }) => cliOf(foyer)('client', 'update', clientId, '--scope', 'openid', 'offline_access'),
      ],
      [
        'a sign-out everywhere else',
        async ({ user }) => (await foyer.signedIn(user)).post('/settings/devices/sign-out-others'),
      ],
    ])('Offline access ends after %s', async (_what, act) => {
      const connected = await connect();
      expect(await connected.refreshes()).toBe(true);
      await act(connected);
      expect(await connected.refreshes()).toBe(false);
    });

    const changedPassword = 'another sesame 8';
    it.each<[string, (connected: Connected) => Promise<{ status: number }>, string]>([
      [
        'a change of the password by page',
        async ({ user }) =>
          (await foyer.signedIn(user)).post('/settings/password', {
            old_password: password,
            new_password: changedPassword,
          }),
        changedPassword,
      ],
      [
        'a change of the password by call',
        async ({ user }) =>
          (await foyer.signedIn(user)).request('/identity/changePassword', {
            method: 'POST',
            headers: { 'content-type': 'application/json', origin: foyer.url },
            body: JSON.stringify({ oldPassword: password, newPassword: changedPassword }),
          }),
        changedPassword,
      ],
      [
        'a password reset',
        async ({ user }) => {
          await reset(foyer, foyer.browser(), user.email);
          return { status: 303 };
        },
        newPassword,
      ],
    ])('Attack: a consent that a thief gave ends with its offline access after %s', async (_what, act, now) => {
      const { client, user, refreshes } = await connect();
      expect([200, 303]).toContain((await act({ client, user, refreshes } as Connected)).status);
      expect(await refreshes()).toBe(false);
      const home = foyer.browser();
      expect((await home.post('/sign-in', { username: user.email, password: now })).status).toBe(303);
      expect(await appsPage(home)).toContain('No connected apps');
      const begun = await client.begin();
      const { headers } = await home.get(begun.url, { from: 'cross-site' });
      expect(headers.get('location')).toContain('/consent?');
    });

    it('Attack: a consent that is given while all sessions end is not stored', async () => {
      const user = await foyer.addUser();
      const client = await relyingParty(
        foyer,
        await foyer.addClient({ thirdParty: true, scopes: offline.split(' ') }),
        offline,
      );
      const thief = await foyer.signedIn(user);
      const { kv, database } = foyer.deps;
      const get = kv.get.bind(kv);
      const hasGrant = async () =>
        (await database.db.selectFrom('oidc').select('idHash').where('accountId', '=', user.id).execute()).length > 0;
      let ended = false;
      // The session ends right after the check that it is open. That check follows the new grant.
      const spy = jest.spyOn(kv, 'get').mockImplementation(async (key) => {
        const value = await get(key);
        if (!ended && key.startsWith('session:') && (await hasGrant())) {
          ended = true;
          await foyer.app.sessions.endAll(user.id, { upToEpoch: user.passwordEpoch });
        }
        return value;
      });
      await tokensFor(client, thief, user, { prompt: 'consent' }).catch(() => undefined);
      spy.mockRestore();
      expect(ended).toBe(true);
      const home = await foyer.signedIn(user);
      expect(await appsPage(home)).toContain('No connected apps');
      const { headers } = await home.get((await client.begin()).url, { from: 'cross-site' });
      expect(headers.get('location')).toContain('/consent?');
    });

    it('Revocation by the client ends offline access', async () => {
      const { user, client } = await connect();
      const tokens = await tokensFor(client, await foyer.signedIn(user), user, { prompt: 'consent' });
      await oidc.tokenRevocation(client.config, tokens.refresh_token ?? '');
      await expect(oidc.refreshTokenGrant(client.config, tokens.refresh_token ?? '')).rejects.toThrow();
    });

    it('A user has at most 50 offline grants per client, and one more ends the oldest', async () => {
      const { user, client, clientId, refreshes } = await connect();
      for (let n = 0; n < 50; n += 1) {
        await tokensFor(client, await foyer.signedIn(user), user, { prompt: 'consent' });
      }
      const { count } = await foyer.stores.database.db
        .selectFrom('oidc')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .where('clientId', '=', toClientId(clientId))
        .where('model', '=', 'Grant')
        .where('offline', '=', 1)
        .executeTakeFirstOrThrow();
      expect(Number(count)).toBe(50);
      expect(await refreshes()).toBe(false);
    });
  });

  it('A device refreshes after the approving browser has signed out, until the user removes the device', async () => {
    const user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    const radio = await device(foyer, { name: 'Kitchen Radio' });
    const asked = await radio.ask();
    await answerCode(browser, asked.user_code);
    const { body } = await radio.poll(asked);
    await browser.post('/logout');
    await browser.post('/sign-in', { username: (await foyer.addUser()).email, password });
    const next = await oidc.refreshTokenGrant(radio.config, String(body.refresh_token));
    const home = await foyer.signedIn(user);
    expect(await appsPage(home)).toContain('Kitchen Radio');
    const removed = await home.post(`/settings/apps/remove?client_id=${radio.id}`);
    expect(removed.headers.get('location')).toBe(`/settings/apps#connected-apps:removed/${radio.id}`);
    await expect(oidc.refreshTokenGrant(radio.config, next.refresh_token ?? '')).rejects.toMatchObject({
      error: 'invalid_grant',
    });
    expect((await oidc.tokenIntrospection(radio.config, next.access_token)).active).toBe(false);
    const list = await appsPage(home);
    expect(list).toContain('The app Kitchen Radio has been removed.');
    expect(list).not.toContain(`client_id=${radio.id}`);
    expect(await appsPage(home)).not.toContain('Kitchen Radio');
  });

  describe('/settings/apps', () => {
    it('The audit trail has the consent and the removal, with the client app', async () => {
      const { user, browser, clientId } = await connect();
      await browser.post(`/settings/apps/remove?client_id=${clientId}`);
      await foyer.app.audit.seal();
      const events = await listEvents(foyer.deps.database.db, { userId: user.id, limit: 10 });
      expect(events.filter(({ type }) => type.startsWith('app.')).toReversed()).toMatchObject([
        { type: 'app.connected', client: clientId, details: { scopes: offline.split(' ') } },
        { type: 'app.removed', client: clientId },
      ]);
    });

    it('/settings/apps lists each app with its scopes; removing one ends consent and tokens and sends one mail', async () => {
      const { user, browser, client, clientId, refreshes } = await connect({
        thirdParty: true,
        name: 'Partner & <Co>',
      });
      const page = await appsPage(browser);
      expect(page).toContain('Partner &amp; &lt;Co&gt;');
      expect(page).toContain('See your email address');
      expect(await (await browser.get('/settings?tab=sign-in')).text()).toContain('href="/settings/apps"');
      const form = await browser.get(`/settings/apps/remove?client_id=${clientId}`);
      expect(await form.text()).toContain('method="post"');
      expect(await refreshes()).toBe(true);
      const answers = await Promise.all([1, 2].map(() => browser.post(`/settings/apps/remove?client_id=${clientId}`)));
      expect(answers.map(({ status }) => status)).toEqual([303, 303]);
      expect(await refreshes()).toBe(false);
      const begun = await client.begin();
      const { headers } = await browser.get(begun.url, { from: 'cross-site' });
      expect(headers.get('location')).toContain('/consent?');
      const notices = (await foyer.mails(user.email)).filter(({ values }) => values.change === 'app-removed');
      expect(notices.map(({ values }) => values.detail)).toEqual(['Partner & <Co>']);
    });

    it('The list shows the logo of an app, allows its origin alone, and leads back to Security', async () => {
      const logo = 'https://logos.example/partner.svg';
      const { browser } = await connect({ thirdParty: true, logo });
      const answer = await browser.get('/settings/apps');
      expect(answer.headers.get('content-security-policy')).toMatch(/img-src 'self' data: https:\/\/logos\.example;/);
      const page = await answer.text();
      expect(page).toMatch(
        /<li[^>]*><span class="app-logo [^>]*>.*?<img src="https:\/\/logos\.example\/partner\.svg"/s,
      );
      const breadcrumb = /<nav class="breadcrumb".*?<\/nav>/s.exec(page)?.[0];
      expect(breadcrumb).toMatch(/<a href="[^"]*\/settings">Security<\/a>.*aria-current="page">Connected apps</s);
    });

    it('An app of another user is not listed, and removing it ends nothing', async () => {
      const { clientId, refreshes } = await connect();
      const stranger = await foyer.signedIn(await foyer.addUser());
      expect(await appsPage(stranger)).toContain('No connected apps');
      expect((await stranger.get(`/settings/apps/remove?client_id=${clientId}`)).status).toBe(404);
      await stranger.post(`/settings/apps/remove?client_id=${clientId}`);
      expect(await refreshes()).toBe(true);
    });

    it('A removal that another site posts is refused', async () => {
      const { browser, clientId, refreshes } = await connect();
      const answer = await browser.post(
        `/settings/apps/remove?client_id=${clientId}`,
        {},
        {
          origin: 'https://evil.example',
          'sec-fetch-site': 'cross-site',
        },
      );
      expect(answer.status).toBe(403);
      expect(await refreshes()).toBe(true);
    });
  });
});

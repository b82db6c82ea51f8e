import * as oidc from 'openid-client';
import { setDisabled } from '../../server/users/index.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { password, startFoyer } from '../support/foyer.ts';
import { type Begun, relyingParty, tokensFor } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';
import { setUpUserAndClient } from './user-and-client.ts';

describe.each(backends)('silent sign-on on $name', (backend) => {
  const context = setUpUserAndClient(backend);

  /** The first redirect of a started request. */
  const lead = async (browser: Browser, begun: Begun) =>
    new URL(locationOf(await browser.get(begun.url, { from: 'cross-site' })));
  /** The result of a request with prompt=none: an error, or whether there is a code. */
  async function none(browser: Browser, app = context.client, parameters: Record<string, string> = {}) {
    const begun = await app.begin({ prompt: 'none', ...parameters });
    const back = await lead(browser, begun);
    expect(back.origin + back.pathname).toBe(app.redirectUri);
    expect(back.searchParams.get('state')).toBe(begun.state);
    expect(back.searchParams.get('iss')).toBe(context.foyer.url);
    return back.searchParams.get('error') ?? back.searchParams.has('code');
  }

  it('The second request of a client gets a code at once', async () => {
    const browser = context.foyer.browser();
    const first = await tokensFor(context.client, browser, context.user);
    const begun = await context.client.begin();
    const tokens = await context.client.redeem((await lead(browser, begun)).href, begun);
    expect(tokens.claims()).toMatchObject({ sub: context.user.id, auth_time: first.claims()?.auth_time as number });
    // The first tokens still work.
    await oidc.fetchUserInfo(context.client.config, first.access_token, context.user.id);
    expect((await oidc.refreshTokenGrant(context.client.config, first.refresh_token ?? '')).access_token).toBeTruthy();
  });

  it('A second client gets a code at once too', async () => {
    const browser = context.foyer.browser();
    await tokensFor(context.client, browser, context.user);
    const second = await relyingParty(context.foyer, await context.foyer.addClient({ public: true }));
    const begun = await second.begin();
    const tokens = await second.redeem((await lead(browser, begun)).href, begun);
    expect(tokens.claims()).toMatchObject({ sub: context.user.id, aud: second.id });
  });

  it('A user who signed in at Foyer itself gets a code for every client', async () => {
    const browser = await context.foyer.signedIn(context.user);
    expect(await none(browser)).toBe(true);
    const begun = await context.client.begin();
    expect((await context.client.redeem((await lead(browser, begun)).href, begun)).claims()?.sub).toBe(context.user.id);
  });

  it('A request without prompt=none leads to the sign-in page', async () => {
    expect((await lead(context.foyer.browser(), await context.client.begin())).pathname).toBe('/');
  });

  describe('prompt=none', () => {
    it('prompt=none without a session gets login_required', async () => {
      expect(await none(context.foyer.browser())).toBe('login_required');
      const browser = await context.foyer.signedIn(context.user);
      await browser.post('/logout');
      expect(await none(browser)).toBe('login_required');
    });

    it('prompt=none with forged cookies gets login_required', async () => {
      const browser = context.foyer.browser();
      for (const name of ['foyer_session', 'foyer_op', 'foyer_op.sig']) {
        await browser.jar.setCookie(`${name}=s%3Amadeup.signature; Path=/`, context.foyer.url);
      }
      expect(await none(browser)).toBe('login_required');
    });

    it('prompt=none with only one of the two sessions gets login_required', async () => {
      for (const missing of ['foyer_session', 'foyer_op']) {
        const [whole, half] = [await context.foyer.signedIn(context.user), context.foyer.browser()];
        for (const cookie of await whole.jar.getCookies(context.foyer.url)) {
          if (!cookie.key.startsWith(missing)) await half.jar.setCookie(cookie, context.foyer.url);
        }
        expect(await none(half)).toBe('login_required');
      }
    });

    it('prompt=none gets interaction_required until the user accepts the terms', async () => {
      const late = await context.foyer.addUser({ acceptedTosVersion: null });
      const browser = await context.foyer.signedIn(late);
      expect(await none(browser)).toBe('interaction_required');
      await browser.post('/tos', { decision: 'accept', version: String(context.foyer.deps.terms.number) });
      expect(await none(browser)).toBe(true);
    });

    it('A disabled user gets login_required, and an interactive request shows the form that refuses the sign-in', async () => {
      const leaving = await context.foyer.addUser();
      const browser = await context.foyer.signedIn(leaving);
      const { db } = context.foyer.stores.database;
      await setDisabled(db, leaving.id, { disabledAt: context.foyer.deps.now(), nowMs: context.foyer.deps.now() });
      expect(await none(browser)).toBe('login_required');
      const landing = await lead(browser, await context.client.begin());
      expect(landing.pathname).toBe('/');
      expect((await browser.get(landing.href)).status).toBe(200);
      const again = await browser.post(`/sign-in${landing.search}`, { username: leaving.email, password });
      expect(again.status).toBe(403);
    });

    it('prompt=none of a deleted user gets login_required', async () => {
      const leaving = await context.foyer.addUser();
      const browser = await context.foyer.signedIn(leaving);
      await context.foyer.stores.database.db.deleteFrom('users').where('id', '=', leaving.id).execute();
      expect(await none(browser)).toBe('login_required');
    });

    it('prompt=none with another prompt value gets invalid_request', async () => {
      const begun = await context.client.begin({ prompt: 'none login' });
      const back = await lead(await context.foyer.signedIn(context.user), begun);
      expect(back.searchParams.get('error')).toBe('invalid_request');
    });

    it('prompt=none leaves no interaction record, so a later request succeeds', async () => {
      const browser = context.foyer.browser();
      for (let turn = 0; turn < 3; turn += 1) expect(await none(browser)).toBe('login_required');
      expect(Object.keys(await browser.cookies()).filter((name) => name.startsWith('foyer_request_'))).toEqual([]);
      expect((await tokensFor(context.client, browser, context.user)).claims()?.sub).toBe(context.user.id);
    });
  });

  it('New terms stop a live session from getting a code, silently and interactively', async () => {
    const stores = { ...context.foyer.stores, destroy: async () => {} };
    const next = { number: context.foyer.deps.terms.number + 1, label: 'next' };
    const browser = await context.foyer.signedIn(context.user);
    const begun = await context.client.begin();
    const later = await startFoyer(
      { ...backend, open: async () => stores },
      { SECRET_KEY: 'a secret key that is used by tests alone' },
      { terms: next },
    );
    try {
      const old = await lead(browser, begun);
      expect(old.searchParams.has('code')).toBe(true);
      const there = later.browser();
      for (const cookie of await browser.jar.getCookies(context.foyer.url))
        await there.jar.setCookie(cookie, later.url);
      const app = await relyingParty(later, await later.addClient());
      const quiet = await app.begin({ prompt: 'none' });
      expect((await lead(there, quiet)).searchParams.get('error')).toBe('interaction_required');
      const landing = await lead(there, await app.begin());
      const tos = locationOf(await there.get(landing.href));
      expect(new URL(tos).pathname).toBe('/tos');
    } finally {
      await later.close();
    }
  });
});

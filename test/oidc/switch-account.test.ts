import * as oidc from 'openid-client';
import { locationOf } from '../support/browser.ts';
import { refreshOf, signInFor } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';
import { callback, fromShop, setUpSwitchAccount, site } from './switch-account-steps.ts';

/**
 * Section "Logout" of the specification: the branches that end at the authorize path, where another user can sign in.
 */
describe.each(backends)('switch of account by /logout on $name', (backend) => {
  const context = setUpSwitchAccount(backend);
  const { isSignedIn, logout, idToken } = context;
  /** The parameters of a client app's authorization request, for /logout. */
  async function ofCode() {
    const begun = await context.client.begin();
    const parameters = Object.fromEntries(new URL(begun.url).searchParams);
    return { begun, parameters };
  }
  /** Follows the address to the sign-in form. @returns the address of the form */
  async function expectForm(authorize: string): Promise<URL> {
    expect(new URL(authorize).pathname).toBe('/oauth2/authorize');
    const landing = new URL(locationOf(await context.browser.get(authorize, fromShop)));
    expect([landing.origin, landing.pathname]).toEqual([context.foyer.url, '/']);
    const page = await context.browser.get(landing.href);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('name="password"');
    return landing;
  }
  /** Like `signInFor`, which does not know an id token in the query. */
  async function signInForOlder(url: string): Promise<string> {
    return signInFor(context.browser, { url }, context.user).catch(async (error: Error) => {
      const [, at = ''] = /did not come home: (\S+)/.exec(error.message) ?? [];
      if (at === '') throw error;
      return at;
    });
  }

  it('/logout with a code request signs out, and another user’s code is redeemed with the client’s verifier', async () => {
    const { begun, parameters } = await ofCode();
    const answer = await context.browser.get(logout(parameters), fromShop);
    expect(answer.status).toBe(303);
    expect(await isSignedIn()).toBe(false);
    const authorize = locationOf(answer);
    expect(Object.fromEntries(new URL(authorize).searchParams)).toEqual(parameters);
    await expectForm(authorize);
    const other = await context.foyer.addUser();
    const tokens = await context.client.redeem(await signInFor(context.browser, { url: authorize }, other), begun);
    expect(tokens.claims()?.sub).toBe(other.id);
  });

  it('/logout with a code request without a scope gives an id token of the other user with the scope openid', async () => {
    const { begun, parameters } = await ofCode();
    const { scope: _, nonce: __, ...asked } = parameters;
    const authorize = locationOf(await context.browser.get(logout(asked), fromShop));
    const other = await context.foyer.addUser();
    const back = await signInFor(context.browser, { url: authorize }, other);
    const tokens = await oidc.authorizationCodeGrant(context.client.config, new URL(back), {
      pkceCodeVerifier: begun.verifier,
      expectedState: parameters.state,
    });
    expect([tokens.claims()?.sub, tokens.scope]).toEqual([other.id, 'openid']);
  });

  it('/logout with an id token request returns its state and nonce', async () => {
    const authorize = locationOf(await context.browser.get(logout(idToken()), fromShop));
    await expectForm(authorize);
    const other = await context.foyer.addUser();
    const { origin, pathname, hash } = new URL(await signInFor(context.browser, { url: authorize }, other));
    expect(origin + pathname).toBe(callback);
    const sent = new URLSearchParams(hash.slice(1));
    const claims = JSON.parse(Buffer.from(sent.get('id_token')?.split('.')[1] ?? '', 'base64url').toString());
    expect([sent.get('state'), claims.nonce, claims.sub, claims.email]).toEqual(['s-1', 'n-1', other.id, other.email]);
  });

  it('Older clients need no scope and no nonce and get the id token in their registered response mode', async () => {
    const [own, final] = ['https://older.example/cb', 'https://oldest.example/'];
    const older = await context.foyer.addClient({ redirectUris: [own], responseTypes: ['id_token'], legacy: true });
    const oldest = await context.foyer.addClient({ redirectUris: [final], legacyIdTokenRedirect: true });
    for (const [id, uri, mode] of [
      [older.id, own, null],
      [oldest.id, 'https://oldest.example', 'query_id_token'],
    ] as const) {
      context.browser = await context.foyer.signedIn(context.user);
      const asked = { response_type: 'id_token', client_id: id, redirect_uri: uri };
      const answer = await context.browser.get(logout(asked), { from: 'same-origin' });
      const authorize = new URL(locationOf(answer));
      expect([authorize.searchParams.get('response_mode'), await isSignedIn()]).toEqual([mode, false]);
      await expectForm(authorize.href);
      const back = new URL(await signInForOlder(authorize.href));
      const sent = mode === null ? new URLSearchParams(back.hash.slice(1)) : back.searchParams;
      expect([back.origin + back.pathname, sent.get('id_token')?.split('.')]).toEqual([
        mode === null ? own : final,
        [expect.any(String), expect.any(String), expect.any(String)],
      ]);
    }
  });

  it('A link from an unknown site shows one button first, which keeps every parameter', async () => {
    const { parameters } = await ofCode();
    for (const asked of [parameters, idToken()]) {
      const page = await context.browser.get(logout(asked), { from: 'cross-site' });
      expect(page.status).toBe(200);
      const html = await page.text();
      const [, form = ''] = /<form[^>]+action="\/logout"[^>]*>(.*?)<\/form>/s.exec(html) ?? [];
      expect(html).toContain('sign in to Client');
      const fields = Object.fromEntries(
        [...form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(([, name, value]) => [
          name,
          value,
        ]),
      );
      expect(fields).toEqual(asked);
      expect(await isSignedIn()).toBe(true);
      const posted = await context.browser.post('/logout', fields);
      expect([posted.status, await isSignedIn()]).toEqual([303, false]);
      await expectForm(locationOf(posted));
      context.browser = await context.foyer.signedIn(context.user);
    }
  });

  it('A change of the language keeps every parameter and signs no one out', async () => {
    const html = await (await context.browser.get(logout(idToken()), { from: 'cross-site' })).text();
    const [, back = ''] = /name="redirect" value="([^"]*)"/.exec(html) ?? [];
    const chosen = await context.browser.post('/language', { lang: 'de', redirect: back.replaceAll('&amp;', '&') });
    const page = await context.browser.get(locationOf(chosen), {
      from: 'same-origin',
      headers: { referer: `${context.foyer.url}/x` },
    });
    expect([page.status, await isSignedIn()]).toEqual([200, true]);
    const text = await page.text();
    expect(text).toContain('Danach können Sie sich bei Client');
    for (const value of Object.values(idToken())) expect(text).toContain(`value="${value}"`);
    await context.browser.post('/logout');
    const gone = await context.browser.get(locationOf(chosen), { from: 'same-origin' });
    expect(new URL(locationOf(gone)).pathname).toBe('/logout');
  });

  it('Without a session the link leads to the sign-in form at once', async () => {
    context.browser = context.foyer.browser();
    await expectForm(locationOf(await context.browser.get(logout(idToken()), { from: 'cross-site' })));
  });

  it('A logout address wins over a redirect address', async () => {
    const bye = `${site}/bye`;
    const both = await context.foyer.addClient({ redirectUris: [callback], logoutUris: [bye] });
    const { parameters } = await ofCode();
    const asked = { ...parameters, client_id: both.id, state: 'x' };
    const known = await context.browser.get(logout({ ...asked, logout_uri: bye }), fromShop);
    expect(known.headers.get('location')).toBe(`${bye}?state=x`);
    context.browser = await context.foyer.signedIn(context.user);
    const foreign = await context.browser.get(logout({ ...asked, logout_uri: `${bye}/` }), fromShop);
    expect(foreign.headers.get('location')).toBe('/');
    context.browser = await context.foyer.signedIn(context.user);
    expect(refreshOf(await (await context.browser.post('/logout', { ...asked, logout_uri: bye })).text())).toBe(
      `${bye}?state=x`,
    );
  });
});

import * as oidc from 'openid-client';
import { createApp } from '../../server/app.ts';
import { sha256 } from '../../server/shared/index.ts';
import type { User } from '../../server/users/index.ts';
import { send } from '../attacks/wire.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { listenOnFreePort, password } from '../support/foyer.ts';
import { toClientId } from '../support/ids.ts';
import { type Begun, homeFrom, refreshOf, relyingParty, store } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';
import { setUpUserAndClient } from './user-and-client.ts';

const hourMs = 60 * 60_000;

describe.each(backends)('a request that waited too long, on $name', (backend) => {
  const context = setUpUserAndClient(backend);

  const idOf = (address: string) => new URL(address).searchParams.get('authorization_code') ?? '';

  /** A started request whose sign-in page the browser shows. */
  async function open(browser: Browser, parameters: Record<string, string> = {}, app = context.client) {
    const begun = await app.begin(parameters);
    const landing = locationOf(await browser.get(begun.url, { from: 'cross-site' }));
    return { begun, landing, search: new URL(landing).search, id: idOf(landing) };
  }

  const redeemed = async (begun: Begun, callback: string, app = context.client) =>
    (await app.redeem(callback, begun)).claims()?.sub;

  it('An expired request starts again with the same parameters, all checked again, and gives a code', async () => {
    const browser = context.foyer.browser();
    const { begun, landing, id } = await open(browser, { prompt: 'login', ui_locales: 'de fr', max_age: '600' });
    context.foyer.passTime(hourMs);
    const again = locationOf(await browser.get(landing));
    expect(again).toMatch(/\/begin-again\?authorization_code=/);
    const page = await browser.get(again);
    expect(page.status).toBe(200);
    const authorize = new URL(refreshOf(await page.text()), context.foyer.url);
    expect(authorize.pathname).toBe('/oauth2/authorize');
    expect(Object.fromEntries(authorize.searchParams)).toEqual(Object.fromEntries(new URL(begun.url).searchParams));
    const anew = locationOf(await browser.get(authorize.href));
    expect(idOf(anew)).not.toBe(id);
    expect(await redeemed(begun, await homeFrom(browser, anew, context.user))).toBe(context.user.id);
  });

  it.each([
    ['the sign-in page', (search: string) => `/${search}`],
    ['/verify-user', (search: string) => `/verify-user${search}`],
    ['/consent', (search: string) => `/consent${search}`],
    ['/not-in-plan', (search: string) => `/not-in-plan${search}`],
  ])('An expired request that a signed-in user opens at %s starts again and gives a code', async (_where, address) => {
    const browser = context.foyer.browser();
    const { begun, search } = await open(browser);
    context.foyer.passTime(hourMs);
    await browser.post('/sign-in', { username: context.user.email, password });
    const again = locationOf(await browser.get(address(search)));
    expect(await redeemed(begun, await homeFrom(browser, again, context.user))).toBe(context.user.id);
  });

  it('An expired request starts again when the sign-in form is sent after ten hours', async () => {
    const browser = context.foyer.browser();
    const { begun, search } = await open(browser);
    context.foyer.passTime(10 * hourMs);
    const on = locationOf(await browser.post(`/sign-in${search}`, { username: context.user.email, password }));
    expect(await redeemed(begun, await homeFrom(browser, on, context.user))).toBe(context.user.id);
  });

  it('An expired request starts again from POST /storage, with and without a script', async () => {
    for (const byScript of [true, false]) {
      const browser = await context.foyer.signedIn(context.user);
      const { begun, id } = await open(browser, { prompt: 'login' });
      context.foyer.passTime(hourMs);
      const fields = { authorization_code: id };
      const answer = await (byScript ? browser.postJson('/storage', fields) : browser.post('/storage', fields));
      const on = byScript
        ? ((await answer.json()) as { data: { location: string } }).data.location
        : refreshOf(await answer.text());
      expect(await redeemed(begun, await homeFrom(browser, new URL(on, context.foyer.url).href, context.user))).toBe(
        context.user.id,
      );
    }
  });

  it('An expired request starts again from a second tab, the language switch and the terms page', async () => {
    const [browser, speaker] = [context.foyer.browser(), await context.foyer.addUser()];
    const [one, two] = [await open(browser), await open(browser)];
    context.foyer.passTime(hourMs);
    expect(await redeemed(one.begun, await homeFrom(browser, one.landing, speaker))).toBe(speaker.id);
    const german = await browser.post('/language', { lang: 'de', redirect: `/${two.search}` });
    expect(await redeemed(two.begun, await homeFrom(browser, locationOf(german), speaker))).toBe(speaker.id);

    const old = await context.foyer.addUser({ acceptedTosVersion: 0 });
    const fresh = context.foyer.browser();
    const { begun, search } = await open(fresh);
    const terms = locationOf(await fresh.post(`/sign-in${search}`, { username: old.email, password }));
    expect(new URL(terms).pathname).toBe('/tos');
    context.foyer.passTime(hourMs);
    const fields = { decision: 'accept', version: String(context.foyer.deps.terms.number) };
    const on = locationOf(await fresh.post(`/tos${new URL(terms).search}`, fields));
    expect(await redeemed(begun, await homeFrom(fresh, on, old))).toBe(old.id);
  });

  it('A request that expires during a sign-up keeps the form open, and the new user gets a code at the client', async () => {
    const browser = context.foyer.browser();
    const { begun, search } = await open(browser);
    context.foyer.passTime(hourMs);
    const page = await browser.get(`/signup${search}`);
    expect([page.status, (await page.text()).includes('has expired')]).toEqual([200, false]);
    const email = 'slow@example.com';
    const profile = { given_name: 'Slow', family_name: 'Snail', email, password: 'a long enough 1' };
    const terms = String(context.foyer.deps.terms.number);
    const code = locationOf(await browser.post(`/signup${search}`, { ...profile, terms }));
    const mail = (await context.foyer.mails(email)).at(-1);
    const digits = /\b\d{6}\b/.exec(mail?.text ?? '')?.[0] ?? '';
    const confirmed = locationOf(await browser.post(`/signup/emailCaptured${new URL(code).search}`, { code: digits }));
    const member = { email } as User;
    const verify = confirmed.includes('/verify-user')
      ? confirmed
      : new URL(`/verify-user${search}`, context.foyer.url).href;
    const callback = await homeFrom(browser, verify, member);
    const tokens = await context.client.redeem(callback, begun);
    const info = await oidc.fetchUserInfo(context.client.config, tokens.access_token, tokens.claims()?.sub ?? '');
    expect(info.email).toBe(email);
  });

  it('An expired id token request of the short forms starts again', async () => {
    const legacy = await context.foyer.addClient({
      redirectUris: ['http://127.0.0.1:9/short/'],
      legacyIdTokenRedirect: true,
    });
    const browser = context.foyer.browser();
    const form = new URLSearchParams({ client_id: legacy.id, redirect_uri: 'http://127.0.0.1:9/short', state: 's' });
    const landing = locationOf(await browser.get(locationOf(await browser.get(`/?${form}`))));
    context.foyer.passTime(hourMs);
    expect(await homeFrom(browser, landing, context.user)).toMatch(
      /^http:\/\/127\.0\.0\.1:9\/short\/\?id_token=.+&state=s$/,
    );
  });

  it('An expired pushed request is pushed again, so its parameters never appear in the address', async () => {
    const app = await context.foyer.addClient({ requirePushedRequests: true });
    const party = await relyingParty(context.foyer, app);
    const begun = await party.begin();
    const pushed = await oidc.buildAuthorizationUrlWithPAR(party.config, new URL(begun.url).searchParams);
    const browser = context.foyer.browser();
    const landing = locationOf(await browser.get(pushed.href, { from: 'cross-site' }));
    context.foyer.passTime(hourMs);
    const again = locationOf(await browser.get(landing));
    const authorize = new URL(refreshOf(await (await browser.get(again)).text()), context.foyer.url);
    expect([...authorize.searchParams.keys()]).toEqual(['client_id', 'request_uri']);
    expect(await redeemed(begun, await homeFrom(browser, again, context.user), party)).toBe(context.user.id);
  });

  it('An expired pushed request with a DPoP key starts again bound to that key', async () => {
    const party = await relyingParty(context.foyer, await context.foyer.addClient());
    const keys = await Promise.all([oidc.randomDPoPKeyPair('ES256'), oidc.randomDPoPKeyPair('ES256')]);
    const [own, other] = keys.map((key) => oidc.getDPoPHandle(party.config, key));
    const redeemedWith = async (DPoP: typeof own) => {
      const begun = await party.begin();
      const asked = new URL(begun.url).searchParams;
      const pushed = await oidc.buildAuthorizationUrlWithPAR(party.config, asked, own ? { DPoP: own } : {});
      const browser = context.foyer.browser();
      const landing = locationOf(await browser.get(pushed.href, { from: 'cross-site' }));
      context.foyer.passTime(hourMs);
      const home = new URL(await homeFrom(browser, locationOf(await browser.get(landing)), context.user));
      const checks = { pkceCodeVerifier: begun.verifier, expectedState: begun.state, expectedNonce: begun.nonce };
      return oidc.authorizationCodeGrant(party.config, home, checks, undefined, DPoP ? { DPoP } : {});
    };
    expect((await redeemedWith(own)).token_type).toBe('dpop');
    for (const wrong of [other, undefined]) {
      await expect(redeemedWith(wrong)).rejects.toMatchObject({ error: 'invalid_grant' });
    }
  });

  it('An expired request with response_mode=form_post starts again with form_post', async () => {
    const party = await relyingParty(context.foyer, await context.foyer.addClient({ responseTypes: ['id_token'] }));
    const browser = context.foyer.browser();
    const { landing, begun } = await open(browser, { response_type: 'id_token', response_mode: 'form_post' }, party);
    context.foyer.passTime(hourMs);
    const again = refreshOf(await (await browser.get(locationOf(await browser.get(landing)))).text());
    const { search } = new URL(locationOf(await browser.get(again)));
    const verify = locationOf(await browser.post(`/sign-in${search}`, { username: context.user.email, password }));
    const page = await (await browser.get(await store(browser, verify))).text();
    expect(page).toContain(`action="${party.redirectUri}"`);
    expect(page).toMatch(new RegExp(`name="state" value="${begun.state}"`));
    expect(page).toContain('name="id_token"');
  });

  it('An expired request whose redirect address is no longer registered gets an error page, not a redirect', async () => {
    const app = await context.foyer.addClient({ redirectUris: ['http://127.0.0.1:9/gone'] });
    const browser = context.foyer.browser();
    const { landing } = await open(browser, {}, await relyingParty(context.foyer, app));
    context.foyer.passTime(hourMs);
    await context.foyer.stores.database.db.deleteFrom('clients').where('id', '=', toClientId(app.id)).execute();
    const page = await (await browser.get(locationOf(await browser.get(landing)))).text();
    const answer = await browser.get(refreshOf(page));
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('We don’t know this app')]);
  });

  it('After a day Foyer knows only the client of the request, and redirects there if the client starts sign-ins itself', async () => {
    const app = await context.foyer.addClient({ name: 'Showcase', logbackUri: 'http://127.0.0.1:9/start' });
    const [browser, plain] = [context.foyer.browser(), context.foyer.browser()];
    const { landing } = await open(browser, {}, await relyingParty(context.foyer, app));
    const other = await open(plain);
    context.foyer.passTime(24 * hourMs);
    // The store would have dropped the request by now, but its clock does not move with the product's.
    for (const id of [idOf(landing), other.id]) {
      await context.foyer.stores.kv.delete(`authorization-request:${sha256(id)}`);
    }
    const again = locationOf(await browser.get(landing));
    const page = await (await browser.get(again)).text();
    expect(refreshOf(page)).toBe(`http://127.0.0.1:9/start?iss=${encodeURIComponent(context.foyer.url)}`);

    const lost = await plain.get(other.landing);
    expect([lost.status, await lost.text()]).toEqual([400, expect.stringContaining('go back to the app')]);
    await plain.post('/sign-in', { username: context.user.email, password });
    for (const path of ['/', '/verify-user', '/consent', '/begin-again']) {
      const answer = await plain.get(`${path}${other.search}`);
      const text = await answer.text();
      expect([path, answer.status, text.includes('go back to the app')]).toEqual([path, 400, true]);
    }
  });

  it('Another browser never starts the expired request again; it gets a page with a link to the client and no redirect', async () => {
    const app = await context.foyer.addClient({ name: 'Showcase', logbackUri: 'http://127.0.0.1:9/start' });
    const { landing, search } = await open(context.foyer.browser(), {}, await relyingParty(context.foyer, app));
    context.foyer.passTime(hourMs);
    const other = await context.foyer.signedIn(context.user);
    for (const path of ['/begin-again', '/verify-user', '/consent', '/']) {
      const answer = await other.get(`${path}${search}`);
      const text = await answer.text();
      expect([path, answer.status, text.includes('http-equiv="refresh"')]).toEqual([
        path,
        path === '/' ? 400 : 403,
        false,
      ]);
      expect(text).toContain(`href="http://127.0.0.1:9/start?iss=${encodeURIComponent(context.foyer.url)}"`);
      expect(text).toContain('Back to Showcase');
    }
    // A visitor can sign in and continue to the app.
    const page = await (await context.foyer.browser().get(landing)).text();
    expect(page).toContain('Sign in and Showcase will start again.');
    expect(page).not.toContain(idOf(landing));
  });

  it('A waiting request survives a restart of the server', async () => {
    const browser = context.foyer.browser();
    const { begun, landing } = await open(browser);
    const { server, port } = await listenOnFreePort();
    const second = await createApp(context.foyer.deps, context.foyer.extensions);
    server.on('request', second.app);
    try {
      // A new process answers the same address with the same cookies.
      const there = async (address: string) => {
        const { pathname, search } = new URL(address);
        const cookie = await browser.jar.getCookieString(context.foyer.url);
        return send(port, pathname + search, {
          headers: { host: new URL(context.foyer.url).host, cookie, accept: 'text/html' },
        });
      };
      expect((await there(landing)).status).toBe(200);
      expect(await redeemed(begun, await homeFrom(browser, landing, context.user))).toBe(context.user.id);
      context.foyer.passTime(hourMs);
      expect((await there(landing)).headers.location).toMatch(/^\/begin-again\?/);
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await second.stop();
    }
  });

  it('A faulty request gets an error page with a link to the client, if the client starts sign-ins itself', async () => {
    const app = await context.foyer.addClient({ name: 'Showcase', logbackUri: 'http://127.0.0.1:9/start' });
    const party = await relyingParty(context.foyer, app);
    const { url } = await party.begin({ redirect_uri: 'http://127.0.0.1:9/elsewhere' });
    const answer = await context.foyer.browser().get(url, { from: 'cross-site' });
    const page = await answer.text();
    expect([answer.status, page.includes('Back to Showcase')]).toEqual([400, true]);
    expect(page).toContain(`href="http://127.0.0.1:9/start?iss=${encodeURIComponent(context.foyer.url)}"`);
    expect(page).not.toContain('elsewhere');
  });

  it('The error reference of an expired request is found in the log', async () => {
    const answer = await context.foyer.browser().get('/begin-again?authorization_code=unknown');
    const reference = /<code>([0-9A-F]{10})<\/code>/.exec(await answer.text())?.[1] ?? '';
    const line = context.foyer
      .logged()
      .split('\n')
      .find((one) => one.includes(`"${reference}"`) && one.includes('request refused'));
    expect(JSON.parse(line ?? '{}')).toMatchObject({
      reference,
      kind: 'requestExpired',
      detail: 'authorization request: unknown',
    });
  });
});

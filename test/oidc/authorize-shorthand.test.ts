import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import type { User } from '../../server/users/index.ts';
import { codeFor, newAddress, profile } from '../sign-up/steps.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { homeFrom, refreshOf, relyingParty } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';

describe.each(backends)('short forms on $name', (backend) => {
  let foyer: TestFoyer;
  let user: User;
  let legacy: { id: string; redirectUri: string };
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    user = await foyer.addUser();
    legacy = await foyer.addClient({
      redirectUris: ['http://127.0.0.1:9/old/'],
      legacyIdTokenRedirect: true,
      scopes: ['openid', 'email'],
    });
  });
  afterAll(() => foyer?.close());

  const form = (parameters: Record<string, string>) => `/?${new URLSearchParams(parameters)}`;
  /** The address without its last slash, as the apps of the specification write it; Foyer adds the slash. */
  const shortForm = (more: Record<string, string> = {}) =>
    form({ client_id: legacy.id, redirect_uri: 'http://127.0.0.1:9/old', ...more });
  const pathOf = (response: Response) => new URL(locationOf(response)).pathname;

  async function check(callback: string): Promise<Record<string, unknown>> {
    const { jwks_uri } = (await (await sendRequest(`${foyer.url}/.well-known/openid-configuration`)).json()) as {
      jwks_uri: string;
    };
    const token = new URL(callback).searchParams.get('id_token') ?? '';
    const options = { issuer: foyer.url, audience: legacy.id };
    return { ...(await jwtVerify(token, createRemoteJWKSet(new URL(jwks_uri)), options)).payload };
  }

  /** Follows a visit of the start page to the first address outside Foyer. */
  async function comeHome(browser: Browser, address: string): Promise<Response> {
    const begun = locationOf(await browser.get(address, { from: 'cross-site' }));
    let answer = await browser.get(begun);
    if (pathOf(answer) === '/') {
      const signedIn = await browser.post(`/sign-in${new URL(locationOf(answer)).search}`, {
        username: user.email,
        password,
      });
      const stored = await browser.postJson('/storage', {
        authorization_code: new URL(locationOf(signedIn)).searchParams.get('authorization_code'),
      });
      answer = await browser.get(((await stored.json()) as { data: { location: string } }).data.location);
    }
    return answer;
  }

  describe('client_id and redirect_uri', () => {
    it('A sign-in redirects to {redirect_uri}/?id_token=…&state=…', async () => {
      const answer = await comeHome(foyer.browser(), shortForm({ state: 'a b&c' }));
      const callback = locationOf(answer);
      expect(callback).toMatch(/^http:\/\/127\.0\.0\.1:9\/old\/\?id_token=[\w.-]+&state=a\+b%26c$/);
      const claims = await check(callback);
      expect(claims).toMatchObject({ sub: user.id, email: user.email });
      // A token has no claim that the client is not registered for.
      expect(claims).not.toHaveProperty('given_name');
    });

    it('The redirect with the id token is no-store and no-referrer, and the token expires within five minutes', async () => {
      const answer = await comeHome(await foyer.signedIn(user), shortForm());
      expect([answer.status, answer.headers.get('referrer-policy'), answer.headers.get('cache-control')]).toEqual([
        303,
        'no-referrer',
        'no-store',
      ]);
      const { iat = 0, exp = 0 } = decodeJwt(new URL(locationOf(answer)).searchParams.get('id_token') ?? '');
      expect(exp - iat).toBeLessThanOrEqual(300);
      expect(exp - iat).toBeGreaterThan(60);
    });

    it('An id token that is not in the query is valid for an hour', async () => {
      const query = { client_id: legacy.id, redirect_uri: legacy.redirectUri, response_type: 'id_token' };
      const answer = await (await foyer.signedIn(user)).get(`/oauth2/authorize?${new URLSearchParams(query)}`);
      const { iat = 0, exp = 0 } = decodeJwt(/id_token=([^&]+)/.exec(locationOf(answer))?.[1] ?? '');
      expect(exp - iat).toBe(3600);
    });

    it('Each id token has a nonce of its own', async () => {
      const browser = await foyer.signedIn(user);
      const nonces = [await comeHome(browser, shortForm()), await comeHome(browser, shortForm())].map(
        (answer) => decodeJwt(new URL(locationOf(answer)).searchParams.get('id_token') ?? '').nonce,
      );
      expect(nonces[0]).toMatch(/^[\w-]{22}$/);
      expect(nonces[1]).not.toBe(nonces[0]);
    });

    it('A redirect address with its final slash, as registered, works in the same way', async () => {
      const answer = await comeHome(await foyer.signedIn(user), shortForm({ redirect_uri: legacy.redirectUri }));
      expect(locationOf(answer)).toMatch(/^http:\/\/127\.0\.0\.1:9\/old\/\?id_token=/);
    });

    it('The parameter forceAuth shows the form despite a session, and the old session ends with the new sign-in', async () => {
      const other = await foyer.addUser();
      const browser = await foyer.signedIn(other);
      const before = await browser.cookies();
      const begun = locationOf(await browser.get(shortForm({ forceAuth: 'true' })));
      const landing = locationOf(await browser.get(begun));
      expect((await browser.get(landing)).status).toBe(200);
      // Until then no user is signed out.
      expect((await browser.get('/')).status).toBe(303);
      expect((await check(await homeFrom(browser, landing, user))).sub).toBe(user.id);
      const old = foyer.browser();
      for (const [name, value] of Object.entries(before))
        await old.jar.setCookie(`${name}=${value}; Path=/`, foyer.url);
      expect((await old.get('/')).status).toBe(200);
    });

    it('An error is sent to the same redirect address, with state', async () => {
      const third = await foyer.addClient({
        redirectUris: ['http://127.0.0.1:9/third/'],
        legacyIdTokenRedirect: true,
        thirdParty: true,
      });
      const browser = await foyer.signedIn(user);
      const begun = locationOf(
        await browser.get(form({ client_id: third.id, redirect_uri: 'http://127.0.0.1:9/third', state: 's' })),
      );
      const id = new URL(locationOf(await browser.get(begun))).searchParams.get('authorization_code') ?? '';
      const page = await (await browser.post('/consent', { authorization_code: id, decision: 'deny' })).text();
      const back = new URL(locationOf(await browser.get(refreshOf(page))));
      expect(back.origin + back.pathname).toBe('http://127.0.0.1:9/third/');
      expect(Object.fromEntries(back.searchParams)).toMatchObject({ error: 'access_denied', state: 's' });
    });

    it('A client without the short form that starts sign-ins itself gets a redirect to its start address', async () => {
      const app = await foyer.addClient({ logbackUri: 'http://127.0.0.1:9/begin' });
      const answer = await foyer.browser().get(form({ client_id: app.id, redirect_uri: app.redirectUri, state: 'x' }));
      expect(answer.status).toBe(200);
      expect(refreshOf(await answer.text())).toBe(`http://127.0.0.1:9/begin?iss=${encodeURIComponent(foyer.url)}`);
    });

    it('A client with neither the short form nor a start address gets an error page without a redirect', async () => {
      const app = await foyer.addClient();
      for (const browser of [foyer.browser(), await foyer.signedIn(user)]) {
        const answer = await browser.get(form({ client_id: app.id, redirect_uri: app.redirectUri }));
        expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
        expect(await answer.text()).toContain('The sign-in couldn’t be finished');
      }
    });

    it('A request without a client_id is for the default client, and a client_id in the query overrides it', async () => {
      const own = await startFoyer(backend, { DEFAULT_CLIENT_ID: 'marketplace' });
      try {
        await own.addClient({
          id: 'marketplace',
          name: 'The marketplace',
          redirectUris: ['http://127.0.0.1:9/market/'],
          legacyIdTokenRedirect: true,
        });
        const other = await own.addClient({ redirectUris: ['http://127.0.0.1:9/other/'], legacyIdTokenRedirect: true });
        const audience = async (address: string) => {
          const browser = await own.signedIn(await own.addUser());
          const home = locationOf(await browser.get(locationOf(await browser.get(address))));
          return decodeJwt(new URL(home).searchParams.get('id_token') ?? '').aud;
        };
        expect(await audience(form({ redirect_uri: 'http://127.0.0.1:9/market' }))).toBe('marketplace');
        expect(await audience(form({ client_id: other.id, redirect_uri: 'http://127.0.0.1:9/other' }))).toBe(other.id);
        const mixed = form({ client_id: other.id, redirect_uri: 'http://127.0.0.1:9/market' });
        expect((await own.browser().get(mixed)).status).toBe(400);
      } finally {
        await own.close();
      }
    });

    it('The short form at /verify-user redirects to the short form at /', async () => {
      const browser = await foyer.signedIn(user);
      const { search } = new URL(shortForm(), foyer.url);
      expect(locationOf(await browser.get(`/verify-user${search}`))).toBe(`${foyer.url}/${search}`);
    });
  });

  describe('client_id alone', () => {
    let app: { id: string };
    beforeAll(async () => {
      app = await foyer.addClient({ name: 'Showcase', logbackUri: 'http://127.0.0.1:9/showcase' });
    });
    const start = () => `http://127.0.0.1:9/showcase?iss=${encodeURIComponent(foyer.url)}`;

    it('The sign-in page names the client, also after a mistake, and the sign-in leads to the client’s start address', async () => {
      const browser = foyer.browser();
      const page = await (await browser.get(form({ client_id: app.id }), { from: 'cross-site' })).text();
      expect(page).toContain('Showcase');
      const action = /<form[^>]*id="sign-in"[^>]*action="([^"]+)"/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? '';
      const mistaken = await browser.post(action, { username: user.email, password: 'no' });
      expect([mistaken.status, (await mistaken.text()).includes('Showcase')]).toEqual([400, true]);
      const on = locationOf(await browser.post(action, { username: user.email, password }));
      const going = await browser.get(on);
      expect(refreshOf(await going.text())).toBe(start());
    });

    it('A sign-up that starts there leads to the client’s start address too', async () => {
      const [browser, email] = [foyer.browser(), newAddress()];
      const page = await (await browser.get(form({ client_id: app.id }), { from: 'cross-site' })).text();
      const step = /href="(\/signup\?[^"]+)"/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? '';
      const code = locationOf(await browser.post(step, profile(email)));
      const confirmed = await browser.post(code, { code: await codeFor(foyer, email) });
      const html = await (await browser.get(locationOf(confirmed))).text();
      const on = /href="([^"]*\/\?client_id=[^"]+)"/.exec(html)?.[1] ?? '';
      expect(refreshOf(await (await browser.get(on)).text())).toBe(start());
    });

    it('A signed-in user is redirected at once, but gets the form first with forceAuth', async () => {
      const browser = await foyer.signedIn(user);
      expect(refreshOf(await (await browser.get(form({ client_id: app.id }))).text())).toBe(start());
      const forced = await browser.get(form({ client_id: app.id, forceAuth: '1' }));
      expect(await forced.text()).toContain('name="password"');
    });

    it('A requested page of Foyer wins over the client’s start address', async () => {
      const browser = await foyer.signedIn(user);
      expect(locationOf(await browser.get(form({ client_id: app.id, redirect: '/settings' })))).toBe(
        `${foyer.url}/settings`,
      );
    });

    it('A client without a start address is named, and the sign-in leads to the usual page', async () => {
      const plain = await foyer.addClient({ name: 'Plain' });
      const browser = foyer.browser();
      expect(await (await browser.get(form({ client_id: plain.id }))).text()).toContain('Plain');
      const signedIn = await browser.post(`/sign-in?client_id=${plain.id}`, { username: user.email, password });
      expect(locationOf(signedIn)).toBe(locationOf(await (await foyer.signedIn(user)).get('/')));
    });
  });

  describe('older client apps at the authorize path', () => {
    const authorize = (browser: Browser, parameters: Record<string, string>) =>
      browser.get(`/oauth2/authorize/?${new URLSearchParams(parameters)}`, { from: 'cross-site' });

    it('An older client needs no scope and no nonce for an id token', async () => {
      const query = { response_type: 'id_token', client_id: legacy.id, redirect_uri: legacy.redirectUri };
      const home = new URL(locationOf(await authorize(await foyer.signedIn(user), query)));
      const claims = decodeJwt(new URLSearchParams(home.hash.slice(1)).get('id_token') ?? '');
      expect(claims).toMatchObject({ sub: user.id, aud: legacy.id, nonce: expect.stringMatching(/^[\w-]{22}$/) });
    });

    it('An older client gets a code with a PKCE challenge alone', async () => {
      const app = await foyer.addClient({ legacy: true });
      const verifier = oidc.randomPKCECodeVerifier();
      const query = {
        response_type: 'code',
        client_id: app.id,
        redirect_uri: app.redirectUri,
        code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      };
      const home = locationOf(await authorize(await foyer.signedIn(user), query));
      const { config } = await relyingParty(foyer, app);
      const tokens = await oidc.authorizationCodeGrant(config, new URL(home), {
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      expect(tokens.claims()).toMatchObject({ sub: user.id });
      expect(tokens.scope).toBe('openid');
    });

    it('An older client’s own scope and nonce are kept', async () => {
      const query = {
        response_type: 'id_token',
        client_id: legacy.id,
        redirect_uri: legacy.redirectUri,
        scope: 'openid email',
        nonce: 'their own',
      };
      const home = new URL(locationOf(await authorize(await foyer.signedIn(user), query)));
      const claims = decodeJwt(new URLSearchParams(home.hash.slice(1)).get('id_token') ?? '');
      expect(claims).toMatchObject({ nonce: 'their own', email: user.email });
    });

    it('An older client’s forceAuth has the effect of prompt=login', async () => {
      const query = { response_type: 'id_token', client_id: legacy.id, redirect_uri: legacy.redirectUri };
      const browser = await foyer.signedIn(user);
      const landing = locationOf(await authorize(browser, { ...query, forceAuth: 'true' }));
      expect(await (await browser.get(landing)).text()).toContain('name="password"');
    });

    it('Any other client gets no default scope or nonce, and its forceAuth is ignored', async () => {
      const app = await foyer.addClient({ responseTypes: ['id_token', 'code'] });
      const query = { response_type: 'id_token', client_id: app.id, redirect_uri: app.redirectUri };
      const browser = await foyer.signedIn(user);
      for (const more of [{}, { scope: 'openid' }, { nonce: 'n' }] as Record<string, string>[]) {
        const home = locationOf(await authorize(browser, { ...query, ...more }));
        expect(new URLSearchParams(new URL(home).hash.slice(1)).get('error')).toBe('invalid_request');
      }
      const full = { ...query, scope: 'openid', nonce: 'n', forceAuth: 'true' };
      expect(locationOf(await authorize(browser, full))).toContain('#id_token=');
    });
  });
});

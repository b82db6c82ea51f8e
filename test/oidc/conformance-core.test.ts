import { decodeJwt, decodeProtectedHeader } from 'jose';
import * as oidc from 'openid-client';
import type { User } from '../../server/users/index.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { type RelyingParty, relyingParty, signInFor, tokensFor } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { anyBackend } from '../support/stores.ts';

/** Requirements of OpenID Connect Core 1.0 in docs/conformance.md that no other test shows. */
describe('OpenID Connect Core 1.0', () => {
  let foyer: TestFoyer;
  let user: User;
  let browser: Browser;
  let client: RelyingParty;
  let secret: string;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
    user = await foyer.addUser();
    browser = await foyer.signedIn(user);
    const registered = await foyer.addClient({ scopes: ['openid', 'profile', 'email', 'phone', 'offline_access'] });
    secret = registered.secret ?? '';
    client = await relyingParty(foyer, registered, 'openid email');
  });
  afterAll(() => foyer?.close());

  /** The answer at the redirect address to a request of a signed-in user. */
  async function told(url: string, from = browser): Promise<URLSearchParams> {
    const back = new URL(locationOf(await from.get(url, { from: 'cross-site' })));
    expect(back.origin + back.pathname).toBe(client.redirectUri);
    return back.hash === '' ? back.searchParams : new URLSearchParams(back.hash.slice(1));
  }
  async function requestWith(change: (query: URLSearchParams) => void): Promise<string> {
    const url = new URL((await client.begin()).url);
    change(url.searchParams);
    return url.href;
  }
  const basic = () => ({ authorization: `Basic ${btoa(`${client.id}:${secret}`)}` });
  const atTokenEndpoint = (fields: Record<string, string>, headers: Record<string, string> = basic()) =>
    sendRequest(`${foyer.url}/oauth2/token`, { method: 'POST', headers, body: new URLSearchParams(fields) });
  async function codeFields(parameters: Record<string, string> = {}) {
    const begun = await client.begin(parameters);
    const code = (await told(begun.url)).get('code') ?? '';
    const rest = { redirect_uri: client.redirectUri, code_verifier: begun.verifier };
    return { grant_type: 'authorization_code', code, ...rest };
  }

  describe('id tokens', () => {
    it('An id token names a published key in its header and embeds no key (sections 2 and 10.1)', async () => {
      const { id_token: idToken = '' } = await tokensFor(client, browser, user);
      const header = decodeProtectedHeader(idToken);
      const { keys } = (await (await sendRequest(`${foyer.url}/oauth2/jwks`)).json()) as { keys: { kid: string }[] };
      expect(keys.map(({ kid }) => kid)).toContain(header.kid);
      expect(Object.keys(header).toSorted()).toEqual(['alg', 'kid']);
      expect(header).toMatchObject({ alg: 'RS256' });
    });

    it('An id token returns the nonce unchanged, and has none if none was sent (section 2)', async () => {
      const nonce = 'ä "<&>\' +%20/=~ 🔑';
      const withNonce = await (await atTokenEndpoint(await codeFields({ nonce }))).json();
      expect(decodeJwt(withNonce.id_token).nonce).toBe(nonce);
      const begun = await client.begin();
      const url = new URL(begun.url);
      url.searchParams.delete('nonce');
      const code = (await told(url.href)).get('code') ?? '';
      const fields = { code, redirect_uri: client.redirectUri, code_verifier: begun.verifier };
      const without = await (await atTokenEndpoint({ grant_type: 'authorization_code', ...fields })).json();
      expect(decodeJwt(without.id_token)).not.toHaveProperty('nonce');
    });

    it('A user has the same subject at every client, short, ASCII and unique (sections 2, 5.7 and 8)', async () => {
      const another = await relyingParty(foyer, await foyer.addClient({ public: true }));
      const [here, there] = [await tokensFor(client, browser, user), await tokensFor(another, browser, user)];
      const someoneElse = await foyer.addUser();
      const theirs = await tokensFor(client, foyer.browser(), someoneElse);
      const [sub, again, other] = [here, there, theirs].map((tokens) => tokens.claims()?.sub);
      expect(sub).toMatch(/^[\x21-\x7e]{1,255}$/);
      expect(again).toBe(sub);
      expect(other).not.toBe(sub);
    });

    it('A refreshed id token keeps issuer, subject, audience and auth_time and has its own iat and no nonce (section 12.2)', async () => {
      const first = await tokensFor(client, browser, user);
      foyer.passTime(5_000);
      const refreshed = await oidc.refreshTokenGrant(client.config, first.refresh_token ?? '');
      foyer.passTime(-5_000);
      const [before, after] = [decodeJwt(first.id_token ?? ''), decodeJwt(refreshed.id_token ?? '')];
      for (const name of ['iss', 'sub', 'aud', 'auth_time']) expect(after[name]).toEqual(before[name]);
      expect(after.iat).toBeGreaterThanOrEqual(before.iat ?? Number.NaN);
      expect(after.azp).toBe(before.azp);
      expect(before.nonce).toBeDefined();
      expect(after).not.toHaveProperty('nonce');
    });
  });

  describe('authorization requests', () => {
    it('The authorization endpoint accepts POST as well as GET (section 3.1.2.1)', async () => {
      const begun = await client.begin();
      const { pathname, searchParams } = new URL(begun.url);
      const posted = await browser.post(pathname, Object.fromEntries(searchParams), {
        origin: 'http://127.0.0.1:9',
        'sec-fetch-site': 'cross-site',
      });
      const callback = locationOf(await browser.get(locationOf(posted), { from: 'cross-site' }));
      expect((await client.redeem(callback, begun)).claims()?.sub).toBe(user.id);
    });

    it('An authorization request without the scope openid gives no code (section 3.1.2.1)', async () => {
      const answer = await told(await requestWith((query) => query.set('scope', 'email')));
      expect(answer.get('code')).toBeNull();
      expect(answer.get('error')).toMatch(/^invalid_(request|scope)$/);
    });

    it.each([undefined, 'unheard-of'])(
      'An authorization request with the scope %s is refused with invalid_scope at once (RFC 6749, section 3.3)',
      async (scope) => {
        const url = await requestWith((query) => {
          for (const name of ['scope', 'nonce']) query.delete(name);
          if (scope !== undefined) query.set('scope', scope);
        });
        const answer = await foyer.browser().get(url, { from: 'cross-site' });
        expect(new URL(locationOf(answer)).searchParams.get('error')).toBe('invalid_scope');
      },
    );

    it.each(['response_type', 'scope', 'code_challenge'])(
      'An authorization request without %s gets an error at the client (section 3.1.2.2)',
      async (name) => {
        const answer = await told(await requestWith((query) => query.delete(name)));
        expect([answer.get('code'), answer.get('error')]).toEqual([null, 'invalid_request']);
      },
    );

    it.each(['response_type', 'scope', 'state', 'nonce', 'prompt'])(
      'An authorization request with %s twice gets an error (RFC 6749, section 3.1)',
      async (name) => {
        const url = await requestWith((query) => {
          query.append(name, query.get(name) ?? 'login');
          query.append(name, 'another');
        });
        const answer = await browser.get(url, { from: 'cross-site' });
        const location = answer.headers.get('location');
        if (location === null) expect(answer.status).toBe(400);
        else expect(new URL(location).searchParams.get('error')).toBe('invalid_request');
      },
    );

    it('A parameter without a value counts as not sent (RFC 6749, section 3.1)', async () => {
      const empty = ['prompt', 'max_age', 'acr_values', 'id_token_hint', 'claims', 'ui_locales', 'display', 'resource'];
      const answer = await told(
        await requestWith((query) => {
          for (const name of empty) query.set(name, '');
        }),
      );
      expect([answer.get('error'), answer.get('code')]).toEqual([null, expect.any(String)]);
    });

    it.each(['select_account', 'create', 'login unheard_of', 'none login'])(
      'An authorization request with prompt=%s gets an error and no code (section 3.1.2.1)',
      async (prompt) => {
        const answer = await told(await requestWith((query) => query.set('prompt', prompt)));
        expect(answer.get('code')).toBeNull();
        expect(answer.get('error')).toMatch(/^(invalid_request|account_selection_required)$/);
      },
    );

    it.each(['{', '[]', 'null', '"x"', '{"id_token":[]}', '{"userinfo":"x"}'])(
      'The malformed claims parameter %s never causes a server error (section 5.5)',
      async (claims) => {
        const answer = await told(await requestWith((query) => query.set('claims', claims)));
        expect([null, 'invalid_request']).toContain(answer.get('error'));
      },
    );

    it('Single claims that are unknown or not allowed are ignored (section 5.5.1)', async () => {
      const claims = { id_token: { unheard_of: { essential: true } }, userinfo: { phone_number: null }, more: 1 };
      const tokens = await tokensFor(client, browser, user, { claims: JSON.stringify(claims) });
      const info = await oidc.fetchUserInfo(client.config, tokens.access_token, user.id);
      expect(info).not.toHaveProperty('phone_number');
      expect(tokens.claims()).not.toHaveProperty('unheard_of');
    });

    it('offline_access is ignored without prompt=consent and without a code request (section 11)', async () => {
      const begun = await client.begin({ scope: 'openid offline_access' });
      const tokens = await client.redeem(await signInFor(browser, begun, user), begun);
      expect(tokens.scope).toBe('openid');
      const registered = await foyer.addClient({ responseTypes: ['id_token'], scopes: ['openid', 'offline_access'] });
      const implicit = await relyingParty(foyer, registered, 'openid offline_access');
      const { url } = await implicit.begin({ response_type: 'id_token', prompt: 'consent' });
      const callback = new URL(await signInFor(browser, { url }, user));
      expect([...new URLSearchParams(callback.hash.slice(1)).keys()]).toContain('id_token');
    });
  });

  describe('the token endpoint', () => {
    it('A token response is Bearer, JSON and no-store, as section 3.1.3.3 says', async () => {
      const answer = await atTokenEndpoint(await codeFields());
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(await answer.json()).toMatchObject({
        token_type: 'Bearer',
        expires_in: 3600,
        access_token: expect.any(String),
        id_token: expect.any(String),
      });
    });

    it('A token error is 400, JSON and no-store, as section 3.1.3.4 says', async () => {
      for (const [fields, error] of [
        [{ ...(await codeFields()), code: 'unknown' }, 'invalid_grant'],
        [{ grant_type: 'unheard_of' }, 'unsupported_grant_type'],
        [{ code: 'x' }, 'invalid_request'],
      ] as [Record<string, string>, string][]) {
        const answer = await atTokenEndpoint(fields);
        expect(answer.status).toBe(400);
        expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
        expect(answer.headers.get('cache-control')).toBe('no-store');
        expect(await answer.json()).toMatchObject({ error });
      }
    });

    it('The token endpoint ignores unknown parameters (RFC 6749, section 3.2)', async () => {
      const answer = await atTokenEndpoint({ ...(await codeFields()), unheard_of: 'x' });
      expect(answer.status).toBe(200);
    });

    it('The token endpoint accepts only one client authentication method per request (RFC 6749, section 2.3)', async () => {
      const fields = await codeFields();
      const both = await atTokenEndpoint({ ...fields, client_id: client.id, client_secret: secret });
      expect(both.status).toBe(400);
      expect(await both.json()).toMatchObject({ error: 'invalid_request' });
      expect((await atTokenEndpoint(fields)).status).toBe(200);
    });

    it('The token endpoint accepts the secret in body or header, never in the address (RFC 6749, section 2.3.1)', async () => {
      const query = new URLSearchParams({ client_id: client.id, client_secret: secret });
      const body = new URLSearchParams(await codeFields());
      const answer = await sendRequest(`${foyer.url}/oauth2/token?${query}`, { method: 'POST', body });
      expect(answer.status).toBe(400);
    });
  });

  it('UserInfo answers JSON with the subject of the id token (sections 5.3.2 and 5.3.4)', async () => {
    const tokens = await tokensFor(client, browser, user);
    const headers = { authorization: `Bearer ${tokens.access_token}` };
    const answer = await sendRequest(`${foyer.url}/oauth2/userInfo`, { headers });
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(((await answer.json()) as { sub: string }).sub).toBe(tokens.claims()?.sub);
  });

  it('UserInfo accepts the token in the header or in a form body, but not in both (RFC 6750, section 2)', async () => {
    const { access_token: token } = await tokensFor(client, browser, user);
    const headers = { authorization: `Bearer ${token}` };
    const body = new URLSearchParams({ access_token: token });
    const ask = async (init: RequestInit) => (await sendRequest(`${foyer.url}/oauth2/userInfo`, init)).status;
    expect(await ask({ method: 'POST', headers })).toBe(200);
    expect(await ask({ headers: { authorization: `bearer ${token}` } })).toBe(200);
    expect(await ask({ method: 'POST', body })).toBe(200);
    expect(await ask({ method: 'POST', headers, body })).toBe(400);
  });
});

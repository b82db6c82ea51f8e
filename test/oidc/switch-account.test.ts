import * as oidc from 'openid-client';
import type { User } from '../../server/users/index.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toClientId } from '../support/ids.ts';
import { type RelyingParty, refreshOf, relyingParty, signInFor } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';

const site = 'https://shop.example';
const callback = `${site}/callback`;
const fromShop = { from: 'cross-site', headers: { referer: `${site}/account` } } as const;

/** The specification's "Logout": the branches that end at the authorize path, where somebody else can sign in. */
describe.each(backends)('switch of account by /logout on $name', (backend) => {
  let foyer: TestFoyer;
  let user: User;
  let browser: Browser;
  let client: RelyingParty;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    user = await foyer.addUser();
    const added = await foyer.addClient({ redirectUris: [callback], responseTypes: ['code', 'id_token'] });
    client = await relyingParty(foyer, added);
  });
  beforeEach(async () => {
    browser = await foyer.signedIn(user);
  });
  afterAll(() => foyer?.close());

  const isSignedIn = async () => (await browser.get('/settings')).status === 200;
  const logout = (parameters: Record<string, string>) => `/logout?${new URLSearchParams(parameters)}`;
  /** What a client app's own authorization request has, as parameters of /logout. */
  async function ofCode() {
    const begun = await client.begin();
    const parameters = Object.fromEntries(new URL(begun.url).searchParams);
    return { begun, parameters };
  }
  const idToken = (more: Record<string, string> = {}) => ({
    response_type: 'id_token',
    client_id: client.id,
    redirect_uri: callback,
    scope: 'openid email',
    nonce: 'n-1',
    state: 's-1',
    ...more,
  });
  /** Where the browser is when it shows the form; answers that page's address. */
  async function expectForm(authorize: string): Promise<URL> {
    expect(new URL(authorize).pathname).toBe('/oauth2/authorize');
    const landing = new URL(locationOf(await browser.get(authorize, fromShop)));
    expect([landing.origin, landing.pathname]).toEqual([foyer.url, '/']);
    const page = await browser.get(landing.href);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('name="password"');
    return landing;
  }

  it('/logout with a code request signs out, and another user’s code is redeemed with the client’s verifier', async () => {
    const { begun, parameters } = await ofCode();
    const answer = await browser.get(logout(parameters), fromShop);
    expect(answer.status).toBe(303);
    expect(await isSignedIn()).toBe(false);
    const authorize = locationOf(answer);
    expect(Object.fromEntries(new URL(authorize).searchParams)).toEqual(parameters);
    await expectForm(authorize);
    const other = await foyer.addUser();
    const tokens = await client.redeem(await signInFor(browser, { url: authorize }, other), begun);
    expect(tokens.claims()?.sub).toBe(other.id);
  });

  it('/logout with a code request without a scope gives an id token of the other user with the scope openid', async () => {
    const { begun, parameters } = await ofCode();
    const { scope: _, nonce: __, ...asked } = parameters;
    const authorize = locationOf(await browser.get(logout(asked), fromShop));
    const other = await foyer.addUser();
    const back = await signInFor(browser, { url: authorize }, other);
    const tokens = await oidc.authorizationCodeGrant(client.config, new URL(back), {
      pkceCodeVerifier: begun.verifier,
      expectedState: parameters.state,
    });
    expect([tokens.claims()?.sub, tokens.scope]).toEqual([other.id, 'openid']);
  });

  it('/logout with an id token request returns its state and nonce', async () => {
    const authorize = locationOf(await browser.get(logout(idToken()), fromShop));
    await expectForm(authorize);
    const other = await foyer.addUser();
    const { origin, pathname, hash } = new URL(await signInFor(browser, { url: authorize }, other));
    expect(origin + pathname).toBe(callback);
    const sent = new URLSearchParams(hash.slice(1));
    const claims = JSON.parse(Buffer.from(sent.get('id_token')?.split('.')[1] ?? '', 'base64url').toString());
    expect([sent.get('state'), claims.nonce, claims.sub, claims.email]).toEqual(['s-1', 'n-1', other.id, other.email]);
  });

  it('Older clients need no scope and no nonce and get the id token in their registered response mode', async () => {
    const [own, final] = ['https://older.example/cb', 'https://oldest.example/'];
    const older = await foyer.addClient({ redirectUris: [own], responseTypes: ['id_token'], legacy: true });
    const oldest = await foyer.addClient({ redirectUris: [final], legacyIdTokenRedirect: true });
    for (const [id, uri, mode] of [
      [older.id, own, null],
      [oldest.id, 'https://oldest.example', 'query_id_token'],
    ] as const) {
      browser = await foyer.signedIn(user);
      const asked = { response_type: 'id_token', client_id: id, redirect_uri: uri };
      const answer = await browser.get(logout(asked), { from: 'same-origin' });
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

  /** As `signInFor`, which does not know an id token in the query. */
  async function signInForOlder(url: string): Promise<string> {
    return signInFor(browser, { url }, user).catch(async (error: Error) => {
      const [, at = ''] = /did not come home: (\S+)/.exec(error.message) ?? [];
      if (at === '') throw error;
      return at;
    });
  }

  it('A link from an unknown site shows one button first, which keeps every parameter', async () => {
    const { parameters } = await ofCode();
    for (const asked of [parameters, idToken()]) {
      const page = await browser.get(logout(asked), { from: 'cross-site' });
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
      const posted = await browser.post('/logout', fields);
      expect([posted.status, await isSignedIn()]).toEqual([303, false]);
      await expectForm(locationOf(posted));
      browser = await foyer.signedIn(user);
    }
  });

  it('A change of the language keeps every parameter and signs no one out', async () => {
    const html = await (await browser.get(logout(idToken()), { from: 'cross-site' })).text();
    const [, back = ''] = /name="redirect" value="([^"]*)"/.exec(html) ?? [];
    const chosen = await browser.post('/language', { lang: 'de', redirect: back.replaceAll('&amp;', '&') });
    const page = await browser.get(locationOf(chosen), { from: 'same-origin', headers: { referer: `${foyer.url}/x` } });
    expect([page.status, await isSignedIn()]).toEqual([200, true]);
    const text = await page.text();
    expect(text).toContain('Danach können Sie sich bei Client');
    for (const value of Object.values(idToken())) expect(text).toContain(`value="${value}"`);
    await browser.post('/logout');
    const gone = await browser.get(locationOf(chosen), { from: 'same-origin' });
    expect(new URL(locationOf(gone)).pathname).toBe('/logout');
  });

  it('Without a session the link leads to the sign-in form at once', async () => {
    browser = foyer.browser();
    await expectForm(locationOf(await browser.get(logout(idToken()), { from: 'cross-site' })));
  });

  it('A logout address wins over a redirect address', async () => {
    const bye = `${site}/bye`;
    const both = await foyer.addClient({ redirectUris: [callback], logoutUris: [bye] });
    const { parameters } = await ofCode();
    const asked = { ...parameters, client_id: both.id, state: 'x' };
    const known = await browser.get(logout({ ...asked, logout_uri: bye }), fromShop);
    expect(known.headers.get('location')).toBe(`${bye}?state=x`);
    browser = await foyer.signedIn(user);
    const foreign = await browser.get(logout({ ...asked, logout_uri: `${bye}/` }), fromShop);
    expect(foreign.headers.get('location')).toBe('/');
    browser = await foyer.signedIn(user);
    expect(refreshOf(await (await browser.post('/logout', { ...asked, logout_uri: bye })).text())).toBe(
      `${bye}?state=x`,
    );
  });

  describe('/logout without a valid request', () => {
    const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
    const code = { response_type: 'code', code_challenge: challenge, code_challenge_method: 'S256', scope: 'openid' };
    it.each([
      ['nothing', {}],
      ['redirect=broker', { redirect: 'broker' }],
      ['a client alone', { client_id: 'OWN' }],
      ['an address alone', { redirect_uri: callback, ...code }],
      ['an unknown client', { client_id: 'nobody', redirect_uri: callback, ...code }],
      ['an id that is none', { client_id: '\u0000/../', redirect_uri: callback, ...code }],
      ['another kind of answer', { client_id: 'OWN', redirect_uri: callback, ...code, response_type: 'token' }],
      ['two kinds of answers', { client_id: 'OWN', redirect_uri: callback, ...code, response_type: 'code id_token' }],
      ['a kind that it is not registered for', { client_id: 'CODE', redirect_uri: `${callback}2`, ...idTokenOf() }],
      ['a code without a challenge', { client_id: 'OWN', redirect_uri: callback, response_type: 'code' }],
      [
        'a challenge without its method',
        { client_id: 'OWN', redirect_uri: callback, ...code, code_challenge_method: '' },
      ],
      ['a plain challenge', { client_id: 'OWN', redirect_uri: callback, ...code, code_challenge_method: 'plain' }],
      ['a short challenge', { client_id: 'OWN', redirect_uri: callback, ...code, code_challenge: 'abc' }],
      ['an id token without a nonce', { client_id: 'OWN', redirect_uri: callback, ...idTokenOf(), nonce: '' }],
      [
        'an id token without the scope openid',
        { client_id: 'OWN', redirect_uri: callback, ...idTokenOf(), scope: 'email' },
      ],
      [
        'a scope that it is not registered for',
        { client_id: 'OWN', redirect_uri: callback, ...code, scope: 'openid payments:write' },
      ],
      ['a client whose registration is broken', { client_id: 'BROKEN', logout_uri: `${site}/bye` }],
      ['a client that pushes its requests', { client_id: 'PAR', redirect_uri: `${callback}3`, ...code }],
    ] as [string, Record<string, string>][])(
      '/logout with %s signs out and ends at the start page',
      async (_what, parameters) => {
        const ids: Record<string, string> = {
          OWN: client.id,
          CODE: others.code.id,
          PAR: others.par.id,
          BROKEN: others.broken.id,
        };
        const asked = {
          ...parameters,
          ...(parameters.client_id && { client_id: ids[parameters.client_id] ?? parameters.client_id }),
        };
        const linked = await browser.get(logout(asked), { from: 'same-origin' });
        expect([linked.status, linked.headers.get('location'), await isSignedIn()]).toEqual([303, '/', false]);
        browser = await foyer.signedIn(user);
        const posted = await browser.post('/logout', asked);
        expect([posted.status, posted.headers.get('location'), await isSignedIn()]).toEqual([303, '/', false]);
      },
    );

    function idTokenOf() {
      return { response_type: 'id_token', scope: 'openid', nonce: 'n' };
    }
    let others: Record<'code' | 'par' | 'broken', { id: string }>;
    beforeAll(async () => {
      others = {
        code: await foyer.addClient({ redirectUris: [`${callback}2`] }),
        par: await foyer.addClient({ redirectUris: [`${callback}3`], requirePushedRequests: true }),
        broken: await foyer.addClient({ redirectUris: [callback], logoutUris: [`${site}/bye`] }),
      };
      const { db } = foyer.deps.database;
      const { metadata } = await db
        .selectFrom('clients')
        .select('metadata')
        .where('id', '=', toClientId(others.broken.id))
        .executeTakeFirstOrThrow();
      const broken = JSON.stringify({ ...JSON.parse(metadata), redirect_uris: ['no address'] });
      await db
        .updateTable('clients')
        .set({ metadata: broken })
        .where('id', '=', toClientId(others.broken.id))
        .execute();
    });
  });

  it.each([
    ['another path', `${callback}/more`],
    ['a slash at its end', `${callback}/`],
    ['a query', `${callback}?next=//evil.example`],
    ['a fragment', `${callback}#x`],
    ['another case', `${site}/Callback`],
    ['another case of the host', 'https://SHOP.example/callback'],
    ['an encoded letter', `${site}/%63allback`],
    ['a path that climbs', `${site}/x/../callback`],
    ['another port', 'https://shop.example:8443/callback'],
    ['the usual port, written', 'https://shop.example:443/callback'],
    ['plain http', 'http://shop.example/callback'],
    ['a user', 'https://x@shop.example/callback'],
    ['the host as a user', 'https://shop.example@evil.example/callback'],
    ['a backslash', 'https://evil.example\\@shop.example/callback'],
    ['a longer host', 'https://shop.example.evil.example/callback'],
    ['a letter of another script', 'https://shоp.example/callback'],
    ['a dot of another script', 'https://shop。example/callback'],
    ['a wildcard', `${site}/*`],
    ['no scheme', '//shop.example/callback'],
    ['a path alone', '/callback'],
    ['a script', 'javascript:alert(1)'],
    ['a line break', `${callback}\r\nLocation: https://evil.example/`],
    ['a space', ` ${callback}`],
    ['another client’s', 'https://other.example/callback'],
    ['its logout address', `${site}/bye`],
  ])('Attack: a redirect address that looks like the registered one ends at the start page: %s', async (_what, uri) => {
    await foyer.addClient({ redirectUris: ['https://other.example/callback'] });
    const asked = { ...idToken(), redirect_uri: uri };
    const linked = await browser.get(logout(asked), fromShop);
    expect([linked.status, linked.headers.get('location'), await isSignedIn()]).toEqual([303, '/', false]);
    const posted = await browser.post('/logout', asked);
    expect([posted.status, posted.headers.get('location')]).toEqual([303, '/']);
  });

  it('Attack: injected parameters are not passed on to the authorization endpoint', async () => {
    const injected = {
      prompt: 'none',
      response_mode: 'form_post',
      login_hint: 'x@evil.example',
      id_token_hint: 'x',
      claims: '{}',
      request: 'x',
      request_uri: 'urn:x',
      resource: 'https://api.example',
      max_age: '0',
      iss: 'x',
      redirect: '//evil',
      acr_values: 'phr',
      dpop_jkt: 'x',
      code_challenge: 'x',
      ui_locales: 'xx',
      forceAuth: '1',
    };
    const answer = await browser.get(logout({ ...injected, ...idToken() }), fromShop);
    expect(Object.fromEntries(new URL(locationOf(answer)).searchParams)).toEqual(idToken());
  });

  it('A parameter that is given twice counts as not given', async () => {
    for (const twice of ['client_id', 'redirect_uri', 'response_type', 'logout_uri', 'state']) {
      browser = await foyer.signedIn(user);
      const address = `${logout(idToken())}&${twice}=a&${twice}=b`;
      const answer = await browser.get(address, { from: 'same-origin' });
      const { pathname, searchParams } = new URL(locationOf(answer));
      expect([twice, pathname, searchParams.has(twice)]).toEqual([
        twice,
        ['logout_uri', 'state'].includes(twice) ? '/oauth2/authorize' : '/',
        false,
      ]);
    }
    browser = await foyer.signedIn(user);
    expect((await browser.postJson('/logout', { ...idToken(), redirect_uri: ['a', 'b'] })).status).toBe(400);
    expect(await isSignedIn()).toBe(true);
  });
});

import { createRemoteJWKSet, jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import { type Browser, locationOf } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toClientId } from '../support/ids.ts';
import { relyingParty, store } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';

const registered = 'https://app.example.com/old/';

/** Addresses that a careless comparison, or one that adds or removes slashes, accepts as the registered one. */
const lookalikes = [
  'https://app.example.com/',
  'https://app.example.com',
  'https://app.example.com/old//',
  'https://app.example.com//old',
  'https://app.example.com/old/.',
  'https://app.example.com/old/..',
  'https://app.example.com/x/../old',
  'https://app.example.com/./old',
  'https://app.example.com/old/evil',
  'https://app.example.com/Old',
  'https://app.example.com/%6fld',
  'https://app.example.com/old%2f',
  'https://app.example.com/old;x',
  'https://app.example.com/old?x=1',
  'https://app.example.com/old?',
  'https://app.example.com/old/?',
  'https://app.example.com/old#',
  'https://app.example.com/old#/',
  'https://app.example.com/old/#x',
  'https://app.example.com:443/old',
  'https://app.example.com:8443/old',
  'https://app.example.com./old',
  'https://APP.example.com/old',
  'HTTPS://app.example.com/old',
  'http://app.example.com/old',
  'https://user@app.example.com/old',
  'https://app.example.com@evil.example/old',
  'https://app.example.com:x@evil.example/old',
  'https://evil.example\\@app.example.com/old',
  'https://app.example.com\\.evil.example/old',
  'https:\\\\app.example.com\\old',
  'https:app.example.com/old',
  'https:///app.example.com/old',
  '//app.example.com/old',
  '/old',
  'https://app.example.com.evil.example/old',
  'https://evil.example/https://app.example.com/old',
  'https://evil.example/?https://app.example.com/old',
  'https://evil.example#https://app.example.com/old',
  'https://*.example.com/old',
  'https://аpp.example.com/old',
  'https://app。example.com/old',
  'https://app.example.com/old\u0000',
  'https://app.example.com/old\r\nLocation: https://evil.example',
  ' https://app.example.com/old',
  'https://app.example.com/old ',
  'https://app.exam\tple.com/old',
  'https://app.example.com/old\u200b',
  'javascript:alert(1)//https://app.example.com/old',
  'data:text/html,https://app.example.com/old',
  'null',
  '*',
];

describe.each(backends)('attacks on the short forms, on $name', (backend) => {
  let foyer: TestFoyer;
  let legacy: { id: string };
  let signedIn: Browser;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    legacy = await foyer.addClient({ redirectUris: [registered], legacyIdTokenRedirect: true });
    signedIn = await foyer.signedIn(await foyer.addUser());
  });
  afterAll(() => foyer?.close());

  const startPage = (parameters: Record<string, string>) => `/?${new URLSearchParams(parameters)}`;
  const authorize = (parameters: Record<string, string>) =>
    `/oauth2/authorize?${new URLSearchParams({
      response_type: 'id_token',
      response_mode: 'query_id_token',
      scope: 'openid',
      nonce: 'n',
      ...parameters,
    })}`;

  async function expectNoWayOut(browser: Browser, address: string): Promise<void> {
    const answer = await browser.get(address, { from: 'cross-site' });
    expect([address, answer.status, answer.headers.get('location')]).toEqual([address, 400, null]);
    const page = await answer.text();
    expect(page).toContain('<h1');
    expect(page).not.toContain('http-equiv="refresh"');
    expect(page).not.toMatch(/(href|action)="[^"]*evil/);
    expect(page).not.toMatch(/id_token=[\w-]+\./);
  }

  it('The registered address itself gets the redirect', async () => {
    const begun = locationOf(
      await signedIn.get(startPage({ client_id: legacy.id, redirect_uri: 'https://app.example.com/old' })),
    );
    expect(locationOf(await signedIn.get(begun))).toMatch(/^https:\/\/app\.example\.com\/old\/\?id_token=/);
  });

  it('An address that looks like the registered one gets no redirect by either form', async () => {
    for (const uri of lookalikes) {
      await expectNoWayOut(signedIn, startPage({ client_id: legacy.id, redirect_uri: uri }));
      await expectNoWayOut(signedIn, authorize({ client_id: legacy.id, redirect_uri: uri }));
    }
    const visitor = foyer.browser();
    await expectNoWayOut(visitor, startPage({ client_id: legacy.id, redirect_uri: 'https://evil.example' }));
    await expectNoWayOut(visitor, startPage({ redirect_uri: 'https://evil.example' }));
  });

  it('The ID token goes to no address that differs from the registered one by a slash', async () => {
    const bare = await foyer.addClient({
      redirectUris: ['https://bare.example.com/cb', 'https://bare.example.com/other/'],
      legacyIdTokenRedirect: true,
    });
    const query = { client_id: bare.id, redirect_uri: 'https://bare.example.com/cb' };
    await expectNoWayOut(signedIn, startPage(query));
    await expectNoWayOut(signedIn, authorize(query));
    // A pushed request gets no address filled in either.
    const party = await relyingParty(foyer, { ...bare, redirectUri: query.redirect_uri });
    const parameters = {
      ...query,
      response_type: 'id_token',
      response_mode: 'query_id_token',
      scope: 'openid',
      nonce: 'n',
    };
    const pushed = await oidc.buildAuthorizationUrlWithPAR(party.config, new URLSearchParams(parameters));
    await expectNoWayOut(signedIn, pushed.href);
  });

  it('Another client’s address, or another client’s id with this client’s address, gets no redirect', async () => {
    const other = await foyer.addClient({ redirectUris: ['https://other.example.com/'], legacyIdTokenRedirect: true });
    await expectNoWayOut(signedIn, startPage({ client_id: legacy.id, redirect_uri: 'https://other.example.com' }));
    await expectNoWayOut(signedIn, startPage({ client_id: other.id, redirect_uri: registered }));
  });

  it('An address that is given twice gets no redirect', async () => {
    const twice = `/?client_id=${legacy.id}&redirect_uri=${encodeURIComponent(registered)}&redirect_uri=https://evil.example/`;
    const page = await signedIn.get(twice);
    expect(new URL(locationOf(page)).hostname).not.toMatch(/evil|app\.example/);
    await expectNoWayOut(
      signedIn,
      `${authorize({ client_id: legacy.id, redirect_uri: registered })}&redirect_uri=https://evil.example/`,
    );
  });

  it('No other client gets an ID token in the query, and this client gets nothing else', async () => {
    const other = await foyer.addClient({ redirectUris: [registered], responseTypes: ['id_token', 'code'] });
    const refused = new URL(
      locationOf(await signedIn.get(authorize({ client_id: other.id, redirect_uri: registered }))),
    );
    expect([refused.search, new URLSearchParams(refused.hash.slice(1)).get('error')]).toEqual(['', 'invalid_request']);
    // An address from the start page does not help either.
    await expectNoWayOut(signedIn, startPage({ client_id: other.id, redirect_uri: registered }));

    const both = await foyer.addClient({
      redirectUris: [registered],
      responseTypes: ['code'],
      legacyIdTokenRedirect: true,
    });
    const code = await signedIn.get(
      authorize({
        client_id: both.id,
        redirect_uri: registered,
        response_type: 'code',
        code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
        code_challenge_method: 'S256',
      }),
    );
    expect(locationOf(code)).toMatch(/\?error=invalid_request/);
    expect(locationOf(code)).not.toContain('code=');
    // The rule of the library still holds: an id token is never in a plain query.
    const plain = await signedIn.get(
      authorize({ client_id: legacy.id, redirect_uri: registered, response_mode: 'query' }),
    );
    expect(locationOf(plain)).not.toMatch(/id_token=[\w-]+\./);
  });

  it('The ID token is valid only for the client that requested it', async () => {
    const begun = locationOf(await signedIn.get(startPage({ client_id: legacy.id, redirect_uri: registered })));
    const token = new URL(locationOf(await signedIn.get(begun))).searchParams.get('id_token') ?? '';
    const keys = createRemoteJWKSet(new URL(`${foyer.url}/oauth2/jwks`));
    await expect(jwtVerify(token, keys, { issuer: foyer.url, audience: legacy.id })).resolves.toBeTruthy();
    await expect(jwtVerify(token, keys, { issuer: foyer.url, audience: 'another' })).rejects.toThrow(/aud/);
    // As a hint for another client it signs no user out and names no user.
    const app = await foyer.addClient({ logoutUris: ['https://app.example.com/out'] });
    const logout = new URLSearchParams({
      client_id: app.id,
      id_token_hint: token,
      post_logout_redirect_uri: 'https://app.example.com/out',
    });
    expect((await signedIn.get(`/oauth2/logout?${logout}`, { from: 'cross-site' })).status).toBe(400);
    expect((await signedIn.get('/')).status).toBe(303);
    // Foyer does not accept it as an access token.
    for (const path of ['/oauth2/userInfo', '/user/info']) {
      const answer = await foyer.browser().get(path, {
        headers: { accept: 'application/json', authorization: `Bearer ${token}` },
      });
      expect([path, answer.status]).toEqual([path, 401]);
    }
  });

  it.each([
    ['the address', { redirect_uris: ['https://app.example.com/other/'] }],
    ['the id token in the query', { legacy_id_token_redirect: false }],
    ['id tokens without a code', { response_types: ['code'], grant_types: ['authorization_code'] }],
  ])('A client that loses %s while the form is open gets no redirect', async (_what, change) => {
    const app = await foyer.addClient({
      redirectUris: ['https://app.example.com/taken/'],
      responseTypes: ['code', 'id_token'],
      legacyIdTokenRedirect: true,
    });
    const [browser, user] = [foyer.browser(), await foyer.addUser()];
    const short = startPage({ client_id: app.id, redirect_uri: 'https://app.example.com/taken' });
    const landing = new URL(locationOf(await browser.get(locationOf(await browser.get(short)))));
    const entered = await browser.post(`/sign-in${landing.search}`, { username: user.email, password });
    const resume = await store(browser, locationOf(entered));
    const { db } = foyer.deps.database;
    const { metadata } = await db
      .selectFrom('clients')
      .selectAll()
      .where('id', '=', toClientId(app.id))
      .executeTakeFirstOrThrow();
    const now = JSON.stringify({ ...JSON.parse(metadata), ...change });
    await db.updateTable('clients').set({ metadata: now }).where('id', '=', toClientId(app.id)).execute();
    const answer = await browser.get(resume);
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
    expect(await answer.text()).not.toMatch(/id_token=/);
  });

  it('An unknown client id gets an error, even for a signed-in user', async () => {
    for (const id of ['unknown-client', '__proto__', '\u0000', 'https://evil.example/client.json', '"><script>']) {
      await expectNoWayOut(signedIn, startPage({ client_id: id }));
      await expectNoWayOut(signedIn, startPage({ client_id: id, redirect_uri: registered }));
    }
  });

  it('A request that a short form started in one browser cannot be finished in another browser', async () => {
    const [attacker, victim] = [foyer.browser(), foyer.browser()];
    const begun = locationOf(await attacker.get(startPage({ client_id: legacy.id, redirect_uri: registered })));
    const landing = new URL(locationOf(await attacker.get(begun)));
    const user = await foyer.addUser();
    await victim.post(`/sign-in${landing.search}`, { username: user.email, password });
    const id = landing.searchParams.get('authorization_code') ?? '';
    expect((await victim.postJson('/storage', { authorization_code: id })).status).toBe(403);
    const resumed = await attacker.get(`/oauth2/authorize/${id}`);
    expect(resumed.headers.get('location') ?? '').not.toContain('id_token');
    // The victim's browser does not restart the attacker's request.
    const again = await victim.get(`/begin-again?authorization_code=${id}`);
    expect([again.status, (await again.text()).includes('http-equiv="refresh"')]).toEqual([403, false]);
  });

  it('A nonce of the client comes back unchanged', async () => {
    const { begin } = await relyingParty(foyer, { id: legacy.id, secret: null, redirectUri: registered });
    const begun = await begin({ response_type: 'id_token' });
    const home = new URL(locationOf(await signedIn.get(begun.url)));
    const token = new URLSearchParams(home.hash.slice(1)).get('id_token') ?? '';
    expect(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).nonce).toBe(begun.nonce);
  });
});

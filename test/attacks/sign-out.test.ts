import type { Browser } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { relyingParty, signInFor } from '../support/relying-party.ts';
import { anyBackend } from '../support/stores.ts';

/** `security.md`, rule 12: a link from an unknown place signs no user out. */
describe.each([anyBackend])('signing another user out', (backend) => {
  let foyer: TestFoyer;
  const app = 'https://app.example.net';
  const other = 'https://other.example.net';
  let client: { id: string };
  let otherClient: { id: string };
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    client = await foyer.addClient({ redirectUris: [`${app}/callback`], logoutUris: [`${app}/bye`] });
    otherClient = await foyer.addClient({ redirectUris: [`${other}/callback`], logoutUris: [`${other}/bye`] });
  });
  afterAll(() => foyer?.close());

  const member = async () => foyer.signedIn(await foyer.addUser());
  const isSignedIn = async (browser: Browser) => (await browser.get('/')).status === 303;
  const named = (id: string, uri: string) => `/logout?${new URLSearchParams({ client_id: id, logout_uri: uri })}`;

  it.each([
    ['a link in a mail', '/logout', { 'sec-fetch-site': 'none' }],
    ['a link on a foreign page', '/logout', { 'sec-fetch-site': 'cross-site', referer: 'https://evil.example/' }],
    ['a link on a foreign page without a referrer', '/logout', { 'sec-fetch-site': 'cross-site' }],
    ['an image on a sibling site', '/logout', { 'sec-fetch-site': 'same-site', referer: 'http://shop.localhost/' }],
    ['an old browser without any header of the origin', '/logout', {}],
    ['an old browser on a foreign page', '/logout', { referer: 'https://evil.example/' }],
    ['a page whose address begins like ours', '/logout', { referer: 'SELF.evil.example/' }],
    ['a page with our address in its query', '/logout', { referer: 'https://evil.example/?SELF/' }],
    ['a page with our host as the user of its address', '/logout', { referer: 'http://localhost@evil.example/' }],
    ['a foreign page with a forged referrer', '/logout', { 'sec-fetch-site': 'cross-site', referer: 'SELF/' }],
    ['a client app’s page that names no client', '/logout', { 'sec-fetch-site': 'cross-site', referer: `${app}/` }],
    [
      'a client app’s page in the name of another client',
      'OTHER',
      { 'sec-fetch-site': 'cross-site', referer: `${app}/` },
    ],
    [
      'a page whose address begins like the client app’s',
      'OWN',
      { 'sec-fetch-site': 'cross-site', referer: `${app}.evil.example/` },
    ],
    ['the client app’s host on http', 'OWN', { 'sec-fetch-site': 'cross-site', referer: 'http://app.example.net/' }],
    [
      'an unknown client',
      named('unknown-client', `${app}/bye`),
      { 'sec-fetch-site': 'cross-site', referer: `${app}/` },
    ],
    [
      'a browser that prerenders the page',
      '/logout',
      { 'sec-fetch-site': 'same-origin', 'sec-purpose': 'prefetch;prerender' },
    ],
    [
      'a browser that prefetches the page with the former header',
      '/logout',
      { 'sec-fetch-site': 'same-origin', purpose: 'prefetch' },
    ],
    [
      'a browser that prefetches the page as Firefox does',
      '/logout',
      { 'sec-fetch-site': 'same-origin', 'x-moz': 'prefetch' },
    ],
  ] as [string, string, Record<string, string>][])(
    'A sign-out requested by %s asks for confirmation first',
    async (_what, path, headers) => {
      const browser = await member();
      const paths: Record<string, string> = {
        OWN: named(client.id, `${app}/bye`),
        OTHER: named(otherClient.id, `${other}/bye`),
      };
      const answer = await browser.request(paths[path] ?? path, {
        headers: Object.fromEntries(Object.entries(headers).map(([name, v]) => [name, v.replace('SELF', foyer.url)])),
      });
      expect(answer.status).toBe(200);
      expect(await answer.text()).toContain('action="/logout"');
      expect(await isSignedIn(browser)).toBe(true);
    },
  );

  /** The Sec-Fetch-Dest of loads that are not a page opened by the user, by the element that loads them. */
  const notPages = ['image', 'iframe', 'frame', 'script', 'style', 'object', 'embed', 'empty', 'video', 'font'];
  it.each(notPages)('An address that a page loads as its %s signs no one out, wherever that page is', async (dest) => {
    const browser = await member();
    for (const headers of [
      { 'sec-fetch-site': 'same-origin', referer: `${foyer.url}/` },
      { 'sec-fetch-site': 'cross-site', referer: `${app}/` },
      { 'sec-fetch-site': 'same-site', referer: `${app}/` },
      { 'sec-fetch-site': 'cross-site', referer: 'https://evil.example/' },
    ]) {
      for (const path of ['/logout', named(client.id, `${app}/bye`), `/oauth2/logout?client_id=${client.id}`]) {
        const answer = await browser.request(path, { headers: { ...headers, 'sec-fetch-dest': dest } });
        expect([path, answer.status, answer.headers.get('x-frame-options')]).toEqual([path, 200, 'DENY']);
      }
    }
    expect(await isSignedIn(browser)).toBe(true);
  });

  it.each([
    ['a foreign page', 'https://evil.example', 'cross-site'],
    ['a foreign page with an opaque origin', 'null', 'cross-site'],
    ['a sibling site', 'http://shop.localhost', 'same-site'],
    ['a client app', app, 'cross-site'],
    ['an old browser on a foreign page', 'https://evil.example', ''],
    ['a page whose address begins like ours', 'SELF.evil.example', ''],
  ])('A form that %s posts signs no one out', async (_what, origin, site) => {
    const browser = await member();
    const headers = { origin: origin.replace('SELF', foyer.url), ...(site !== '' && { 'sec-fetch-site': site }) };
    const fields = { client_id: client.id, logout_uri: `${app}/bye` };
    for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'application/json']) {
      const answer = await browser.request('/logout', {
        method: 'POST',
        headers: { ...headers, 'content-type': type },
        body: type === 'application/json' ? JSON.stringify(fields) : new URLSearchParams(fields).toString(),
      });
      expect([type, answer.status]).toEqual([type, 403]);
    }
    // The end-session endpoint accepts forms from every site and asks for confirmation.
    const posted = await browser.post('/oauth2/logout', { client_id: client.id }, headers);
    expect(posted.status).toBe(303);
    const asked = await browser.get(posted.headers.get('location') ?? '', { from: 'cross-site' });
    expect([asked.status, await isSignedIn(browser)]).toEqual([200, true]);
  });

  it.each(['HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])('A %s request signs no one out', async (method) => {
    const browser = await member();
    const headers = { 'sec-fetch-site': 'same-origin', origin: foyer.url, referer: `${foyer.url}/` };
    const answer = await browser.request('/logout', { method, headers });
    expect([200, 405]).toContain(answer.status);
    expect(await isSignedIn(browser)).toBe(true);
  });

  it('No page of Foyer can be made to redirect to the sign-out', async () => {
    const browser = await member();
    for (const target of [
      '/logout',
      '//logout',
      '/./logout',
      '/logout?client_id=x',
      '/%6cogout',
      `${foyer.url}/logout`,
    ]) {
      const there = new URLSearchParams({ redirect: target });
      for (const answer of [
        await browser.get(`/?${there}`, { from: 'cross-site' }),
        await browser.post(`/sign-in?${there}`, { username: 'x', password: 'y' }),
        await browser.post('/language', { lang: 'de', redirect: target }),
      ]) {
        expect([target, new URL(answer.headers.get('location') ?? '/', foyer.url).pathname]).not.toEqual([
          target,
          '/logout',
        ]);
      }
    }
    expect(await isSignedIn(browser)).toBe(true);
  });

  it('A sign-out from the client app’s own registered page takes effect at once', async () => {
    const browser = await member();
    const answer = await browser.get(named(client.id, `${app}/bye`), {
      from: 'cross-site',
      headers: { referer: `${app}/` },
    });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, `${app}/bye`]);
    expect(await isSignedIn(browser)).toBe(false);
  });

  it('A prefetched address with an ID token signs no one out', async () => {
    const rp = await relyingParty(foyer, { ...(await foyer.addClient()) });
    const browser = foyer.browser();
    const begun = await rp.begin();
    const tokens = await rp.redeem(await signInFor(browser, begun, await foyer.addUser()), begun);
    const path = `/oauth2/logout?id_token_hint=${tokens.id_token}`;
    const ahead = await browser.get(path, { from: 'cross-site', headers: { 'sec-purpose': 'prefetch' } });
    expect(ahead.status).toBe(200);
    expect((await browser.request(path, { method: 'HEAD' })).status).toBe(200);
    expect(await isSignedIn(browser)).toBe(true);
    expect((await browser.get(path, { from: 'cross-site' })).status).toBe(303);
    expect(await isSignedIn(browser)).toBe(false);
  });

  it.each([
    'https://app.example.net/bye/',
    'https://app.example.net/bye?x',
    'https://app.example.net/bye#x',
    'https://app.example.net/BYE',
    'https://app.example.net/%62ye',
    'https://app.example.net:443/bye',
    'https://app.example.net/callback',
    'https://app.example.net.evil.example/bye',
    'https://user@app.example.net/bye',
    'https://app.example.net\\@evil.example/bye',
    'http://app.example.net/bye',
    '//app.example.net/bye',
    'https://other.example.net/bye',
    'javascript:alert(1)',
    'https://app.example.net/bye%2f',
    'https://app.example.net/x/../bye',
    'https://app.example.net/x/%2e%2e/bye',
    'https://app.example.net//bye',
    'https://app.example.net:8443/bye',
    'https://app.example.net./bye',
    'https://APP.example.net/bye',
    'https://app%2eexample.net/bye',
    'https://app。example.net/bye',
    'https://аpp.example.net/bye',
    'https://app.example.net@evil.example/bye',
    'https:app.example.net/bye',
    'https:///app.example.net/bye',
    'https:\\\\app.example.net\\bye',
    ' https://app.example.net/bye',
    'https://app.example.net/bye ',
    'https://app.example.net/bye\t',
    'https://app.example.net/bye\u0000',
    'https://*.example.net/bye',
    'https://app.example.net/*',
    'data:text/html,bye',
  ])('A logout address that looks like the registered one gets no redirect: %s', async (uri) => {
    for (const browser of [await member(), foyer.browser()]) {
      const asked = await browser.get(named(client.id, uri), { from: 'same-origin' });
      expect([asked.status, asked.headers.get('location')]).toEqual([303, '/']);
      const posted = await browser.post('/logout', { client_id: client.id, logout_uri: uri });
      expect([posted.status, posted.headers.get('location')]).toEqual([303, '/']);
      const query = new URLSearchParams({ client_id: client.id, post_logout_redirect_uri: uri });
      const standard = await browser.get(`/oauth2/logout?${query}`);
      expect([standard.status, standard.headers.get('location')]).toEqual([400, null]);
    }
  });

  describe('forceAuth', () => {
    it('A link with forceAuth shows the form and ends no session', async () => {
      const browser = await member();
      const page = await browser.get('/?forceAuth=true', { from: 'cross-site' });
      expect(page.status).toBe(200);
      expect(await page.text()).toContain('name="password"');
      expect(page.headers.getSetCookie()).toEqual([]);
      expect(await isSignedIn(browser)).toBe(true);
    });

    it('A sign-in with forceAuth keeps the session during wrong passwords and replaces it with the right one', async () => {
      const [before, after] = [await foyer.addUser(), await foyer.addUser()];
      const browser = await foyer.signedIn(before);
      const old = (await browser.cookies()).foyer_session;
      const wrong = await browser.post('/sign-in?forceAuth=1', { username: after.email, password: 'wrong' });
      expect(wrong.status).toBe(400);
      expect(await isSignedIn(browser)).toBe(true);
      expect((await browser.cookies()).foyer_session).toBe(old);
      expect((await browser.post('/sign-in?forceAuth=1', { username: after.email, password })).status).toBe(303);
      const thief = foyer.browser();
      await thief.jar.setCookie(`foyer_session=${old}; Path=/`, foyer.url);
      expect(await isSignedIn(thief)).toBe(false);
    });
  });
});

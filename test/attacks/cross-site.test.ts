import { locationOf } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { relyingParty } from '../support/relying-party.ts';
import { anyBackend } from '../support/stores.ts';
import { portOf, send } from './wire.ts';

const form = 'application/x-www-form-urlencoded';
const unsafe = [
  ...['/sign-in', '/tos', '/storage', '/consent', '/logout', '/language'],
  ...['/forgot-password', '/reset-password', '/second-factor', '/re-authenticate'],
  ...['/sign-in/passkey', '/re-authenticate/passkey', '/settings/passkeys/add', '/settings/passkeys/remove'],
  ...['/reset-password/ways-in', '/settings/providers/link', '/settings/providers/remove'],
  ...['/settings/devices/sign-out', '/settings/devices/sign-out-others', '/settings/devices/forget'],
];
const evil = 'https://evil.example';

/** Headers by which a browser says that a request does not come from a page of this site. */
const strangers: [string, Record<string, string>][] = [
  ['another site', { origin: evil, 'sec-fetch-site': 'cross-site' }],
  ['another site, by an old browser', { origin: evil }],
  ['a sandboxed frame or data: page', { origin: 'null', 'sec-fetch-site': 'cross-site' }],
  ['a sandboxed frame, by an old browser', { origin: 'null' }],
  ['a sibling subdomain', { origin: 'https://shop.localhost', 'sec-fetch-site': 'same-site' }],
  ['the same host on another port', { origin: 'http://localhost:1', 'sec-fetch-site': 'same-site' }],
  ['the same host with https', { origin: 'https://localhost', 'sec-fetch-site': 'cross-site' }],
  ['nowhere (typed, or from another program)', { 'sec-fetch-site': 'none' }],
  ['another site that hides its origin', { 'sec-fetch-site': 'cross-site' }],
  ['a browser that says nothing', {}],
  ['a page that lies with the wrong header', { referer: 'SELF/' }],
  ['another site with a right Sec-Fetch-Site', { origin: evil, 'sec-fetch-site': 'same-origin' }],
  ['this origin with a wrong Sec-Fetch-Site', { origin: 'SELF', 'sec-fetch-site': 'cross-site' }],
  ['two origins', { origin: `SELF, ${evil}`, 'sec-fetch-site': 'same-origin' }],
];

describe.each([anyBackend])('cross-site posts (rule 9)', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  const post = (path: string, cookie: string, headers: Record<string, string>, body = 'a=b', method = 'POST') =>
    send(portOf(foyer.url), path, {
      method,
      headers: {
        host: new URL(foyer.url).host,
        cookie,
        accept: 'text/html',
        'content-type': form,
        ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.replace('SELF', foyer.url)])),
      },
      body,
    });

  it('A cross-site post to any route is refused, whatever its origin and headers, and changes nothing', async () => {
    const app = await relyingParty(foyer, await foyer.addClient());
    const user = await foyer.addUser({ acceptedTosVersion: null });
    const browser = await foyer.signedIn(user);
    const at = locationOf(await browser.get((await app.begin({ prompt: 'login' })).url));
    const cookie = await browser.jar.getCookieString(foyer.url);
    const fields = new URLSearchParams({
      authorization_code: new URL(at).searchParams.get('authorization_code') ?? '',
      decision: 'accept',
      version: String(foyer.deps.terms.number),
      lang: 'de',
      username: user.email,
      password,
    }).toString();
    for (const authorization of [undefined, 'Bearer x', 'bearer x', 'DPoP x', 'Basic Zm9vOmJhcg==']) {
      for (const [who, headers] of strangers) {
        for (const path of unsafe) {
          const sent = { ...headers, ...(authorization !== undefined && { authorization }) };
          const answer = await post(path, cookie, sent, fields);
          const seen = [authorization, who, path, answer.status, answer.setCookies];
          expect(seen).toEqual([authorization, who, path, 403, []]);
          expect(answer.text).toContain('<h1');
        }
      }
    }
    for (const method of ['PUT', 'PATCH', 'DELETE', 'PROPFIND']) {
      const answer = await post('/logout', cookie, { origin: evil }, fields, method);
      expect([method, answer.status]).toEqual([method, 403]);
    }
    // The user is still signed in and has still not accepted the terms.
    const terms = await browser.get('/');
    expect(new URL(locationOf(terms)).pathname).toBe('/tos');
  });

  it('A foreign page cannot sign the victim’s browser in as the attacker (login CSRF)', async () => {
    const mallory = await foyer.addUser();
    const body = new URLSearchParams({ username: mallory.email, password }).toString();
    const answer = await post('/sign-in', '', { origin: evil, 'sec-fetch-site': 'cross-site' }, body);
    expect([answer.status, answer.setCookies]).toEqual([403, []]);
  });

  it.each(['text/plain', 'multipart/form-data; boundary=x', 'application/xml', 'text/json', 'application/jsonp'])(
    'JSON sent as %s, which a form can send without a preflight, is refused',
    async (type) => {
      const browser = await foyer.signedIn(await foyer.addUser());
      const cookie = await browser.jar.getCookieString(foyer.url);
      const answer = await post(
        '/storage',
        cookie,
        { origin: foyer.url, 'sec-fetch-site': 'same-origin', 'content-type': type },
        '{"authorization_code":"x"}',
      );
      expect(answer.status).toBe(415);
    },
  );

  it('A body without a content type is refused', async () => {
    const answer = await send(portOf(foyer.url), '/storage', {
      method: 'POST',
      headers: { host: new URL(foyer.url).host, origin: foyer.url, 'sec-fetch-site': 'same-origin' },
      body: '{"authorization_code":"x"}',
    });
    expect(answer.status).toBe(415);
  });

  it('A foreign page can read no answer: pages send no CORS headers, and no endpoint allows credentials', async () => {
    for (const path of ['/', '/tos', '/verify-user', '/logout', '/oauth2/token', '/oauth2/userInfo', '/oauth2/jwks']) {
      const answer = await send(portOf(foyer.url), path, {
        headers: { host: new URL(foyer.url).host, origin: evil },
      });
      expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
      if (!path.startsWith('/oauth2/')) expect(answer.headers['access-control-allow-origin']).toBeUndefined();
    }
    const preflight = await send(portOf(foyer.url), '/storage', {
      method: 'OPTIONS',
      headers: { host: new URL(foyer.url).host, origin: evil, 'access-control-request-method': 'POST' },
    });
    expect(preflight.headers['access-control-allow-origin']).toBeUndefined();
  });

  it('No page can be framed, and every answer forbids MIME sniffing', async () => {
    const browser = await foyer.signedIn(await foyer.addUser());
    for (const path of ['/', '/tos', '/logout', '/consent', '/nowhere', '/oauth2/authorize', '/assets/nowhere.js']) {
      const { headers } = await browser.get(path);
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
    }
  });
});

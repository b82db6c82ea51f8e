import { Cookie } from 'tough-cookie';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { relyingParty, signInFor } from '../support/relying-party.ts';
import { anyBackend } from '../support/stores.ts';
import { production, site } from './production.ts';
import { type Answer, portOf, Visitor } from './wire.ts';

/** Every cookie of a whole journey: sign-in with Remember me, a language, a client app, sign-out. */
async function journey(foyer: TestFoyer, visitor: Visitor): Promise<Cookie[]> {
  const lines: string[] = [];
  const seen = async (answer: Promise<Answer>) => {
    const { setCookies, headers, status } = await answer;
    lines.push(...setCookies);
    expect(status).toBeLessThan(400);
    return String(headers.location);
  };
  const user = await foyer.addUser();
  const client = await foyer.addClient({ redirectUris: ['https://app.example.net/callback'] });
  const query = new URLSearchParams({
    client_id: client.id,
    redirect_uri: client.redirectUri,
    response_type: 'code',
    scope: 'openid',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  });
  const at = await seen(visitor.get(`/oauth2/authorize?${query}`));
  const search = new URL(at, site).search;
  const verify = await seen(visitor.post(`/sign-in${search}`, { username: user.email, password, remember: '1' }));
  const id = new URL(verify, site).searchParams.get('authorization_code') ?? '';
  await seen(visitor.post('/storage', { authorization_code: id }));
  const home = await seen(visitor.get(`/oauth2/authorize/${id}`));
  expect(home).toMatch(/^https:\/\/app\.example\.net\/callback\?code=/);
  await seen(visitor.post('/language', { lang: 'de', redirect: '/' }));
  await seen(visitor.post('/logout', {}));
  return lines.map((line) => {
    const cookie = Cookie.parse(line);
    if (!cookie) throw new Error(`no cookie: ${line}`);
    return cookie;
  });
}

describe('cookies (rule 8)', () => {
  it('With https, a sibling subdomain can neither plant nor read a cookie', async () => {
    const foyer = await startFoyer(anyBackend, production);
    try {
      const cookies = await journey(foyer, new Visitor(portOf(foyer.url), site, { 'x-forwarded-for': '192.0.2.1' }));
      const names = new Set(cookies.map(({ key }) => key.replace(/request_[0-9a-f]{16}$/, 'request_…')));
      expect([...names].sort()).toEqual([
        '__Host-foyer_access_token',
        '__Host-foyer_device',
        '__Host-foyer_id_token',
        '__Host-foyer_lang',
        '__Host-foyer_op',
        '__Host-foyer_op.sig',
        '__Host-foyer_op_interaction',
        '__Host-foyer_op_interaction.sig',
        '__Host-foyer_refresh_token',
        '__Host-foyer_request_…',
        '__Host-foyer_returning',
        '__Host-foyer_session',
        'foyer_op_resume',
        'foyer_op_resume.sig',
      ]);
      for (const cookie of cookies) {
        expect(cookie).toMatchObject({ secure: true, httpOnly: true, sameSite: 'lax', domain: null });
        // The library binds the resume cookie to its path, so it cannot carry the prefix.
        if (cookie.key.startsWith('__Host-')) expect(cookie.path).toBe('/');
        else expect(cookie.path).toMatch(/^\/oauth2\/authorize\/[\w-]{20,}$/);
      }
    } finally {
      await foyer.close();
    }
  });

  it('With plain http in development, every cookie is limited to this host and hidden from scripts', async () => {
    const foyer = await startFoyer(anyBackend);
    try {
      const cookies = await journey(foyer, new Visitor(portOf(foyer.url), foyer.url));
      expect(cookies.length).toBeGreaterThan(8);
      for (const cookie of cookies) {
        expect(cookie).toMatchObject({ secure: false, httpOnly: true, sameSite: 'lax', domain: null });
      }
    } finally {
      await foyer.close();
    }
  });

  it('With https, a cookie without the prefix, as a sibling plants it, is ignored', async () => {
    const foyer = await startFoyer(anyBackend, production);
    try {
      const port = portOf(foyer.url);
      const visitor = new Visitor(port, site);
      const user = await foyer.addUser();
      await visitor.post('/sign-in', { username: user.email, password });
      expect((await visitor.get('/')).status).toBe(303);
      const planted = (await visitor.jar.getCookies(site))
        .map(({ key, value }) => `${key.replace('__Host-', '')}=${value}`)
        .join('; ');
      expect((await new Visitor(port, site).get('/', { cookie: planted })).status).toBe(200);
    } finally {
      await foyer.close();
    }
  });

  it('A token in a cookie signs in no user', async () => {
    const foyer = await startFoyer(anyBackend);
    try {
      const app = await relyingParty(foyer, await foyer.addClient());
      const begun = await app.begin();
      const browser = foyer.browser();
      const tokens = await app.redeem(await signInFor(browser, begun, await foyer.addUser()), begun);
      const { foyer_session } = await browser.cookies();
      const cookie = [
        ...['id_token', 'foyer_id_token', 'idToken'].map((name) => `${name}=${tokens.id_token}`),
        ...['access_token', 'foyer_access_token', 'accessToken', 'token'].map((n) => `${n}=${tokens.access_token}`),
        ...['refresh_token', 'foyer_refresh_token'].map((name) => `${name}=${tokens.refresh_token}`),
      ].join('; ');
      const thief = new Visitor(portOf(foyer.url), foyer.url);
      expect((await thief.get('/', { cookie })).status).toBe(200);
      expect((await thief.get('/', { cookie, authorization: `Bearer ${tokens.access_token}` })).status).toBe(200);
      expect((await thief.get('/oauth2/userInfo', { cookie })).status).toBe(401);
      const silent = await thief.get((await app.begin({ prompt: 'none' })).url, { cookie });
      expect(silent.headers.location).toContain('error=login_required');
      // The session cookie does not open what needs a token.
      expect((await thief.get('/oauth2/userInfo', { cookie: `foyer_session=${foyer_session}` })).status).toBe(401);
    } finally {
      await foyer.close();
    }
  });
});

import type { Cookie } from 'tough-cookie';
import type { User } from '../../server/users/index.ts';
import { minuteMs, names, setBy, tokenCookieTools, withDefaultClient } from '../oidc/token-cookie-tools.ts';
import { locationOf } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toClientId } from '../support/ids.ts';
import { relyingParty, tokensFor } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';
import { production, site } from './production.ts';
import { portOf, Visitor } from './wire.ts';

describe.each(backends)('token cookies on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    await withDefaultClient(foyer);
  });
  afterAll(() => foyer?.close());

  const { userinfo, page, endLeases, refreshTokenIn, stored } = tokenCookieTools(() => foyer);

  describe('attack: token cookies as credentials', () => {
    /** A browser with a user's token cookies and nothing else. */
    const withCookiesOf = async (user: User, into = foyer.browser()) => {
      const cookies = await (await foyer.signedIn(user)).cookies();
      for (const name of names) await into.jar.setCookie(`${name}=${cookies[name]}; Path=/`, foyer.url);
      return { browser: into, cookies };
    };

    it('Token cookies sign in no user: not to pages, not to client apps, not to the API and not at userinfo', async () => {
      const user = await foyer.addUser();
      const paths = [
        '/',
        '/verify-user?authorization_code=x',
        '/consent?authorization_code=x',
        '/user/info',
        '/clients',
      ];
      for (const path of paths) {
        const { browser } = await withCookiesOf(user);
        const answer = await browser.get(path, { from: 'same-origin' });
        const visitor = await foyer.browser().get(path, { from: 'same-origin' });
        expect([path, answer.status, answer.headers.get('location')]).toEqual([
          path,
          visitor.status,
          visitor.headers.get('location'),
        ]);
        expect(await answer.text()).not.toContain(user.email);
      }
      const { browser } = await withCookiesOf(user);
      expect((await browser.get('/oauth2/userInfo')).status).toBe(401);
      const begun = await (await relyingParty(foyer, await foyer.addClient())).begin();
      expect(new URL(locationOf(await browser.get(begun.url))).pathname).toBe('/');
      const silent = await (await relyingParty(foyer, await foyer.addClient())).begin({ prompt: 'none' });
      expect(locationOf(await browser.get(silent.url))).toContain('error=login_required');
    });

    it('Another user’s tokens in this browser change nothing and stay that user’s own', async () => {
      const [victim, mallory] = [await foyer.addUser(), await foyer.addUser()];
      const { browser, cookies } = await withCookiesOf(victim, await foyer.signedIn(mallory));
      await endLeases(mallory);
      foyer.passTime(4 * minuteMs);
      const own = await (await browser.get('/user/info', { from: 'same-origin' })).json();
      expect(own).toMatchObject({ sub: mallory.id });
      const after = setBy(await page(browser));
      expect(await (await userinfo(after.foyer_access_token ?? '')).json()).toMatchObject({ sub: mallory.id });
      expect((await stored(refreshTokenIn(cookies.foyer_refresh_token)))?.consumedAt).toBeNull();
    });

    it('The token cookies of a default client with wide scopes neither change credentials nor charge cards', async () => {
      const user = await foyer.addUser();
      const { db } = foyer.stores.database;
      const row = await db
        .selectFrom('clients')
        .select('metadata')
        .where('id', '=', toClientId('web'))
        .executeTakeFirstOrThrow();
      const wide = { ...JSON.parse(row.metadata), scope: 'openid account account:security account:payments' };
      const register = (metadata: string) =>
        db.updateTable('clients').set({ metadata }).where('id', '=', toClientId('web')).execute();
      await register(JSON.stringify(wide));
      try {
        const cookies = await (await foyer.signedIn(user)).cookies();
        const headers = { authorization: `Bearer ${cookies.foyer_access_token}`, 'content-type': 'application/json' };
        expect((await sendRequest(`${foyer.url}/user/info`, { headers })).status).toBe(200);
        const body = JSON.stringify({ email: 'taken-over@attacker.example' });
        const change = await sendRequest(`${foyer.url}/identity/changeEmail`, { method: 'POST', headers, body });
        expect([change.status, change.headers.get('www-authenticate')]).toEqual([
          403,
          expect.stringContaining('scope="account:security"'),
        ]);
        expect(await foyer.mails('taken-over@attacker.example')).toEqual([]);
      } finally {
        await register(row.metadata);
      }
    });

    it('A client app’s refresh token is not accepted as a token cookie', async () => {
      const user = await foyer.addUser();
      const browser = await foyer.signedIn(user);
      const tokens = await tokensFor(await relyingParty(foyer, await foyer.addClient()), browser, user);
      await endLeases(user);
      await browser.jar.setCookie(`foyer_refresh_token=0.${tokens.refresh_token}; Path=/`, foyer.url);
      expect(Object.keys(setBy(await page(browser)))).toHaveLength(3);
      expect((await stored(tokens.refresh_token ?? ''))?.consumedAt).toBeNull();
    });
  });
});

describe.each(backends)('token cookies of a domain on $name', (backend) => {
  let foyer: TestFoyer;
  let visitor: Visitor;
  let lines: string[];
  beforeAll(async () => {
    foyer = await startFoyer(backend, { ...production, COOKIE_DOMAIN: 'example.com' });
    await withDefaultClient(foyer);
    visitor = new Visitor(portOf(foyer.url), site, { 'x-forwarded-proto': 'https', 'x-forwarded-for': '192.0.2.7' });
    const user = await foyer.addUser();
    const answer = await visitor.post('/sign-in', { username: user.email, password });
    expect(answer.status).toBe(303);
    lines = answer.setCookies;
  });
  afterAll(() => foyer?.close());

  const line = (start: string) => lines.find((one) => one.startsWith(start)) ?? '';
  const keys = (cookies: Cookie[]) => cookies.map(({ key }) => key).toSorted();

  it('Siblings get the ID token and a short-lived access token', async () => {
    for (const host of ['https://shop.example.com/', 'https://example.com/', 'https://a.b.example.com/x']) {
      expect(keys(await visitor.jar.getCookies(host))).toEqual(['foyer_access_token', 'foyer_id_token']);
    }
    expect(await visitor.jar.getCookies('https://example.org/')).toEqual([]);
    expect(await visitor.jar.getCookies('http://shop.example.com/')).toEqual([]);
    expect(line('foyer_access_token=')).toMatch(/; Domain=example\.com(;|$)/);
    const expires = Date.parse(/Expires=([^;]+)/.exec(line('foyer_access_token='))?.[1] ?? '');
    expect(expires - Date.now()).toBeLessThanOrEqual(5 * minuteMs);
  });

  it('The refresh token, the session and the provider session never leave the host', () => {
    const shared = lines.filter((one) => /Domain=/i.test(one)).map((one) => one.split('=', 1)[0]);
    expect(shared.toSorted()).toEqual(['foyer_access_token', 'foyer_id_token']);
    expect(line('__Host-foyer_refresh_token=')).toMatch(/; Secure(;|$)/);
    for (const one of lines) {
      expect(one).toMatch(/; Secure(;|$)/i);
      expect(one).toMatch(/; HttpOnly(;|$)/i);
    }
  });

  it('The sign-out removes the cookies of the domain, too', async () => {
    await visitor.post('/logout', {});
    expect(await visitor.jar.getCookies('https://shop.example.com/')).toEqual([]);
    expect(keys(await visitor.jar.getCookies(site)).filter((name) => /_token$/.test(name))).toEqual([]);
  });

  it.each([
    ['signed out', async (member: Visitor, _user: User) => void (await member.post('/logout', {}))],
    ['signed out from the command line', (_member: Visitor, { id }: User) => foyer.app.sessions.endAll(id)],
    [
      'over, and the sweep has run',
      async (_member: Visitor, { id }: User) => {
        const sessions = await foyer.deps.kv.setMembers(`sessions-of:${id}`);
        await foyer.deps.kv.delete(...sessions.map((session) => `session:${session}`));
        await foyer.app.oauth.sweep();
      },
    ],
  ])('Copies that an attacking sibling app keeps are refused after the session is %s', async (_what, end) => {
    const proxied = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '192.0.2.8' };
    const member = new Visitor(portOf(foyer.url), site, proxied);
    const user = await foyer.addUser();
    await member.post('/sign-in', { username: user.email, password });
    const copies = await member.jar.getCookies('https://shop.example.com/');
    const access = copies.find(({ key }) => key === 'foyer_access_token')?.value ?? '';
    const bearer = { authorization: `Bearer ${access}` };
    const sibling = new Visitor(portOf(foyer.url), site, proxied);
    expect((await sibling.get('/oauth2/userInfo', bearer)).status).toBe(200);
    await end(member, user);
    expect((await sibling.get('/oauth2/userInfo', bearer)).status).toBe(401);
    expect((await sibling.get('/identity/userAttributes', bearer)).status).toBe(401);
    // Planted for all hosts of the domain, the cookies sign no user in.
    for (const { key, value } of copies) {
      await sibling.jar.setCookie(`${key}=${value}; Domain=example.com; Path=/; Secure`, 'https://shop.example.com/');
    }
    expect((await sibling.get('/settings')).headers.location).toContain('/?redirect=');
    expect((await sibling.get('/identity/userAttributes')).status).toBe(401);
  });
});

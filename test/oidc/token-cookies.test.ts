import { createRemoteJWKSet, jwtVerify } from 'jose';
import { createGrantHooks, deleteClient, findClient } from '../../server/oidc/index.ts';
import { endAllSessions } from '../../server/sessions/index.ts';
import { setDisabled, type User } from '../../server/users/index.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toClientId } from '../support/ids.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';
import { names, setBy, setOf, tokenCookieTools, withDefaultClient } from './token-cookie-tools.ts';

describe.each(backends)('token cookies on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    await withDefaultClient(foyer);
  });
  afterAll(() => foyer?.close());

  const { userinfo, page, refreshTokenIn, stored } = tokenCookieTools(() => foyer);

  describe('a sign-in', () => {
    let user: User;
    let lines: string[];
    let cookies: Record<string, string>;
    beforeAll(async () => {
      user = await foyer.addUser();
      const answer = await foyer.browser().post('/sign-in', { username: user.email, password });
      lines = answer.headers.getSetCookie();
      cookies = setOf(lines);
    });

    it('A sign-in sets three token cookies that are HttpOnly and limited to this host', () => {
      expect(Object.keys(cookies).toSorted()).toEqual(names.toSorted());
      const mine = lines.filter((line) => names.some((name) => line.startsWith(`${name}=`)));
      for (const line of mine) {
        expect(line).toMatch(/; Path=\/(;|$)/);
        expect(line).toMatch(/; HttpOnly(;|$)/);
        expect(line).toMatch(/; SameSite=Lax(;|$)/);
        expect(line).not.toMatch(/Domain=/i);
      }
    });

    it('The id token cookie is an id token for the default client that verifies against the published keys', async () => {
      const keys = createRemoteJWKSet(new URL(`${foyer.url}/oauth2/jwks`));
      const { payload } = await jwtVerify(cookies.foyer_id_token ?? '', keys, { issuer: foyer.url, audience: 'web' });
      expect(payload).toMatchObject({
        sub: user.id,
        email: user.email,
        name: expect.stringContaining('Ada'),
        amr: ['pwd'],
        auth_time: expect.any(Number),
      });
    });

    it('The access token cookie is accepted at userinfo and refused at /user/info', async () => {
      const info = await userinfo(cookies.foyer_access_token ?? '');
      expect(await info.json()).toMatchObject({ sub: user.id, email: user.email });
      const account = await sendRequest(`${foyer.url}/user/info`, {
        headers: { authorization: `Bearer ${cookies.foyer_access_token}` },
      });
      expect(account.status).toBe(403);
    });

    it('Each token cookie of a remembered sign-in expires with its token; otherwise the refresh token ends with the browser', async () => {
      const plain = lines.find((one) => one.startsWith('foyer_refresh_token=')) ?? '';
      expect(plain).toMatch(/^foyer_refresh_token=[^;]/);
      expect(plain).not.toMatch(/Expires=|Max-Age=/i);
      const remembered = await foyer.browser().post('/sign-in', { username: user.email, password, remember: '1' });
      const later = remembered.headers.getSetCookie();
      const expiresOf = (name: string) => {
        const line = (name === 'foyer_refresh_token' ? later : lines).find((one) => one.startsWith(`${name}=`)) ?? '';
        return Date.parse(/Expires=([^;]+)/.exec(line)?.[1] ?? '') / 1000;
      };
      const { exp } = JSON.parse(Buffer.from(cookies.foyer_id_token?.split('.')[1] ?? '', 'base64url').toString()) as {
        exp: number;
      };
      expect(expiresOf('foyer_id_token')).toBe(exp);
      const nowSeconds = Date.now() / 1000;
      expect(expiresOf('foyer_access_token') - nowSeconds).toBeGreaterThan(200);
      expect(expiresOf('foyer_access_token') - nowSeconds).toBeLessThanOrEqual(300);
      const days = (expiresOf('foyer_refresh_token') - nowSeconds) / 86_400;
      expect(days).toBeGreaterThan(13.9);
      expect(days).toBeLessThanOrEqual(14);
    });

    it('The refresh token cookie cannot be redeemed without the secret of the default client', async () => {
      const body = { grant_type: 'refresh_token', refresh_token: refreshTokenIn(cookies.foyer_refresh_token) };
      const attempts: Record<string, string>[] = [{ client_id: 'web' }, { client_id: 'web', client_secret: 'guess' }];
      for (const more of attempts) {
        const answer = await sendRequest(`${foyer.url}/oauth2/token`, {
          method: 'POST',
          body: new URLSearchParams({ ...body, ...more }),
        });
        expect(answer.status).toBe(401);
      }
    });
  });

  it('The token cookies stay under 4 KB in all with the longest names', async () => {
    const long = '\u{1f600}'.repeat(100);
    const user = await foyer.addUser({
      email: `${'a'.repeat(64)}@${'b'.repeat(60)}.${'c'.repeat(60)}.example.com`,
      givenName: long,
      familyName: long,
      phone: '+4915112345600',
    });
    const { db } = foyer.deps.database;
    const picture = `https://media.example.com/${'x'.repeat(1_900)}`;
    await db.updateTable('users').set({ picture }).where('id', '=', user.id).execute();
    const browser = await foyer.signedIn(user);
    const cookies = Object.entries(await browser.cookies()).filter(([name]) => names.includes(name));
    expect(cookies).toHaveLength(3);
    const bytes = cookies.map(([name, value]) => Buffer.byteLength(`${name}=${value}`)).reduce((a, b) => a + b, 0);
    expect(bytes).toBeLessThan(4096);
    const { foyer_id_token: idToken = '' } = Object.fromEntries(cookies);
    const claims = JSON.parse(Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString()) as object;
    expect(claims).toMatchObject({ sub: user.id, email: user.email });
  });

  describe('no token cookies', () => {
    it('A user gets no token cookies before the terms are accepted', async () => {
      const user = await foyer.addUser({ acceptedTosVersion: null });
      const browser = foyer.browser();
      const answer = await browser.post('/sign-in', { username: user.email, password });
      expect(Object.values(setBy(answer)).filter(Boolean)).toEqual([]);
      expect(Object.values(setBy(await page(browser))).filter(Boolean)).toEqual([]);
      expect(await foyer.app.oauth.grants.count({ accountId: user.id })).toBe(0);
      await foyer.deps.database.db
        .updateTable('users')
        .set({ acceptedTosVersion: foyer.deps.terms.number })
        .where('id', '=', user.id)
        .execute();
      expect(Object.values(setBy(await page(browser))).filter(Boolean)).toHaveLength(3);
    });

    it('A user who must accept new terms loses the token cookies at the next page', async () => {
      const user = await foyer.addUser();
      const browser = await foyer.signedIn(user);
      const { db } = foyer.deps.database;
      await db.updateTable('users').set({ acceptedTosVersion: 0 }).where('id', '=', user.id).execute();
      expect(setBy(await page(browser))).toEqual(Object.fromEntries(names.map((name) => [name, ''])));
    });

    it('No user gets token cookies while there is no default client', async () => {
      const { database } = foyer.deps;
      const client = await findClient(database.db, toClientId('web'));
      if (!client) throw new Error('no default client');
      await deleteClient(database.db, toClientId('web'));
      const browser = await foyer.signedIn(await foyer.addUser());
      expect(Object.keys(await browser.cookies()).filter((name) => names.includes(name))).toEqual([]);
      await withDefaultClient(foyer);
      expect(await findClient(database.db, toClientId('web'))).toEqual(client);
    });
  });

  describe('end of the token cookies', () => {
    const gone = Object.fromEntries(names.map((name) => [name, '']));

    it('A sign-out clears the token cookies and revokes their tokens', async () => {
      const browser = await foyer.signedIn(await foyer.addUser());
      const before = await browser.cookies();
      expect(setBy(await browser.post('/logout'))).toEqual(gone);
      expect((await userinfo(before.foyer_access_token ?? '')).status).toBe(401);
      expect(await stored(refreshTokenIn(before.foyer_refresh_token))).toBeUndefined();
      expect(Object.keys(await browser.cookies()).filter((name) => names.includes(name))).toEqual([]);
    });

    it('A session that ended elsewhere loses its token cookies at the next page', async () => {
      const user = await foyer.addUser();
      const browser = await foyer.signedIn(user);
      const before = await browser.cookies();
      await endAllSessions({ kv: foyer.deps.kv, hooks: createGrantHooks(foyer.app.oauth.grants) }, user.id);
      expect((await userinfo(before.foyer_access_token ?? '')).status).toBe(401);
      expect(setBy(await page(browser, '/'))).toEqual(gone);
    });

    it('A disabled user loses the token cookies at the next page', async () => {
      const user = await foyer.addUser();
      const browser = await foyer.signedIn(user);
      await setDisabled(foyer.deps.database.db, user.id, { disabledAt: foyer.deps.now(), nowMs: foyer.deps.now() });
      expect(setBy(await page(browser, '/'))).toEqual(gone);
    });

    it('The next user who signs in on this browser gets token cookies that replace those of the first', async () => {
      const [first, second] = [await foyer.addUser(), await foyer.addUser()];
      const browser = await foyer.signedIn(first);
      const before = await browser.cookies();
      await browser.post('/sign-in', { username: second.email, password });
      const after = await browser.cookies();
      expect((await userinfo(before.foyer_access_token ?? '')).status).toBe(401);
      expect(await (await userinfo(after.foyer_access_token ?? '')).json()).toMatchObject({ sub: second.id });
    });
  });
});

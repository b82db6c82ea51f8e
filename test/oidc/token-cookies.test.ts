import { createRemoteJWKSet, jwtVerify } from 'jose';
import { createGrantHooks, deleteClient, findClient, updateClient } from '../../server/oidc/index.ts';
import { endAllSessions } from '../../server/sessions/index.ts';
import { setDisabled, type User } from '../../server/users/index.ts';
import { secondProcess } from '../attacks/second-process.ts';
import { portOf, Visitor } from '../attacks/wire.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toClientId } from '../support/ids.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';
import { minuteMs, names, setBy, setOf, tokenCookieTools, withDefaultClient } from './token-cookie-tools.ts';

describe.each(backends)('token cookies on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    await withDefaultClient(foyer);
  });
  afterAll(() => foyer?.close());

  const { userinfo, page, endLeases, refreshTokenIn, stored } = tokenCookieTools(() => foyer);

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

    it('Each token cookie expires with its token', () => {
      const expiresOf = (name: string) => {
        const line = lines.find((one) => one.startsWith(`${name}=`)) ?? '';
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

  describe('renewal', () => {
    it('Fresh token cookies are not renewed', async () => {
      const browser = await foyer.signedIn(await foyer.addUser());
      expect(setBy(await page(browser))).toEqual({});
    });

    it('Of 20 concurrent pages one renews the token cookies, and old and new access tokens work', async () => {
      const user = await foyer.addUser();
      const browser = await foyer.signedIn(user);
      const before = await browser.cookies();
      await endLeases(user);
      // The same moment: every request carries what the browser had before.
      const cookie = await browser.jar.getCookieString(foyer.url);
      foyer.passTime(4 * minuteMs);
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => sendRequest(`${foyer.url}/tos`, { headers: { cookie }, redirect: 'manual' })),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
      const renewed = answers.map(setBy).filter((set) => Object.keys(set).length > 0);
      expect(renewed).toHaveLength(1);
      const after = renewed[0] ?? {};
      expect(Object.keys(after).toSorted()).toEqual(names.toSorted());
      for (const name of names) expect(after[name]).not.toBe(before[name]);
      const [old, fresh] = [before, after].map((set) => refreshTokenIn(set.foyer_refresh_token));
      expect((await stored(old ?? ''))?.consumed_at).toEqual(expect.any(Number));
      expect((await stored(fresh ?? ''))?.consumed_at).toBeNull();
      for (const set of [before, after]) expect((await userinfo(set.foyer_access_token ?? '')).status).toBe(200);
    });

    it('Of concurrent pages at two processes one renews the token cookies', async () => {
      const other = await secondProcess(foyer);
      try {
        const user = await foyer.addUser();
        const browser = await foyer.signedIn(user);
        await endLeases(user);
        const { foyer_refresh_token: _, ...rest } = await browser.cookies();
        const cookie = Object.entries(rest)
          .map(([name, value]) => `${name}=${value}`)
          .join('; ');
        const host = new URL(foyer.url).host;
        const here = new Visitor(portOf(foyer.url), foyer.url, { cookie });
        const there = new Visitor(other.port, foyer.url, { cookie, host });
        const answers = await Promise.all(
          Array.from({ length: 10 }, () => [here.get('/tos'), there.get('/tos')]).flat(),
        );
        expect(answers.filter(({ setCookies }) => Object.keys(setOf(setCookies)).length > 0)).toHaveLength(1);
      } finally {
        await other.close();
      }
    });

    it('A late page with the old token cookies gets new ones and does not count as theft', async () => {
      const user = await foyer.addUser();
      const browser = await foyer.signedIn(user);
      const cookie = await browser.jar.getCookieString(foyer.url);
      foyer.passTime(4 * minuteMs);
      const load = async () => {
        await endLeases(user);
        return setBy(await sendRequest(`${foyer.url}/tos`, { headers: { cookie } }));
      };
      const [first, late] = [await load(), await load()];
      for (const set of [first, late]) {
        expect((await userinfo(set.foyer_access_token ?? '')).status).toBe(200);
        expect((await stored(refreshTokenIn(set.foyer_refresh_token)))?.consumed_at).toBeNull();
      }
    });

    it('A renewal keeps one grant and is no new sign-in', async () => {
      const user = await foyer.addUser();
      const browser = await foyer.signedIn(user);
      for (let times = 0; times < 3; times += 1) {
        await endLeases(user);
        foyer.passTime(4 * minuteMs);
        expect(Object.keys(setBy(await page(browser)))).toHaveLength(3);
      }
      expect(await foyer.app.oauth.grants.count({ accountId: user.id })).toBe(1);
    });

    it('A missing token cookie causes a renewal of all three', async () => {
      const user = await foyer.addUser();
      const browser = await foyer.signedIn(user);
      await endLeases(user);
      await browser.jar.setCookie('foyer_id_token=; Path=/; Max-Age=0', foyer.url);
      expect(Object.keys(setBy(await page(browser)))).toHaveLength(3);
    });

    it.each(['x', '.', 'zzzz.', '0.x', `0.${'x'.repeat(3_000)}`, '%00'])(
      'The refresh cookie %s causes no error',
      async (value) => {
        const user = await foyer.addUser();
        const browser = await foyer.signedIn(user);
        await endLeases(user);
        await browser.jar.setCookie(`foyer_refresh_token=${value}; Path=/`, foyer.url);
        const answer = await page(browser);
        expect(answer.status).toBe(200);
        if (value !== 'zzzz.') expect(Object.keys(setBy(answer))).toHaveLength(3);
      },
    );

    it('A revoked grant is replaced by a new one, because the session identifies the user', async () => {
      const user = await foyer.addUser();
      const browser = await foyer.signedIn(user);
      await endLeases(user);
      await foyer.app.oauth.grants.revokeOfAccount(user.id);
      foyer.passTime(4 * minuteMs);
      expect((await userinfo(setBy(await page(browser)).foyer_access_token ?? '')).status).toBe(200);
    });

    it('A failed renewal breaks no page and no sign-in and is logged without a token', async () => {
      const { db } = foyer.deps.database;
      const client = await findClient(db, toClientId('web'));
      if (!client) throw new Error('no default client');
      const user = await foyer.addUser();
      const browser = await foyer.signedIn(user);
      const { foyer_refresh_token: before } = await browser.cookies();
      await endLeases(user);
      foyer.passTime(4 * minuteMs);
      await updateClient(db, { ...client, id_token_signed_response_alg: 'none' as 'ES256' }, {}, 1);
      try {
        expect((await page(browser)).status).toBe(200);
        await foyer.signedIn(user);
        expect(foyer.logged()).toContain('could not create the token cookies');
        expect(foyer.logged()).not.toContain(refreshTokenIn(before));
      } finally {
        await updateClient(db, client, {}, 1);
      }
    });
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
        .set({ accepted_tos_version: foyer.deps.terms.number })
        .where('id', '=', user.id)
        .execute();
      expect(Object.values(setBy(await page(browser))).filter(Boolean)).toHaveLength(3);
    });

    it('A user who must accept new terms loses the token cookies at the next page', async () => {
      const user = await foyer.addUser();
      const browser = await foyer.signedIn(user);
      const { db } = foyer.deps.database;
      await db.updateTable('users').set({ accepted_tos_version: 0 }).where('id', '=', user.id).execute();
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
      await endAllSessions(foyer.deps.kv, createGrantHooks(foyer.app.oauth.grants), user.id);
      expect((await userinfo(before.foyer_access_token ?? '')).status).toBe(401);
      expect(setBy(await page(browser, '/'))).toEqual(gone);
    });

    it('A disabled user loses the token cookies at the next page', async () => {
      const user = await foyer.addUser();
      const browser = await foyer.signedIn(user);
      await setDisabled(foyer.deps.database.db, user.id, foyer.deps.now(), foyer.deps.now());
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

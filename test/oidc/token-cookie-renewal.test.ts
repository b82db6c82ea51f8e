import { findClient, updateClient } from '../../server/oidc/index.ts';
import { secondProcess } from '../attacks/second-process.ts';
import { portOf, Visitor } from '../attacks/wire.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
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
      // All requests start at the same moment, with the cookies that the browser had before.
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
      expect((await stored(old ?? ''))?.consumedAt).toEqual(expect.any(Number));
      expect((await stored(fresh ?? ''))?.consumedAt).toBeNull();
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
        expect((await stored(refreshTokenIn(set.foyer_refresh_token)))?.consumedAt).toBeNull();
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
      await updateClient(db, { ...client, id_token_signed_response_alg: 'none' as 'ES256' }, { nowMs: 1 });
      try {
        expect((await page(browser)).status).toBe(200);
        await foyer.signedIn(user);
        expect(foyer.logged()).toContain('could not create the token cookies');
        expect(foyer.logged()).not.toContain(refreshTokenIn(before));
      } finally {
        await updateClient(db, client, { nowMs: 1 });
      }
    });
  });
});

import * as oidc from 'openid-client';
import { clientSecretHash, createClientSecret } from '../../server/oidc/client-store.ts';
import { sessionIdHash } from '../../server/sessions/embedded-session-store.ts';
import type { User } from '../../server/users/index.ts';
import { names, setBy, tokenCookieTools, withDefaultClient } from '../oidc/token-cookie-tools.ts';
import { activate, appCode, begin, leadsTo } from '../settings/mfa-steps.ts';
import type { Browser } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toClientId, toSealedText, toSessionId, toSessionIdHash, toSha256 } from '../support/ids.ts';
import { relyingParty, tokensFor } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const newPassword = 'lantern copper willow 7';

describe.each(backends)('sessions that must end, on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    const environment = { SESSION_MAX_HOURS: '24', REMEMBER_ME_DAYS: '30' };
    foyer = await startFoyer(backend, { ...environment, GUESS_LIMIT_ADDRESS: '10000', GUESS_LIMIT_DEVICE: '10000' });
    await withDefaultClient(foyer);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });
  afterAll(() => foyer?.close());

  const isIn = async (browser: Browser) => (await browser.get('/settings')).status === 200;
  const idOf = async (browser: Browser) => {
    const cookie = decodeURIComponent((await browser.cookies()).foyer_session ?? '');
    return sessionIdHash(toSessionId(cookie.slice(2).split('.')[0] ?? ''));
  };
  const signIn = async (user: User, more: Record<string, string> = {}) => {
    const browser = foyer.browser();
    expect((await browser.post('/sign-in', { username: user.email, password, ...more })).status).toBe(303);
    return browser;
  };
  const inUseFor = async (browser: Browser, ms: number, everyMs = hourMs) => {
    for (let passed = 0; passed < ms; passed += everyMs) {
      foyer.passTime(Math.min(everyMs, ms - passed));
      await browser.get('/settings');
    }
  };
  const rowsOf = (user: User) =>
    foyer.deps.database.db
      .selectFrom('oidc')
      .select(['model', 'id_hash', 'client_id', 'grant_id', 'foyer_session'])
      .where(({ or, eb, selectFrom }) =>
        or([
          eb('account_id', '=', user.id),
          eb('grant_id', 'in', selectFrom('oidc as own').select('own.id_hash').where('own.account_id', '=', user.id)),
        ]),
      )
      .execute();

  describe('the maximum lifetime', () => {
    it('A stolen cookie in constant use ends 24 hours after the sign-in', async () => {
      const user = await foyer.addUser();
      const browser = await signIn(user);
      await inUseFor(browser, 23 * hourMs);
      expect(await isIn(browser)).toBe(true);
      foyer.passTime(hourMs);
      expect(leadsTo(await browser.get('/settings'))).toBe('303 /?redirect=%2Fsettings');
      const call = await browser.get('/identity/userAttributes', { headers: { accept: 'application/json' } });
      expect(call.status).toBe(401);
      const app = await relyingParty(foyer, await foyer.addClient());
      const silent = await browser.get((await app.begin({ prompt: 'none' })).url, { from: 'cross-site' });
      expect(silent.headers.get('location')).toContain('error=login_required');
    });

    it('A re-authentication starts a new lifetime', async () => {
      const user = await foyer.addUser();
      const browser = await signIn(user);
      await inUseFor(browser, 20 * hourMs);
      expect((await browser.post('/re-authenticate', { password })).status).toBe(303);
      await inUseFor(browser, 23 * hourMs);
      expect(await isIn(browser)).toBe(true);
      foyer.passTime(hourMs);
      expect(await isIn(browser)).toBe(false);
    });

    it('An attacker who turns on a second factor gets a new session id but no new lifetime', async () => {
      const user = await foyer.addUser();
      const browser = await signIn(user);
      const before = await idOf(browser);
      foyer.passTime(9 * minuteMs);
      await activate(browser, await appCode(await begin(browser), foyer.deps.now()));
      expect(await idOf(browser)).not.toBe(before);
      await inUseFor(browser, 23 * hourMs + 50 * minuteMs);
      expect(await isIn(browser)).toBe(true);
      foyer.passTime(minuteMs);
      expect(await isIn(browser)).toBe(false);
    });

    it('A remembered session continues after 24 hours and ends after REMEMBER_ME_DAYS', async () => {
      const user = await foyer.addUser();
      const browser = await signIn(user, { remember: '1' });
      await inUseFor(browser, 29 * dayMs, dayMs);
      expect(await isIn(browser)).toBe(true);
      foyer.passTime(dayMs);
      expect(await isIn(browser)).toBe(false);
    });
  });

  describe('parallel password changes', () => {
    it('Of 50 password changes at once in one browser one succeeds, and its new session and tokens stay valid', async () => {
      const user = await foyer.addUser();
      const browser = await signIn(user);
      const elsewhere = await signIn(user);
      const cookies = await browser.jar.getCookies(foyer.url);
      const copies = await Promise.all(
        Array.from({ length: 50 }, async () => {
          const copy = foyer.browser();
          for (const cookie of cookies) await copy.jar.setCookie(cookie, foyer.url);
          return copy;
        }),
      );
      const answers = await Promise.all(
        copies.map(async (copy) => ({
          copy,
          answer: await copy.post('/settings/password', { old_password: password, new_password: newPassword }),
        })),
      );
      const winners = answers.filter(({ answer }) => leadsTo(answer) === '303 /settings?notice=password');
      expect(winners).toHaveLength(1);
      const [winner] = winners;
      if (!winner) return;
      expect(await isIn(winner.copy)).toBe(true);
      expect(await isIn(elsewhere)).toBe(false);
      for (const { copy } of answers) expect(await isIn(copy)).toBe(copy === winner.copy);
      // The token cookies of the winner's session open userinfo.
      const { userinfo } = tokenCookieTools(() => foyer);
      const { foyer_access_token: token = '' } = setBy(winner.answer);
      expect((await userinfo(token)).status).toBe(200);
      expect(await foyer.deps.kv.setMembers(`sessions-of:${user.id}`)).toEqual([await idOf(winner.copy)]);
    });

    it('A password change that loses the race and finishes late does not end the winner’s new session', async () => {
      const user = await foyer.addUser();
      const [winner, loser] = [await signIn(user), await signIn(user)];
      const { passwords } = foyer.deps;
      const hash = passwords.hash.bind(passwords);
      const reached = Promise.withResolvers<void>();
      const released = Promise.withResolvers<void>();
      const late = 'copper lantern meadow 8';
      jest.spyOn(passwords, 'hash').mockImplementation(async (given, work) => {
        if (given === late) {
          reached.resolve();
          await released.promise;
        }
        return hash(given, work);
      });
      const change = (browser: Browser, to: string) =>
        browser.post('/settings/password', { old_password: password, new_password: to });
      const losing = change(loser, late);
      await reached.promise;
      const won = await change(winner, newPassword);
      expect(leadsTo(won)).toBe('303 /settings?notice=password');
      released.resolve();
      expect((await losing).status).not.toBe(303);
      expect([await isIn(winner), await isIn(loser)]).toEqual([true, false]);
      const { foyer_access_token: token = '' } = setBy(won);
      expect((await tokenCookieTools(() => foyer).userinfo(token)).status).toBe(200);
    });

    it('No earlier session opens a page when the process dies right after the new password is stored', async () => {
      const user = await foyer.addUser();
      const [browser, remembered] = [await signIn(user), await signIn(user, { remember: '1' })];
      const { database } = foyer.deps;
      await database.db
        .updateTable('users')
        .set({ password_epoch: user.passwordEpoch + 1 })
        .where('id', '=', user.id)
        .execute();
      expect([await isIn(browser), await isIn(remembered)]).toEqual([false, false]);
    });

    it('A session of an earlier release, without an epoch, continues and ends with a password change', async () => {
      const user = await foyer.addUser();
      const browser = await signIn(user);
      const { kv } = foyer.deps;
      const key = `session:${await idOf(browser)}`;
      const record = JSON.parse((await kv.get(key)) ?? '{}') as { user: Record<string, unknown> };
      const { passwordEpoch: _e, startedAtMs: _s, browserId: _b, ...before } = record.user;
      await kv.update(key, JSON.stringify({ ...record, user: before }));
      expect(await isIn(browser)).toBe(true);
      const other = await signIn(user);
      const fields = { old_password: password, new_password: newPassword };
      expect(leadsTo(await other.post('/settings/password', fields))).toBe('303 /settings?notice=password');
      expect(await isIn(browser)).toBe(false);
      expect(await kv.get(key)).toBeNull();
    });
  });

  describe('what belongs to a session that has expired', () => {
    /** As when the time to live of the session is over. */
    const runOut = async (browser: Browser) => {
      const idHash = await idOf(browser);
      await foyer.deps.kv.delete(`session:${idHash}`, `session-facts:${idHash}`);
    };

    it('The sweep ends grants and tokens of the token cookies but not those of client apps and open sessions', async () => {
      const user = await foyer.addUser();
      const client = await foyer.addClient();
      const app = await relyingParty(foyer, client);
      const [gone, open] = [foyer.browser(), await signIn(user)];
      const tokens = await tokensFor(app, gone, user);
      await foyer.app.oauth.sweep();
      const before = await rowsOf(user);
      const of = (clientId: string, rows = before) =>
        rows.filter((row) => row.model === 'Grant' && row.client_id === clientId);
      expect([of('web').length, of(client.id).length]).toEqual([2, 1]);
      await runOut(gone);
      await foyer.app.oauth.sweep();
      const after = await rowsOf(user);
      expect(of('web', after).map(({ foyer_session }) => foyer_session)).toEqual([await idOf(open)]);
      expect(of(client.id, after)).toHaveLength(1);
      const grants = new Set(after.filter(({ model }) => model === 'Grant').map(({ id_hash }) => id_hash));
      const refreshTokens = after.filter(({ model }) => model === 'RefreshToken');
      expect(refreshTokens.map(({ grant_id }) => grants.has(toSha256(grant_id ?? '')))).toEqual([true, true]);
      // The client app's own refresh token still works.
      const answer = await oidc.refreshTokenGrant(app.config, tokens.refresh_token ?? '');
      expect(answer.claims()?.sub).toBe(user.id);
    });

    it('The sweep handles more rows than one batch, batch by batch', async () => {
      const { db } = foyer.deps.database;
      const user = await foyer.addUser();
      const rows = Array.from({ length: 1_203 }, (_, n) => ({
        model: 'Grant',
        id_hash: toSha256(`sweep-${n}`),
        payload: toSealedText(''),
        grant_id: null,
        client_id: toClientId('web'),
        account_id: user.id,
        foyer_session: toSessionIdHash(`gone-${n}`),
        offline: 0,
        consumed_at: null,
        expires_at: foyer.deps.now() + dayMs,
      }));
      for (let from = 0; from < rows.length; from += 100) {
        await db
          .insertInto('oidc')
          .values(rows.slice(from, from + 100))
          .execute();
      }
      await foyer.app.oauth.sweep();
      expect(await rowsOf(user)).toEqual([]);
    });

    it('The sweep ends nothing while the key-value store is away', async () => {
      const user = await foyer.addUser();
      await signIn(user);
      const before = await rowsOf(user);
      jest.spyOn(foyer.deps.kv, 'get').mockRejectedValue(new Error('away'));
      await expect(foyer.app.oauth.sweep()).rejects.toThrow('away');
      expect(await rowsOf(user)).toEqual(before);
    });

    it('Stolen token cookies of a session that was not remembered are refused after it has ended', async () => {
      for (const end of ['sign-out', 'run out'] as const) {
        const user = await foyer.addUser();
        const browser = await signIn(user);
        const cookies = await browser.cookies();
        if (end === 'sign-out') await browser.post('/logout');
        else await runOut(browser);
        if (end === 'run out') await foyer.app.oauth.sweep();
        const thief = foyer.browser();
        for (const name of names) await thief.jar.setCookie(`${name}=${cookies[name]}; Path=/`, foyer.url);
        expect(await isIn(thief)).toBe(false);
        const { userinfo, refreshTokenIn } = tokenCookieTools(() => foyer);
        expect((await userinfo(cookies.foyer_access_token ?? '')).status).toBe(401);
        const api = await sendRequest(`${foyer.url}/identity/userAttributes`, {
          headers: { authorization: `Bearer ${cookies.foyer_access_token}` },
        });
        expect(api.status).toBe(401);
        // Nor at the token endpoint, for an operator's script that holds the secret of the default client.
        const secret = createClientSecret();
        const { db } = foyer.deps.database;
        await db
          .updateTable('clients')
          .set({ secret_hash: clientSecretHash(secret) })
          .where('id', '=', toClientId('web'))
          .execute();
        const answer = await sendRequest(`${foyer.url}/oauth2/token`, {
          method: 'POST',
          headers: { authorization: `Basic ${Buffer.from(`web:${secret}`).toString('base64')}` },
          body: new URLSearchParams({
            grant_type: 'refresh_token',
            refresh_token: refreshTokenIn(decodeURIComponent(cookies.foyer_refresh_token ?? '')),
          }),
        });
        expect([end, answer.status, ((await answer.json()) as { error: string }).error]).toEqual([
          end,
          400,
          'invalid_grant',
        ]);
      }
    });
  });
});

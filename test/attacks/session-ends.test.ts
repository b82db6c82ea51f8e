import * as oidc from 'openid-client';
import { clientSecretHash, createClientSecret } from '../../server/oidc/client-store.ts';
import type { User } from '../../server/users/index.ts';
import { activate, appCode, begin, leadsTo } from '../account/mfa-steps.ts';
import { names, tokenCookieTools } from '../oidc/token-cookie-tools.ts';
import type { Browser } from '../support/browser.ts';
import { password } from '../support/foyer.ts';
import { toClientId, toSealedText, toSessionIdHash, toSha256 } from '../support/ids.ts';
import { relyingParty, tokensFor } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';
import { setUpSessionEnds } from './session-ends-steps.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

describe.each(backends)('sessions that must end, on $name', (backend) => {
  const context = setUpSessionEnds(backend);
  const { isIn, idOf, signIn } = context;
  const inUseFor = async (browser: Browser, ms: number, everyMs = hourMs) => {
    for (let passed = 0; passed < ms; passed += everyMs) {
      context.foyer.passTime(Math.min(everyMs, ms - passed));
      await browser.get('/settings');
    }
  };
  const rowsOf = (user: User) =>
    context.foyer.deps.database.db
      .selectFrom('oidc')
      .select(['model', 'idHash', 'clientId', 'grantId', 'foyerSession'])
      .where(({ or, eb, selectFrom }) =>
        or([
          eb('accountId', '=', user.id),
          eb('grantId', 'in', selectFrom('oidc as own').select('own.idHash').where('own.accountId', '=', user.id)),
        ]),
      )
      .execute();

  describe('the maximum lifetime', () => {
    it('A stolen cookie in constant use ends 24 hours after the sign-in', async () => {
      const user = await context.foyer.addUser();
      const browser = await signIn(user);
      await inUseFor(browser, 23 * hourMs);
      expect(await isIn(browser)).toBe(true);
      context.foyer.passTime(hourMs);
      expect(leadsTo(await browser.get('/settings'))).toBe('303 /?redirect=%2Fsettings');
      const call = await browser.get('/identity/userAttributes', { headers: { accept: 'application/json' } });
      expect(call.status).toBe(401);
      const app = await relyingParty(context.foyer, await context.foyer.addClient());
      const silent = await browser.get((await app.begin({ prompt: 'none' })).url, { from: 'cross-site' });
      expect(silent.headers.get('location')).toContain('error=login_required');
    });

    it('A re-authentication starts a new lifetime', async () => {
      const user = await context.foyer.addUser();
      const browser = await signIn(user);
      await inUseFor(browser, 20 * hourMs);
      expect((await browser.post('/re-authenticate', { password })).status).toBe(303);
      await inUseFor(browser, 23 * hourMs);
      expect(await isIn(browser)).toBe(true);
      context.foyer.passTime(hourMs);
      expect(await isIn(browser)).toBe(false);
    });

    it('An attacker who turns on a second factor gets a new session id but no new lifetime', async () => {
      const user = await context.foyer.addUser();
      const browser = await signIn(user);
      const before = await idOf(browser);
      context.foyer.passTime(9 * minuteMs);
      await activate(browser, await appCode(await begin(browser), context.foyer.deps.now()));
      expect(await idOf(browser)).not.toBe(before);
      await inUseFor(browser, 23 * hourMs + 50 * minuteMs);
      expect(await isIn(browser)).toBe(true);
      context.foyer.passTime(minuteMs);
      expect(await isIn(browser)).toBe(false);
    });

    it('A remembered session continues after 24 hours and ends after REMEMBER_ME_DAYS', async () => {
      const user = await context.foyer.addUser();
      const browser = await signIn(user, { remember: '1' });
      await inUseFor(browser, 29 * dayMs, dayMs);
      expect(await isIn(browser)).toBe(true);
      context.foyer.passTime(dayMs);
      expect(await isIn(browser)).toBe(false);
    });
  });

  describe('what belongs to a session that has expired', () => {
    /** Ends the session as its time to live does. */
    const runOut = async (browser: Browser) => {
      const idHash = await idOf(browser);
      await context.foyer.deps.kv.delete(`session:${idHash}`, `session-facts:${idHash}`);
    };

    it('The sweep ends grants and tokens of the token cookies but not those of client apps and open sessions', async () => {
      const user = await context.foyer.addUser();
      const client = await context.foyer.addClient();
      const app = await relyingParty(context.foyer, client);
      const [gone, open] = [context.foyer.browser(), await signIn(user)];
      const tokens = await tokensFor(app, gone, user);
      await context.foyer.app.oauth.sweep();
      const before = await rowsOf(user);
      const of = (clientId: string, rows = before) =>
        rows.filter((row) => row.model === 'Grant' && row.clientId === clientId);
      expect([of('web').length, of(client.id).length]).toEqual([2, 1]);
      await runOut(gone);
      await context.foyer.app.oauth.sweep();
      const after = await rowsOf(user);
      expect(of('web', after).map(({ foyerSession }) => foyerSession)).toEqual([await idOf(open)]);
      expect(of(client.id, after)).toHaveLength(1);
      const grants = new Set(after.filter(({ model }) => model === 'Grant').map(({ idHash }) => idHash));
      const refreshTokens = after.filter(({ model }) => model === 'RefreshToken');
      expect(refreshTokens.map(({ grantId }) => grants.has(toSha256(grantId ?? '')))).toEqual([true, true]);
      // The refresh token of the client app still works.
      const answer = await oidc.refreshTokenGrant(app.config, tokens.refresh_token ?? '');
      expect(answer.claims()?.sub).toBe(user.id);
    });

    it('The sweep handles more rows than one batch, batch by batch', async () => {
      const { db } = context.foyer.deps.database;
      const user = await context.foyer.addUser();
      const rows = Array.from({ length: 1_203 }, (_, n) => ({
        model: 'Grant',
        idHash: toSha256(`sweep-${n}`),
        payload: toSealedText(''),
        grantId: null,
        clientId: toClientId('web'),
        accountId: user.id,
        foyerSession: toSessionIdHash(`gone-${n}`),
        offline: 0,
        consumedAt: null,
        expiresAt: context.foyer.deps.now() + dayMs,
      }));
      for (let from = 0; from < rows.length; from += 100) {
        await db
          .insertInto('oidc')
          .values(rows.slice(from, from + 100))
          .execute();
      }
      await context.foyer.app.oauth.sweep();
      expect(await rowsOf(user)).toEqual([]);
    });

    it('The sweep ends nothing while the key-value store is away', async () => {
      const user = await context.foyer.addUser();
      await signIn(user);
      const before = await rowsOf(user);
      jest.spyOn(context.foyer.deps.kv, 'get').mockRejectedValue(new Error('away'));
      await expect(context.foyer.app.oauth.sweep()).rejects.toThrow('away');
      expect(await rowsOf(user)).toEqual(before);
    });

    it('Stolen token cookies of a session that was not remembered are refused after it has ended', async () => {
      for (const end of ['sign-out', 'run out'] as const) {
        const user = await context.foyer.addUser();
        const browser = await signIn(user);
        const cookies = await browser.cookies();
        if (end === 'sign-out') await browser.post('/logout');
        else await runOut(browser);
        if (end === 'run out') await context.foyer.app.oauth.sweep();
        const thief = context.foyer.browser();
        for (const name of names) await thief.jar.setCookie(`${name}=${cookies[name]}; Path=/`, context.foyer.url);
        expect(await isIn(thief)).toBe(false);
        const { userinfo, refreshTokenIn } = tokenCookieTools(() => context.foyer);
        expect((await userinfo(cookies.foyer_access_token ?? '')).status).toBe(401);
        const api = await sendRequest(`${context.foyer.url}/identity/userAttributes`, {
          headers: { authorization: `Bearer ${cookies.foyer_access_token}` },
        });
        expect(api.status).toBe(401);
        // The token endpoint refuses it too, also to a script with the secret of the default client.
        const secret = createClientSecret();
        const { db } = context.foyer.deps.database;
        await db
          .updateTable('clients')
          .set({ secretHash: clientSecretHash(secret) })
          .where('id', '=', toClientId('web'))
          .execute();
        const answer = await sendRequest(`${context.foyer.url}/oauth2/token`, {
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

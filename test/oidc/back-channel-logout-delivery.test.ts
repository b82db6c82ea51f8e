import { decodeJwt } from 'jose';
import * as oidc from 'openid-client';
import { createClientSessionStore } from '../../server/oidc/client-session-store.ts';
import { rotateKeys } from '../../server/oidc/index.ts';
import { createSessionGrants } from '../../server/oidc/session-grants.ts';
import { answerCode, device } from '../support/devices.ts';
import { password } from '../support/foyer.ts';
import { toClientId, toSessionIdHash } from '../support/ids.ts';
import { backends } from '../support/stores.ts';
import { sidOf, toldApp } from '../support/told-app.ts';
import { setUpBackChannelLogout } from './back-channel-logout-steps.ts';
import { withDefaultClient } from './token-cookie-tools.ts';

/** OpenID Connect Back-Channel Logout 1.0: however a session ends, each of its client apps gets a logout token. */
describe.each(backends)('back-channel logout on $name', (backend) => {
  const context = setUpBackChannelLogout(backend);
  const { inSession, operator } = context;

  describe('one delivery per session', () => {
    const alive = () => oidc.refreshTokenGrant(context.app.client.config, context.tokens.refresh_token ?? '');
    afterEach(() => jest.restoreAllMocks());

    it('Ending one session many times at once sends each logout token once', async () => {
      const thief = await inSession();
      const others = () => thief.browser.post('/settings/devices/sign-out-others');
      const ends = [
        () => context.browser.post('/logout'),
        others,
        () => context.foyer.app.sessions.endAll(context.user.id),
      ];
      await Promise.all([...ends, ...ends, ...ends].map((end) => end()));
      expect(await context.app.heard()).toEqual([context.sid, sidOf(thief.tokens)].toSorted());
    });

    it('A session does not end when its logout token cannot be stored, and the next attempt ends it', async () => {
      jest.spyOn(context.foyer.deps.outbox, 'add').mockRejectedValueOnce(new Error('the disk is full'));
      expect((await context.browser.post('/logout')).status).toBe(500);
      expect(await context.app.heard()).toEqual([]);
      context.tokens = await alive();
      expect((await context.browser.get('/settings')).status).toBe(200);
      expect((await context.browser.post('/logout')).status).toBe(303);
      expect(await context.app.heard()).toEqual([context.sid]);
      await expect(alive()).rejects.toMatchObject({ error: 'invalid_grant' });
    });

    it('A process that dies right after it ended the session still sends the logout token', async () => {
      const html = await (await (await inSession()).browser.get('/settings?tab=device-data')).text();
      const [, href = ''] = /href="(\/settings\/devices\/sign-out\?[^"]*)"/.exec(html) ?? [];
      const keeper = await context.foyer.signedIn(context.user);
      jest.spyOn(context.foyer.deps.kv, 'delete').mockRejectedValueOnce(new Error('killed'));
      expect((await keeper.post(href)).status).toBe(500);
      expect((await context.browser.get('/settings')).status).toBe(303);
      expect(await context.app.heard()).toEqual([context.sid]);
    });

    it('A client that gets tokens while its session ends also gets a logout token for them', async () => {
      for (let round = 0; round < 8; round += 1) {
        const racer = round === 0 ? context.browser : await context.foyer.signedIn(context.user);
        const begun = await context.app.client.begin();
        const asked = racer.get(begun.url, { from: 'cross-site' });
        if (round % 2 === 0) await new Promise((resolve) => setTimeout(resolve, round));
        const [answer] = await Promise.all([asked, racer.post('/logout')]);
        const to = answer.headers.get('location') ?? '';
        const given = to.startsWith(context.app.client.redirectUri)
          ? await context.app.client.redeem(to, begun).catch(() => undefined)
          : undefined;
        const heard = await context.app.heard();
        if (given) expect(heard).toContain(sidOf(given));
      }
      const { db } = context.foyer.deps.database;
      const left = await db.selectFrom('clientSessions').selectAll().where('accountId', '=', context.user.id).execute();
      expect(left).toEqual([]);
    });

    it('A sid that is stored after its session ended is deleted, and no grant is given', async () => {
      const { database, now } = context.foyer.deps;
      const store = createClientSessionStore(database, now);
      const { oauth } = context.foyer.app;
      const late = { idHash: toSessionIdHash(`late-${context.user.id}`), userId: context.user.id };
      const grantsWhile = (live: boolean) =>
        createSessionGrants({
          provider: () => {
            throw new Error('nothing may be given');
          },
          grants: oauth.grants,
          clientSessions: store,
          isLive: async () => live,
          lastsLongEnough: () => true,
        });
      expect(await grantsWhile(false).sidFor(late, toClientId(context.app.id))).toBeUndefined();
      const count = () => database.db.selectFrom('clientSessions').selectAll().where('foyerSession', '=', late.idHash);
      expect(await count().execute()).toEqual([]);
      const first = await grantsWhile(true).sidFor(late, toClientId(context.app.id));
      expect([await grantsWhile(true).sidFor(late, toClientId(context.app.id)), await count().execute()]).toMatchObject(
        [first, [{ sid: first }]],
      );
      await oauth.grants.revokeOfSessions([late.idHash]);
      expect(await context.app.heard()).toEqual([first]);
    });

    it('A sign-in that fails after it ended the session that it replaces still sends the logout token', async () => {
      const { database } = context.foyer.deps;
      const disabled = await context.foyer.addUser();
      const there = await inSession(disabled);
      // The session ends between the right password and the new session.
      const { kv } = context.foyer.deps;
      const add = kv.addToSet.bind(kv);
      jest.spyOn(kv, 'addToSet').mockImplementation(async (...words) => {
        await database.db.updateTable('users').set({ disabledAt: 1 }).where('id', '=', disabled.id).execute();
        return add(...words);
      });
      const answer = await there.browser.post('/sign-in', { username: disabled.email, password });
      expect(answer.status).toBe(401);
      expect(await context.app.heard()).toEqual([sidOf(there.tokens)]);
      await context.browser.post('/logout');
      await context.app.heard();
    });
  });

  it('Sweeping deletes client sessions that no session can use any more and sends no logout token', async () => {
    const { database } = context.foyer.deps;
    const store = createClientSessionStore(database, context.foyer.deps.now);
    const old = await store.findSid(
      { idHash: toSessionIdHash(`old-${context.user.id}`), userId: context.user.id },
      toClientId(context.app.id),
    );
    const dayMs = 24 * 60 * 60_000;
    expect(await store.sweep(context.foyer.deps.now() + 399 * dayMs, 500)).toBe(0);
    // A client session in use is kept for longer.
    const later = createClientSessionStore(database, () => context.foyer.deps.now() + 300 * dayMs);
    expect(
      await later.findSid(
        { idHash: toSessionIdHash(`old-${context.user.id}`), userId: context.user.id },
        toClientId(context.app.id),
      ),
    ).toEqual({
      ...old,
      isNew: false,
    });
    expect(await store.sweep(context.foyer.deps.now() + 401 * dayMs, 500)).toBeGreaterThan(0);
    const left = await database.db.selectFrom('clientSessions').select('sid').execute();
    expect(left).toEqual([{ sid: old.sid }]);
    await context.foyer.app.sessions.endAll(context.user.id);
    expect(await context.app.heard()).toEqual([old.sid]);
  });

  it('Every id token of a session has its sid, which differs for each client and each session', async () => {
    const refreshed = await oidc.refreshTokenGrant(context.app.client.config, context.tokens.refresh_token ?? '');
    expect(refreshed.claims()?.sid).toBe(context.sid);
    const other = await toldApp(context.foyer, { responseTypes: ['code', 'id_token'] });
    const there = sidOf(await other.tokens(context.browser, context.user));
    const asked = await other.client.begin({
      response_type: 'id_token',
      code_challenge: '',
      code_challenge_method: '',
    });
    const direct = new URL(asked.url);
    for (const name of ['code_challenge', 'code_challenge_method']) direct.searchParams.delete(name);
    const answered = (await context.browser.get(direct.href, { from: 'cross-site' })).headers.get('location') ?? '';
    const idToken = new URLSearchParams(new URL(answered).hash.slice(1)).get('id_token') ?? '';
    expect(JSON.parse(Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString()).sid).toBe(there);
    const elsewhere = sidOf((await inSession()).tokens);
    expect(new Set([context.sid, there, elsewhere]).size).toBe(3);
    await context.browser.post('/logout');
    expect([await context.app.heard(), await other.heard()]).toEqual([[context.sid], [there]]);
    await other.close();
  });

  it('A device that was approved in this browser gets a logout token when the session of the browser ends', async () => {
    const radio = await device(context.foyer, { backchannelLogoutUri: context.app.address });
    const asked = await radio.ask();
    await answerCode(context.browser, asked.user_code);
    const given = await oidc.pollDeviceAuthorizationGrant(radio.config, { ...asked, interval: 0.01 });
    const there = given.claims()?.sid;
    expect(there).toEqual(expect.stringMatching(/^[\w-]{32}$/));
    await context.browser.post('/logout');
    await context.foyer.deps.outboxWorker.turn();
    const told = context.app.told.map(({ token }) => decodeJwt(token)).filter(({ aud }) => aud === radio.id);
    expect(told).toMatchObject([{ sub: context.user.id, sid: there }]);
    await context.app.heard().catch(() => []);
  });

  it('The marketplace’s own client, whose tokens are cookies, gets a logout token', async () => {
    const id = context.foyer.deps.config.DEFAULT_CLIENT_ID;
    await withDefaultClient(context.foyer);
    expect((await operator()('client', 'update', id, '--backchannel-logout-uri', context.app.address)).code).toBe(0);
    const visitor = await context.foyer.signedIn(context.user);
    const { foyer_id_token: cookie = '' } = await visitor.cookies();
    const { sid: there } = decodeJwt(cookie);
    expect(there).toEqual(expect.stringMatching(/^[\w-]{32}$/));
    await visitor.post('/logout');
    await context.foyer.deps.outboxWorker.turn();
    expect(context.app.told.map(({ token }) => decodeJwt(token)).at(-1)).toMatchObject({
      aud: id,
      sub: context.user.id,
      sid: there,
    });
    // The next test reads what comes from here on.
    await operator()('client', 'remove', id);
    await context.app.heard().catch(() => []);
  });

  it('A logout token is signed with the algorithm of its client and with the key that is current at delivery', async () => {
    const rsa = await toldApp(context.foyer, { idTokenAlg: 'RS256' });
    const there = sidOf(await rsa.tokens(context.browser, context.user));
    await context.browser.post('/logout');
    const nowMs = context.foyer.deps.now();
    const [rotated] = await rotateKeys(context.foyer.deps.database, context.foyer.deps.boxes.keys, {
      nowMs,
      signsFrom: nowMs,
      keptUntil: nowMs + 60_000,
    });
    await context.foyer.app.oauth.refreshKeys();
    expect(await context.app.heard()).toEqual([context.sid]);
    expect(await rsa.heard()).toEqual([there]);
    const { protectedHeader, payload } = await context.app.check(context.app.told.at(-1)?.token ?? '');
    expect(protectedHeader).toEqual({ alg: 'ES256', typ: 'logout+jwt', kid: rotated?.kid });
    expect(payload).toMatchObject({
      iss: context.foyer.url,
      aud: context.app.id,
      sub: context.user.id,
      sid: context.sid,
    });
    expect(Number(payload.exp) - Number(payload.iat)).toBeLessThanOrEqual(120);
    // No other client gets a token.
    await expect(rsa.check(context.app.told.at(-1)?.token ?? '')).rejects.toThrow();
    await rsa.close();
  });

  it('The command outbox list shows a logout token with its client and state, but not the user', async () => {
    await context.browser.post('/logout');
    const listed = (await operator()('outbox', 'list', '--state', 'waiting', '--json')).json<object[]>();
    expect(listed).toEqual([
      expect.objectContaining({ channel: 'logout-token', template: 'logout-token', recipient: context.app.id }),
    ]);
    expect(JSON.stringify(listed)).not.toContain(context.user.id);
    expect((await operator()('outbox', 'list')).out).toMatch(new RegExp(`logout-token +${context.app.id} +waiting`));
    expect(await context.app.heard()).toEqual([context.sid]);
  });
});

import { decodeJwt } from 'jose';
import * as oidc from 'openid-client';
import { createClientSessionStore } from '../../server/oidc/client-session-store.ts';
import { clientSessionsDataSource, rotateKeys } from '../../server/oidc/index.ts';
import { createSessionGrants } from '../../server/oidc/session-grants.ts';
import type { User } from '../../server/users/index.ts';
import { moveTo, undo, undoToken } from '../contact/steps.ts';
import { askToLeave } from '../deletion/steps.ts';
import { reset } from '../password/steps.ts';
import type { Browser } from '../support/browser.ts';
import { cliOf } from '../support/cli.ts';
import { answerCode, device } from '../support/devices.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toClientId, toSessionIdHash } from '../support/ids.ts';
import type { Tokens } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';
import { sidOf, type ToldApp, toldApp } from '../support/told-app.ts';
import { withDefaultClient } from './token-cookie-tools.ts';

const changed = 'plenty of horses 7';

/** OpenID Connect Back-Channel Logout 1.0: whichever way a session ends, every client app of it hears. */
describe.each(backends)('back-channel logout on $name', (backend) => {
  let foyer: TestFoyer;
  let app: ToldApp;
  let user: User;
  let browser: Browser;
  let tokens: Tokens;
  let sid: string;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { GUESS_LIMIT_ADDRESS: '1000' });
    app = await toldApp(foyer);
  });
  beforeEach(async () => {
    user = await foyer.addUser();
    ({ browser, tokens } = await inSession());
    sid = sidOf(tokens);
    expect(await app.heard()).toEqual([]);
  });
  afterAll(async () => {
    await app?.close();
    await foyer?.close();
  });

  /** Signed in to the client app in a browser of their own. */
  async function inSession(who = user, at: Browser | undefined = undefined) {
    const own = at ?? (await foyer.signedIn(who));
    return { browser: own, tokens: await app.tokens(own, who) };
  }
  const operator = () => cliOf(foyer);

  describe('a session that ends', () => {
    it('Signing out sends the client one logout token', async () => {
      await browser.post('/logout');
      expect(await app.heard()).toEqual([sid]);
      const [last] = app.told.slice(-1);
      expect([last?.method, last?.type]).toEqual(['POST', 'application/x-www-form-urlencoded;charset=UTF-8']);
      // Once: signing out again, elsewhere or everywhere tells nobody anything new.
      await browser.post('/logout');
      await foyer.app.oauth.sessions.endAll(user.id);
      expect(await app.heard()).toEqual([]);
    });

    it('RP-Initiated Logout by a client sends the client a logout token', async () => {
      const url = oidc.buildEndSessionUrl(app.client.config, { id_token_hint: tokens.id_token ?? '' });
      expect((await browser.get(url.href, { from: 'cross-site' })).status).toBe(303);
      expect(await app.heard()).toEqual([sid]);
    });

    it('Signing out one session in the list of devices sends a logout token for that session alone', async () => {
      const phone = await inSession();
      const html = await (await browser.get('/settings?tab=device-data')).text();
      const [, href = ''] = /href="(\/settings\/devices\/sign-out\?[^"]*)"/.exec(html) ?? [];
      expect((await browser.post(href)).status).toBe(303);
      expect(await app.heard()).toEqual([sidOf(phone.tokens)]);
    });

    it('Signing out all other devices sends a logout token for each of the other sessions', async () => {
      const others = [await inSession(), await inSession()].map((other) => sidOf(other.tokens));
      await browser.post('/settings/devices/sign-out-others');
      expect(await app.heard()).toEqual(others.toSorted());
    });

    it('A password reset with a code sends a logout token for every session of the user', async () => {
      const other = await inSession();
      await reset(foyer, foyer.browser(), user.email, changed);
      expect(await app.heard()).toEqual([sid, sidOf(other.tokens)].toSorted());
    });

    it('A changed password sends a logout token for every session, also the current one, whose client tokens end', async () => {
      const other = await inSession();
      await browser.post('/settings/password', { old_password: password, new_password: changed });
      expect(await app.heard()).toEqual([sid, sidOf(other.tokens)].toSorted());
      const again = await app.client.begin({ prompt: 'none' });
      const back = await browser.get(again.url, { from: 'cross-site' });
      expect(sidOf(await app.client.redeem(back.headers.get('location') ?? '', again))).not.toBe(sid);
    });

    it.each([
      ['disables the member', ['user', 'disable']],
      ['sets a password', ['user', 'set-password', '--password-stdin']],
    ])('An operator who %s causes a logout token', async (_what, words) => {
      const run = await operator().withInput(`${changed}\n`, ...words, user.email);
      expect([run.code, run.err]).toEqual([0, '']);
      expect(await app.heard()).toEqual([sid]);
    });

    it('A request to delete the account sends a logout token', async () => {
      await askToLeave(browser);
      expect(await app.heard()).toEqual([sid]);
    });

    it('Erasing a user sends the logout tokens only if that transaction commits', async () => {
      const { database, outbox } = foyer.deps;
      const holding = clientSessionsDataSource(database, outbox);
      expect(await holding.exportData(user)).toEqual([{ clientId: app.id, since: expect.any(Number) }]);
      await expect(
        database.transaction(async (trx) => {
          await holding.erase(trx, user, foyer.deps.now());
          throw new Error('rolled back');
        }),
      ).rejects.toThrow('rolled back');
      expect(await app.heard()).toEqual([]);
      await database.transaction((trx) => holding.erase(trx, user, foyer.deps.now()));
      expect(await app.heard()).toEqual([sid]);
      expect(await holding.exportData(user)).toEqual([]);
    });

    it('Another user who signs in in the same browser causes a logout token for the session before', async () => {
      const next = await foyer.addUser();
      await browser.post('/sign-in', { username: next.email, password });
      expect(await app.heard()).toEqual([sid]);
      const theirs = sidOf((await inSession(next, browser)).tokens);
      expect(theirs).not.toBe(sid);
      await browser.post('/logout');
      expect(await app.heard()).toEqual([theirs]);
    });

    it('Undoing a change of the email address sends a logout token for the session of the thief', async () => {
      const moved = `moved-${user.id}@example.net`;
      await moveTo(foyer, browser, moved);
      const thief = sidOf((await inSession({ ...user, email: moved })).tokens);
      await app.heard();
      expect((await undo(foyer.browser(), await undoToken(foyer, user.email))).status).toBe(303);
      expect(await app.heard()).toContain(thief);
    });

    it('Removing a client sends it a logout token although its registration is gone', async () => {
      const leaving = await toldApp(foyer, { idTokenAlg: 'RS256' });
      const there = sidOf(await leaving.tokens(browser, user));
      const run = await operator()('client', 'remove', leaving.id);
      expect([run.code, run.err]).toEqual([0, '']);
      expect(await leaving.heard()).toEqual([there]);
      expect(await app.heard()).toEqual([]);
      await leaving.close();
    });
  });

  describe('a session that stays open, or another client', () => {
    it('Reauthentication of the same user sends no logout token and keeps the sid', async () => {
      const before = await browser.cookies();
      foyer.passTime(60_000);
      expect((await browser.post('/sign-in', { username: user.email, password })).status).toBe(303);
      expect((await browser.cookies()).foyer_session).not.toBe(before.foyer_session);
      const fresh = await app.tokens(browser, user);
      expect(sidOf(fresh)).toBe(sid);
      expect(fresh.claims()?.auth_time).toBeGreaterThan(Number(tokens.claims()?.auth_time));
      expect(await app.heard()).toEqual([]);
      await browser.post('/logout');
      expect(await app.heard()).toEqual([sid]);
    });

    it('A client that revokes its tokens gets no logout token until the session itself ends', async () => {
      await oidc.tokenRevocation(app.client.config, tokens.refresh_token ?? '');
      await expect(oidc.refreshTokenGrant(app.client.config, tokens.refresh_token ?? '')).rejects.toThrow();
      expect(await app.heard()).toEqual([]);
      // Also where it is given something again.
      expect(sidOf(await app.tokens(browser, user))).toBe(sid);
      await browser.post('/logout');
      expect(await app.heard()).toEqual([sid]);
    });

    it('A client without a back-channel address or without a sign-in gets no logout token', async () => {
      const bystander = await toldApp(foyer);
      const silent = await toldApp(foyer);
      await silent.tokens(browser, user);
      await operator()('client', 'update', silent.id, '--no-backchannel-logout-uri');
      await browser.post('/logout');
      expect([await app.heard(), await bystander.heard(), silent.told]).toEqual([[sid], [], []]);
      await Promise.all([bystander.close(), silent.close()]);
    });
  });

  describe('one delivery per session', () => {
    const alive = () => oidc.refreshTokenGrant(app.client.config, tokens.refresh_token ?? '');
    afterEach(() => jest.restoreAllMocks());

    it('Ending one session many times at once sends each logout token once', async () => {
      const thief = await inSession();
      const others = () => thief.browser.post('/settings/devices/sign-out-others');
      const ends = [() => browser.post('/logout'), others, () => foyer.app.oauth.sessions.endAll(user.id)];
      await Promise.all([...ends, ...ends, ...ends].map((end) => end()));
      expect(await app.heard()).toEqual([sid, sidOf(thief.tokens)].toSorted());
    });

    it('A session does not end when its logout token cannot be stored, and the next attempt ends it', async () => {
      jest.spyOn(foyer.deps.outbox, 'add').mockRejectedValueOnce(new Error('the disk is full'));
      expect((await browser.post('/logout')).status).toBe(500);
      expect(await app.heard()).toEqual([]);
      tokens = await alive();
      expect((await browser.get('/settings')).status).toBe(200);
      expect((await browser.post('/logout')).status).toBe(303);
      expect(await app.heard()).toEqual([sid]);
      await expect(alive()).rejects.toMatchObject({ error: 'invalid_grant' });
    });

    it('A process that dies right after it ended the session still sends the logout token', async () => {
      const html = await (await (await inSession()).browser.get('/settings?tab=device-data')).text();
      const [, href = ''] = /href="(\/settings\/devices\/sign-out\?[^"]*)"/.exec(html) ?? [];
      const keeper = await foyer.signedIn(user);
      jest.spyOn(foyer.deps.kv, 'delete').mockRejectedValueOnce(new Error('killed'));
      expect((await keeper.post(href)).status).toBe(500);
      expect((await browser.get('/settings')).status).toBe(303);
      expect(await app.heard()).toEqual([sid]);
    });

    it('A client that gets tokens while its session ends also gets a logout token for them', async () => {
      for (let round = 0; round < 8; round += 1) {
        const racer = round === 0 ? browser : await foyer.signedIn(user);
        const begun = await app.client.begin();
        const asked = racer.get(begun.url, { from: 'cross-site' });
        if (round % 2 === 0) await new Promise((resolve) => setTimeout(resolve, round));
        const [answer] = await Promise.all([asked, racer.post('/logout')]);
        const to = answer.headers.get('location') ?? '';
        const given = to.startsWith(app.client.redirectUri)
          ? await app.client.redeem(to, begun).catch(() => undefined)
          : undefined;
        const heard = await app.heard();
        if (given) expect(heard).toContain(sidOf(given));
      }
      const { db } = foyer.deps.database;
      const left = await db.selectFrom('client_sessions').selectAll().where('account_id', '=', user.id).execute();
      expect(left).toEqual([]);
    });

    it('A sid that is stored after its session ended is deleted, and no grant is given', async () => {
      const { database, now } = foyer.deps;
      const store = createClientSessionStore(database, now);
      const { oauth } = foyer.app;
      const late = { idHash: toSessionIdHash(`late-${user.id}`), userId: user.id };
      const grantsWhile = (live: boolean) =>
        createSessionGrants(
          () => {
            throw new Error('nothing may be given');
          },
          oauth.grants,
          store,
          async () => live,
          () => true,
        );
      expect(await grantsWhile(false).sidFor(late, toClientId(app.id))).toBeUndefined();
      const count = () =>
        database.db.selectFrom('client_sessions').selectAll().where('foyer_session', '=', late.idHash);
      expect(await count().execute()).toEqual([]);
      const first = await grantsWhile(true).sidFor(late, toClientId(app.id));
      expect([await grantsWhile(true).sidFor(late, toClientId(app.id)), await count().execute()]).toMatchObject([
        first,
        [{ sid: first }],
      ]);
      await oauth.grants.revokeOfSessions([late.idHash]);
      expect(await app.heard()).toEqual([first]);
    });

    it('A sign-in that fails after it ended the session that it replaces still sends the logout token', async () => {
      const { database } = foyer.deps;
      const disabled = await foyer.addUser();
      const there = await inSession(disabled);
      // Between the right password and the new session.
      const { kv } = foyer.deps;
      const add = kv.addToSet.bind(kv);
      jest.spyOn(kv, 'addToSet').mockImplementation(async (...words) => {
        await database.db.updateTable('users').set({ disabled_at: 1 }).where('id', '=', disabled.id).execute();
        return add(...words);
      });
      const answer = await there.browser.post('/sign-in', { username: disabled.email, password });
      expect(answer.status).toBe(401);
      expect(await app.heard()).toEqual([sidOf(there.tokens)]);
      await browser.post('/logout');
      await app.heard();
    });
  });

  it('Sweeping deletes client sessions that no session can use any more and sends no logout token', async () => {
    const { database } = foyer.deps;
    const store = createClientSessionStore(database, foyer.deps.now);
    const old = await store.findSid({ idHash: toSessionIdHash(`old-${user.id}`), userId: user.id }, toClientId(app.id));
    const dayMs = 24 * 60 * 60_000;
    expect(await store.sweep(foyer.deps.now() + 399 * dayMs, 500)).toBe(0);
    // One that is used is kept for longer.
    const later = createClientSessionStore(database, () => foyer.deps.now() + 300 * dayMs);
    expect(
      await later.findSid({ idHash: toSessionIdHash(`old-${user.id}`), userId: user.id }, toClientId(app.id)),
    ).toEqual({
      ...old,
      isNew: false,
    });
    expect(await store.sweep(foyer.deps.now() + 401 * dayMs, 500)).toBeGreaterThan(0);
    const left = await database.db.selectFrom('client_sessions').select('sid').execute();
    expect(left).toEqual([{ sid: old.sid }]);
    await foyer.app.oauth.sessions.endAll(user.id);
    expect(await app.heard()).toEqual([old.sid]);
  });

  it('Every id token of a session has its sid, which differs for each client and each session', async () => {
    const refreshed = await oidc.refreshTokenGrant(app.client.config, tokens.refresh_token ?? '');
    expect(refreshed.claims()?.sid).toBe(sid);
    const other = await toldApp(foyer, { responseTypes: ['code', 'id_token'] });
    const there = sidOf(await other.tokens(browser, user));
    const asked = await other.client.begin({
      response_type: 'id_token',
      code_challenge: '',
      code_challenge_method: '',
    });
    const direct = new URL(asked.url);
    for (const name of ['code_challenge', 'code_challenge_method']) direct.searchParams.delete(name);
    const answered = (await browser.get(direct.href, { from: 'cross-site' })).headers.get('location') ?? '';
    const idToken = new URLSearchParams(new URL(answered).hash.slice(1)).get('id_token') ?? '';
    expect(JSON.parse(Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString()).sid).toBe(there);
    const elsewhere = sidOf((await inSession()).tokens);
    expect(new Set([sid, there, elsewhere]).size).toBe(3);
    await browser.post('/logout');
    expect([await app.heard(), await other.heard()]).toEqual([[sid], [there]]);
    await other.close();
  });

  it('A device that was approved in this browser gets a logout token when the session of the browser ends', async () => {
    const radio = await device(foyer, { backchannelLogoutUri: app.address });
    const asked = await radio.ask();
    await answerCode(browser, asked.user_code);
    const given = await oidc.pollDeviceAuthorizationGrant(radio.config, { ...asked, interval: 0.01 });
    const there = given.claims()?.sid;
    expect(there).toEqual(expect.stringMatching(/^[\w-]{32}$/));
    await browser.post('/logout');
    await foyer.deps.outboxWorker.turn();
    const told = app.told.map(({ token }) => decodeJwt(token)).filter(({ aud }) => aud === radio.id);
    expect(told).toMatchObject([{ sub: user.id, sid: there }]);
    await app.heard().catch(() => []);
  });

  it('The marketplace’s own client, whose tokens are cookies, gets a logout token', async () => {
    const id = foyer.deps.config.DEFAULT_CLIENT_ID;
    await withDefaultClient(foyer);
    expect((await operator()('client', 'update', id, '--backchannel-logout-uri', app.address)).code).toBe(0);
    const visitor = await foyer.signedIn(user);
    const { foyer_id_token: cookie = '' } = await visitor.cookies();
    const { sid: there } = decodeJwt(cookie);
    expect(there).toEqual(expect.stringMatching(/^[\w-]{32}$/));
    await visitor.post('/logout');
    await foyer.deps.outboxWorker.turn();
    expect(app.told.map(({ token }) => decodeJwt(token)).at(-1)).toMatchObject({ aud: id, sub: user.id, sid: there });
    // The next test reads what comes from here on.
    await operator()('client', 'remove', id);
    await app.heard().catch(() => []);
  });

  it('A logout token is signed with the algorithm of its client and with the key that is current at delivery', async () => {
    const rsa = await toldApp(foyer, { idTokenAlg: 'RS256' });
    const there = sidOf(await rsa.tokens(browser, user));
    await browser.post('/logout');
    const nowMs = foyer.deps.now();
    const [rotated] = await rotateKeys(foyer.deps.database, foyer.deps.boxes.keys, {
      nowMs,
      signsFrom: nowMs,
      keptUntil: nowMs + 60_000,
    });
    await foyer.app.oauth.refreshKeys();
    expect(await app.heard()).toEqual([sid]);
    expect(await rsa.heard()).toEqual([there]);
    const { protectedHeader, payload } = await app.check(app.told.at(-1)?.token ?? '');
    expect(protectedHeader).toEqual({ alg: 'ES256', typ: 'logout+jwt', kid: rotated?.kid });
    expect(payload).toMatchObject({ iss: foyer.url, aud: app.id, sub: user.id, sid });
    expect(Number(payload.exp) - Number(payload.iat)).toBeLessThanOrEqual(120);
    // For nobody else.
    await expect(rsa.check(app.told.at(-1)?.token ?? '')).rejects.toThrow();
    await rsa.close();
  });

  it('The command outbox list shows a logout token with its client and state, but not the user', async () => {
    await browser.post('/logout');
    const listed = (await operator()('outbox', 'list', '--state', 'waiting', '--json')).json<object[]>();
    expect(listed).toEqual([
      expect.objectContaining({ channel: 'logout-token', template: 'logout-token', recipient: app.id }),
    ]);
    expect(JSON.stringify(listed)).not.toContain(user.id);
    expect((await operator()('outbox', 'list')).out).toMatch(new RegExp(`logout-token +${app.id} +waiting`));
    expect(await app.heard()).toEqual([sid]);
  });
});

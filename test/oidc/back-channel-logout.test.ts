import * as oidc from 'openid-client';
import { clientSessionsDataSource } from '../../server/oidc/index.ts';
import { moveTo, undo, undoToken } from '../account/contact/steps.ts';
import { askToLeave } from '../account/deletion/steps.ts';
import { reset } from '../password/steps.ts';
import { password } from '../support/foyer.ts';
import { toNormalisedEmail } from '../support/ids.ts';
import { backends } from '../support/stores.ts';
import { sidOf, toldApp } from '../support/told-app.ts';
import { setUpBackChannelLogout } from './back-channel-logout-steps.ts';

const changed = 'plenty of horses 7';

/** OpenID Connect Back-Channel Logout 1.0: however a session ends, each of its client apps gets a logout token. */
describe.each(backends)('back-channel logout on $name', (backend) => {
  const context = setUpBackChannelLogout(backend);
  const { inSession, operator } = context;

  describe('a session that ends', () => {
    it('Signing out sends the client one logout token', async () => {
      await context.browser.post('/logout');
      expect(await context.app.heard()).toEqual([context.sid]);
      const [last] = context.app.told.slice(-1);
      expect([last?.method, last?.type]).toEqual(['POST', 'application/x-www-form-urlencoded;charset=UTF-8']);
      // Signing out again or everywhere sends no second logout token.
      await context.browser.post('/logout');
      await context.foyer.app.sessions.endAll(context.user.id);
      expect(await context.app.heard()).toEqual([]);
    });

    it('RP-Initiated Logout by a client sends the client a logout token', async () => {
      const url = oidc.buildEndSessionUrl(context.app.client.config, { id_token_hint: context.tokens.id_token ?? '' });
      expect((await context.browser.get(url.href, { from: 'cross-site' })).status).toBe(303);
      expect(await context.app.heard()).toEqual([context.sid]);
    });

    it('Signing out one session in the list of devices sends a logout token for that session alone', async () => {
      const phone = await inSession();
      const html = await (await context.browser.get('/settings?tab=device-data')).text();
      const [, href = ''] = /href="(\/settings\/devices\/sign-out\?[^"]*)"/.exec(html) ?? [];
      expect((await context.browser.post(href)).status).toBe(303);
      expect(await context.app.heard()).toEqual([sidOf(phone.tokens)]);
    });

    it('Signing out all other devices sends a logout token for each of the other sessions', async () => {
      const others = [await inSession(), await inSession()].map((other) => sidOf(other.tokens));
      await context.browser.post('/settings/devices/sign-out-others');
      expect(await context.app.heard()).toEqual(others.toSorted());
    });

    it('A password reset with a code sends a logout token for every session of the user', async () => {
      const other = await inSession();
      await reset(context.foyer, context.foyer.browser(), context.user.email, changed);
      expect(await context.app.heard()).toEqual([context.sid, sidOf(other.tokens)].toSorted());
    });

    it('A changed password sends a logout token for every session, also the current one, whose client tokens end', async () => {
      const other = await inSession();
      await context.browser.post('/settings/password', { old_password: password, new_password: changed });
      expect(await context.app.heard()).toEqual([context.sid, sidOf(other.tokens)].toSorted());
      const again = await context.app.client.begin({ prompt: 'none' });
      const back = await context.browser.get(again.url, { from: 'cross-site' });
      expect(sidOf(await context.app.client.redeem(back.headers.get('location') ?? '', again))).not.toBe(context.sid);
    });

    it.each([
      ['disables the member', ['user', 'disable']],
      ['sets a password', ['user', 'set-password', '--password-stdin']],
    ])('An operator who %s causes a logout token', async (_what, words) => {
      const run = await operator().withInput(`${changed}\n`, ...words, context.user.email);
      expect([run.code, run.err]).toEqual([0, '']);
      expect(await context.app.heard()).toEqual([context.sid]);
    });

    it('A request to delete the account sends a logout token', async () => {
      await askToLeave(context.browser);
      expect(await context.app.heard()).toEqual([context.sid]);
    });

    it('Erasing a user sends the logout tokens only if that transaction commits', async () => {
      const { database, outbox } = context.foyer.deps;
      const holding = clientSessionsDataSource(database, outbox);
      expect(await holding.exportData(context.user)).toEqual([{ clientId: context.app.id, since: expect.any(Number) }]);
      await expect(
        database.transaction(async (trx) => {
          await holding.erase(trx, context.user, context.foyer.deps.now());
          throw new Error('rolled back');
        }),
      ).rejects.toThrow('rolled back');
      expect(await context.app.heard()).toEqual([]);
      await database.transaction((trx) => holding.erase(trx, context.user, context.foyer.deps.now()));
      expect(await context.app.heard()).toEqual([context.sid]);
      expect(await holding.exportData(context.user)).toEqual([]);
    });

    it('Another user who signs in in the same browser causes a logout token for the session before', async () => {
      const next = await context.foyer.addUser();
      await context.browser.post('/sign-in', { username: next.email, password });
      expect(await context.app.heard()).toEqual([context.sid]);
      const theirs = sidOf((await inSession(next, context.browser)).tokens);
      expect(theirs).not.toBe(context.sid);
      await context.browser.post('/logout');
      expect(await context.app.heard()).toEqual([theirs]);
    });

    it('Undoing a change of the email address sends a logout token for the session of the thief', async () => {
      const moved = `moved-${context.user.id}@example.net`;
      await moveTo(context.foyer, context.browser, moved);
      const thief = sidOf((await inSession({ ...context.user, email: toNormalisedEmail(moved) })).tokens);
      await context.app.heard();
      expect((await undo(context.foyer.browser(), await undoToken(context.foyer, context.user.email))).status).toBe(
        303,
      );
      expect(await context.app.heard()).toContain(thief);
    });

    it('Removing a client sends it a logout token although its registration is gone', async () => {
      const leaving = await toldApp(context.foyer, { idTokenAlg: 'RS256' });
      const there = sidOf(await leaving.tokens(context.browser, context.user));
      const run = await operator()('client', 'remove', leaving.id);
      expect([run.code, run.err]).toEqual([0, '']);
      expect(await leaving.heard()).toEqual([there]);
      expect(await context.app.heard()).toEqual([]);
      await leaving.close();
    });
  });

  describe('a session that stays open, or another client', () => {
    it('Reauthentication of the same user sends no logout token and keeps the sid', async () => {
      const before = await context.browser.cookies();
      context.foyer.passTime(60_000);
      expect((await context.browser.post('/sign-in', { username: context.user.email, password })).status).toBe(303);
      expect((await context.browser.cookies()).foyer_session).not.toBe(before.foyer_session);
      const fresh = await context.app.tokens(context.browser, context.user);
      expect(sidOf(fresh)).toBe(context.sid);
      expect(fresh.claims()?.auth_time).toBeGreaterThan(Number(context.tokens.claims()?.auth_time));
      expect(await context.app.heard()).toEqual([]);
      await context.browser.post('/logout');
      expect(await context.app.heard()).toEqual([context.sid]);
    });

    it('A client that revokes its tokens gets no logout token until the session itself ends', async () => {
      await oidc.tokenRevocation(context.app.client.config, context.tokens.refresh_token ?? '');
      await expect(
        oidc.refreshTokenGrant(context.app.client.config, context.tokens.refresh_token ?? ''),
      ).rejects.toThrow();
      expect(await context.app.heard()).toEqual([]);
      // New tokens of the client have the sid of the session again.
      expect(sidOf(await context.app.tokens(context.browser, context.user))).toBe(context.sid);
      await context.browser.post('/logout');
      expect(await context.app.heard()).toEqual([context.sid]);
    });

    it('A client without a back-channel address or without a sign-in gets no logout token', async () => {
      const bystander = await toldApp(context.foyer);
      const silent = await toldApp(context.foyer);
      await silent.tokens(context.browser, context.user);
      await operator()('client', 'update', silent.id, '--no-backchannel-logout-uri');
      await context.browser.post('/logout');
      expect([await context.app.heard(), await bystander.heard(), silent.told]).toEqual([[context.sid], [], []]);
      await Promise.all([bystander.close(), silent.close()]);
    });
  });
});

import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import * as oidc from 'openid-client';
import type { User } from '../../server/users/index.ts';
import { activate, begin, leadsTo, appCode as totpCode } from '../account/mfa-steps.ts';
import { beforeSessionWrite } from '../sessions/stored-sessions.ts';
import { appCode, memberWithTotp, show, toChallenge } from '../sign-in/factor-steps.ts';
import type { Browser } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toSessionIdHash } from '../support/ids.ts';
import { type RelyingParty, relyingParty, tokensFor } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';

describe.each(backends)('the devices in the settings under attack, on $name', (backend) => {
  let foyer: TestFoyer;
  let client: RelyingParty;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { GUESS_LIMIT_ADDRESS: '1000' });
    client = await relyingParty(foyer, await foyer.addClient());
  });
  afterAll(() => foyer?.close());

  const listOf = (user: User) => foyer.app.sessions.list(user.id);
  const isSignedIn = async (browser: Browser) => (await browser.get('/settings')).status === 200;
  const signOutAddress = (id: string) => `/settings/devices/sign-out?${new URLSearchParams({ session: id })}`;
  const copyOf = async (browser: Browser) => {
    const copy = foyer.browser();
    for (const cookie of await browser.jar.getCookies(foyer.url)) await copy.jar.setCookie(cookie, foyer.url);
    return copy;
  };

  it('The id of another user’s session ends nothing and reveals nothing', async () => {
    const [victim, mallory] = [await foyer.addUser(), await foyer.addUser()];
    const [theirs, own] = [await foyer.signedIn(victim), await foyer.signedIn(mallory)];
    const [session] = await listOf(victim);
    const unknown = '0'.repeat(43);
    for (const id of [session?.idHash ?? '', unknown, '', '../x', `session:${session?.idHash}`]) {
      expect(leadsTo(await own.get(signOutAddress(id)))).toBe('303 /settings?tab=device-data#settings:session-gone');
      expect(leadsTo(await own.post(signOutAddress(id)))).toBe('303 /settings?tab=device-data#settings:session-gone');
    }
    expect(await foyer.app.sessions.endSession(mallory.id, toSessionIdHash(session?.idHash ?? ''))).toBe(false);
    await own.post('/settings/devices/sign-out-others');
    expect(await isSignedIn(theirs)).toBe(true);
    expect(await foyer.mails(victim.email)).toEqual([]);
    const html = await (await own.get('/settings?tab=device-data')).text();
    expect(html).not.toContain(session?.idHash);
  });

  it.each([
    ['a call', '/identity/changeEmail', 'application/json', '{"email":"a-call@example.org"}', 401],
    ['a form', '/settings/email', 'application/x-www-form-urlencoded', 'email=a-form%40example.org', 303],
  ])(
    'A request of a signed-out session that is held back half-sent (%s) changes nothing',
    async (what, path, type, body, status) => {
      const user = await foyer.addUser();
      const [thief, own] = [await foyer.signedIn(user), await foyer.signedIn(user)];
      const half = Math.floor(body.length / 2);
      const held = request(foyer.url + path, {
        method: 'POST',
        headers: {
          origin: foyer.url,
          'sec-fetch-site': 'same-origin',
          cookie: await thief.jar.getCookieString(foyer.url),
          'content-type': type,
          'content-length': body.length,
        },
      });
      const answered = once(held, 'response') as Promise<[IncomingMessage]>;
      held.write(body.slice(0, half));
      // This takes as long as the check of the session.
      await isSignedIn(own);
      await isSignedIn(own);
      expect(leadsTo(await own.post('/settings/devices/sign-out-others'))).toBe(
        '303 /settings?tab=device-data#settings:sessions-ended',
      );
      held.end(body.slice(half));
      const [answer] = await answered;
      answer.resume();
      expect(answer.statusCode).toBe(status);
      expect(answer.headers.location ?? '').not.toContain('/settings/email/code');
      expect(await foyer.mails(`${what.replace(' ', '-')}@example.org`)).toEqual([]);
    },
  );

  it('A session that gets a new id at the moment of its sign-out does not survive', async () => {
    const user = await foyer.addUser();
    const [thief, own] = [await foyer.signedIn(user), await foyer.signedIn(user)];
    const code = await totpCode(await begin(thief), foyer.deps.now());
    const signedOut = jest.fn(async () => {
      expect(leadsTo(await own.post('/settings/devices/sign-out-others'))).toMatch(/^303 \/settings\?tab=device-data#/);
    });
    await beforeSessionWrite(foyer.deps.kv, signedOut, () => activate(thief, code));
    expect(signedOut).toHaveBeenCalledTimes(1);
    expect(await isSignedIn(thief)).toBe(false);
    expect(await isSignedIn(own)).toBe(true);
  });

  it('A user cannot remove another user’s remembered device', async () => {
    const { user: victim, secret } = await memberWithTotp(foyer);
    const theirs = foyer.browser();
    await toChallenge(theirs, victim);
    await show(theirs, await appCode(foyer, secret), { rememberDevice: '1' });
    const rows = () =>
      foyer.deps.database.db.selectFrom('rememberedDevices').selectAll().where('userId', '=', victim.id).execute();
    const before = await rows();
    expect(before).toHaveLength(1);
    const own = await foyer.signedIn(await foyer.addUser());
    await own.get(`/settings/devices/forget?device=${before[0]?.id}`);
    await own.post(`/settings/devices/forget?device=${before[0]?.id}`);
    await own.post('/settings/devices/sign-out-others');
    expect(await rows()).toEqual(before);
  });

  it('A link or a form of another site ends no session', async () => {
    const user = await foyer.addUser();
    const [browser, other] = [await foyer.signedIn(user), await foyer.signedIn(user)];
    const paths = (await listOf(user)).map(({ idHash }) => signOutAddress(idHash));
    for (const path of [...paths, '/settings/devices/sign-out-others']) {
      await browser.get(path, { from: 'cross-site' });
      const evil = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
      expect((await browser.post(path, {}, evil)).status).toBe(403);
    }
    expect([await isSignedIn(browser), await isSignedIn(other)]).toEqual([true, true]);
  });

  it('Signing out a device revokes its cookies, tokens, client app grants and silent sign-on at the next request', async () => {
    const user = await foyer.addUser();
    const [stolen, own] = [foyer.browser(), await foyer.signedIn(user)];
    const tokens = await tokensFor(client, stolen, user);
    const kept = await tokensFor(client, own, user);
    const [ownSession] = (await listOf(user)).toSorted((a, b) => a.createdAtMs - b.createdAtMs);
    const thief = await copyOf(stolen);
    const pending = await client.begin({ prompt: 'login' });
    await thief.get(pending.url, { from: 'cross-site' });
    for (const { idHash } of await listOf(user)) {
      if (idHash !== ownSession?.idHash) await own.post(signOutAddress(idHash));
    }
    for (const browser of [stolen, thief]) {
      expect(await isSignedIn(browser)).toBe(false);
      const api = await browser.get('/identity/userAttributes', { headers: { accept: 'application/json' } });
      expect(api.status).toBe(401);
      const silent = await browser.get((await client.begin({ prompt: 'none' })).url, { from: 'cross-site' });
      expect(silent.headers.get('location')).toContain('error=login_required');
      expect(leadsTo(await browser.post('/settings/devices/sign-out-others'))).toMatch(/^303 \/\?redirect=/);
    }
    const refused = { error: 'invalid_grant' };
    await expect(oidc.refreshTokenGrant(client.config, tokens.refresh_token ?? '')).rejects.toMatchObject(refused);
    await expect(oidc.fetchUserInfo(client.config, tokens.access_token, user.id)).rejects.toMatchObject({
      status: 401,
    });
    // The other browser keeps its session and tokens.
    expect(await isSignedIn(own)).toBe(true);
    expect((await oidc.refreshTokenGrant(client.config, kept.refresh_token ?? '')).claims()?.sub).toBe(user.id);
  });

  it('A sign-in at the moment of a sign-out is in the list and can be signed out', async () => {
    const user = await foyer.addUser();
    const own = await foyer.signedIn(user);
    for (let round = 0; round < 4; round += 1) {
      const late = Array.from({ length: 4 }, () => foyer.browser());
      const signIns = late.map((browser) => browser.post('/sign-in', { username: user.email, password }));
      const [ended] = await Promise.all([own.post('/settings/devices/sign-out-others'), ...signIns]);
      expect(leadsTo(ended)).toBe('303 /settings?tab=device-data#settings:sessions-ended');
      const inside = (await Promise.all(late.map(isSignedIn))).filter(Boolean).length;
      expect((await listOf(user)).length).toBe(inside + 1);
      await own.post('/settings/devices/sign-out-others');
      expect(await Promise.all(late.map(isSignedIn))).toEqual([false, false, false, false]);
      expect(await isSignedIn(own)).toBe(true);
    }
  });

  it('A re-authentication at the moment of a sign-out leaves client apps no hidden grant of the old session', async () => {
    const user = await foyer.addUser();
    const own = await foyer.signedIn(user);
    for (let round = 0; round < 4; round += 1) {
      const other = foyer.browser();
      const tokens = await tokensFor(client, other, user);
      const [target] = (await listOf(user)).toSorted((a, b) => b.createdAtMs - a.createdAtMs);
      await Promise.all([own.post(signOutAddress(target?.idHash ?? '')), other.post('/re-authenticate', { password })]);
      // Either the request continued under the new session, which is on the list, or its session has ended.
      await own.post('/settings/devices/sign-out-others');
      expect(await isSignedIn(other)).toBe(false);
      await expect(oidc.refreshTokenGrant(client.config, tokens.refresh_token ?? '')).rejects.toMatchObject({
        error: 'invalid_grant',
      });
    }
  });

  it('Signing out one device ten times at once ends it once and sends one mail', async () => {
    const user = await foyer.addUser();
    const [own, other] = [await foyer.signedIn(user), await foyer.signedIn(user)];
    const [target] = (await listOf(user)).toSorted((a, b) => b.createdAtMs - a.createdAtMs);
    await Promise.all(Array.from({ length: 10 }, () => own.post(signOutAddress(target?.idHash ?? ''))));
    expect(await isSignedIn(other)).toBe(false);
    const mails = (await foyer.mails(user.email)).filter(({ template }) => template === 'security-notice');
    expect(mails).toHaveLength(1);
  });

  it('A made-up User-Agent does not appear in the page or the mail', async () => {
    const user = await foyer.addUser();
    const own = await foyer.signedIn(user);
    const evil = foyer.browser();
    evil.headers['user-agent'] = '<script>alert(1)</script> your bank, call +1 900 555';
    await evil.post('/sign-in', { username: user.email, password });
    const html = await (await own.get('/settings?tab=device-data')).text();
    expect(html).not.toMatch(/alert\(1\)|your bank/);
    await own.post('/settings/devices/sign-out-others');
    expect(JSON.stringify(await foyer.mails(user.email))).not.toMatch(/alert\(1\)|your bank/);
  });
});

import { findTotp, forgetRememberedDevices } from '../../server/mfa/index.ts';
import type { User } from '../../server/users/index.ts';
import { fresh } from '../account/contact/steps.ts';
import { enrol } from '../account/mfa-steps.ts';
import {
  appCode,
  giveTotp,
  isSignedIn,
  memberWithTotp,
  show,
  signInWithTotp,
  stepMs,
  toChallenge,
} from '../sign-in/factor-steps.ts';
import type { Browser } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { relyingParty, tokensFor } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';

const minuteMs = 60_000;

describe.each(backends)('attacks on the second factor on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());
  const byToken = (token: string, name: string, body: object) =>
    sendRequest(`${foyer.url}/identity/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
    });
  const tokenIn = async (browser: Browser, user: User) => {
    const scope = 'openid account account:security';
    const client = await relyingParty(foyer, await foyer.addClient({ scopes: scope.split(' ') }), scope);
    return (await tokensFor(client, browser, user)).access_token;
  };

  it('With the password alone no page, call or client app accepts the browser as the user', async () => {
    const { user } = await memberWithTotp(foyer);
    const client = await relyingParty(foyer, await foyer.addClient());
    const begun = await client.begin();
    const browser = foyer.browser();
    const landing = new URL(
      (await browser.get(begun.url, { from: 'cross-site' })).headers.get('location') ?? '',
      foyer.url,
    );
    await toChallenge(browser, user, landing.search);
    const id = landing.searchParams.get('authorization_code') ?? '';

    const toSignIn = [
      ...['/settings', '/settings/name', '/settings/password', '/settings/mfa', '/settings/passkeys'],
      ...['/settings/recovery-codes', '/re-authenticate', `/verify-user${landing.search}`],
    ];
    for (const path of toSignIn) {
      const answer = await browser.get(path);
      expect({ path, location: answer.headers.get('location') }).toEqual({
        path,
        location: expect.stringMatching(/^\/\?/),
      });
    }
    const stored = await browser.postJson('/storage', { authorization_code: id, user_id: user.id });
    const { data } = (await stored.json()) as { data: { location: string } };
    expect(new URL(data.location, foyer.url).pathname).toBe('/');
    // The resume address of the library gives no code either.
    const resumed = await browser.get(`/oauth2/authorize/${id}`, { from: 'same-origin' });
    expect(resumed.headers.get('location') ?? '').not.toMatch(/[?&]code=/);
    const silent = await browser.get((await client.begin({ prompt: 'none' })).url);
    expect(silent.headers.get('location')).toContain('error=login_required');
    for (const path of ['/identity/userAttributes', '/identity/preferredMFA', '/user/session']) {
      expect([401, 404]).toContain((await browser.get(path, { headers: { accept: 'application/json' } })).status);
    }
    const posts = ['/settings/name', '/settings/mfa', '/settings/password', '/re-authenticate', '/tos'];
    for (const path of posts) {
      const answer = await browser.post(path, { password, decision: 'accept', version: '1', enabled: '0' });
      expect({ path, location: answer.headers.get('location') }).toEqual({
        path,
        location: expect.stringMatching(/^\/\?/),
      });
    }
    expect(await isSignedIn(browser)).toBe(false);
  });

  it('A remembered-device cookie that is made up, another user’s, forgotten or too old is refused', async () => {
    const [ada, ben] = [await memberWithTotp(foyer), await memberWithTotp(foyer)];
    const browser = foyer.browser();
    await toChallenge(browser, ada.user);
    await show(browser, await appCode(foyer, ada.secret), { rememberDevice: '1' });
    const cookie = (await browser.cookies()).foyer_remembered ?? '';
    const [id = '', secret = ''] = cookie.split('.');
    const asks = async (value: string, { user } = ada) => {
      const visitor = foyer.browser();
      await visitor.jar.setCookie(`foyer_remembered=${value}`, foyer.url);
      const answer = await visitor.post('/sign-in', { username: user.email, password });
      return answer.headers.get('location') === '/second-factor';
    };
    expect(await asks(cookie)).toBe(false);
    expect(await asks(cookie, ben)).toBe(true);
    for (const value of [`${id}.`, `${id}.${secret.slice(1)}`, `.${secret}`, id, '', '~~~~', `${id}.${secret}.x`]) {
      expect({ value, asks: await asks(value) }).toEqual({ value, asks: true });
    }
    await forgetRememberedDevices(foyer.deps.database.db, ada.user.id);
    expect(await asks(cookie)).toBe(true);
    await toChallenge(browser, ada.user);
    foyer.passTime(stepMs);
    await show(browser, await appCode(foyer, ada.secret), { rememberDevice: '1' });
    const later = (await browser.cookies()).foyer_remembered ?? '';
    expect(await asks(later)).toBe(false);
    foyer.passTime(30 * 24 * 60 * minuteMs);
    expect(await asks(later)).toBe(true);
  });

  it('A re-authentication challenge signs in neither a visitor nor another user', async () => {
    const [ada, ben] = [await memberWithTotp(foyer), await memberWithTotp(foyer)];
    const browser = foyer.browser();
    await signInWithTotp(foyer, browser, ada.user, ada.secret);
    foyer.passTime(stepMs);
    expect((await browser.post('/re-authenticate', { password })).headers.get('location')).toBe(
      '/second-factor?redirect=%2Fsettings',
    );
    const cookie = (await browser.cookies()).foyer_challenge ?? '';
    const [signedOut, other] = [foyer.browser(), foyer.browser()];
    await signInWithTotp(foyer, other, ben.user, ben.secret);
    const code = await appCode(foyer, ada.secret);
    for (const visitor of [signedOut, other]) {
      await visitor.jar.setCookie(`foyer_challenge=${cookie}`, foyer.url);
      await show(visitor, code);
    }
    expect(await isSignedIn(signedOut)).toBe(false);
    expect(await (await other.get('/settings')).text()).toContain(ben.user.email);
    expect((await show(browser, code)).headers.get('location')).toBe(`${foyer.url}/settings`);
  });

  it('Neither the password alone nor a change of the password makes an old sign-in recent', async () => {
    const { user, secret } = await memberWithTotp(foyer);
    const browser = foyer.browser();
    await signInWithTotp(foyer, browser, user, secret);
    foyer.passTime(11 * minuteMs);
    const guarded = () =>
      browser.get('/settings/recovery-codes').then((answer) => answer.headers.get('location') ?? '');
    expect(await guarded()).toMatch(/^\/re-authenticate/);
    await browser.post('/re-authenticate', { password });
    expect(await guarded()).toMatch(/^\/re-authenticate/);
    await browser.postJson('/identity/changePassword', { oldPassword: password, newPassword: 'another long phrase 6' });
    expect(await guarded()).toMatch(/^\/re-authenticate/);
  });

  it('A second factor that is turned on between the password and the session is required', async () => {
    const user = await foyer.addUser();
    let secret = '';
    // At this moment the password has been accepted and the session does not exist yet.
    const { verify } = foyer.deps.passwords;
    foyer.deps.passwords.verify = async (...given) => {
      const right = await verify(...given);
      if (right) secret = await giveTotp(foyer, user);
      return right;
    };
    const browser = foyer.browser();
    try {
      await browser.post('/sign-in', { username: user.email, password });
    } finally {
      foyer.deps.passwords.verify = verify;
    }
    expect((await findTotp(foyer.deps.database.db, foyer.deps.boxes.mfa, user.id))?.secret).toBe(secret);
    expect(await isSignedIn(browser)).toBe(false);
  });

  it('A client app’s token that came of a remembered device does not turn the second factor off', async () => {
    const { user, secret } = await memberWithTotp(foyer);
    const browser = foyer.browser();
    await toChallenge(browser, user);
    await show(browser, await appCode(foyer, secret), { rememberDevice: '1' });
    await browser.post('/logout');
    const token = await tokenIn(browser, user);
    const calls = { preferredMFA: { preferredMFA: 'NOMFA' }, setupTOTP: {}, changeEmail: { email: fresh().email } };
    for (const [name, body] of Object.entries(calls)) {
      const answer = await byToken(token, name, body);
      expect([name, answer.status]).toEqual([name, 401]);
      expect(answer.headers.get('www-authenticate')).toContain('insufficient_user_authentication');
    }
  });

  it('A session by the password alone does not turn off the second factor that the user turned on later', async () => {
    const user = await foyer.addUser();
    const thief = await foyer.signedIn(user);
    const token = await tokenIn(thief, user);
    const member = await foyer.signedIn(user);
    await enrol(foyer, member);
    for (const path of ['/settings/mfa', '/settings/recovery-codes', '/settings/passkeys/add', '/settings/email']) {
      const answer = await thief.post(path, { method: 'none', enabled: '0', email: fresh().email });
      const asked = `/re-authenticate?redirect=${encodeURIComponent(path)}`;
      expect([path, answer.headers.get('location')]).toEqual([path, asked]);
    }
    expect((await thief.postJson('/identity/preferredMFA', { preferredMFA: 'NOMFA' })).status).toBe(401);
    expect((await byToken(token, 'preferredMFA', { preferredMFA: 'NOMFA' })).status).toBe(401);
    // A session with a recent second factor may turn it off.
    expect((await member.get('/settings/mfa')).status).toBe(200);
  });
});

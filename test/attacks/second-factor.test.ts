import { findTotp, forgetRememberedDevices } from '../../server/mfa/index.ts';
import type { User } from '../../server/users/index.ts';
import { fresh, phoneTo } from '../contact/steps.ts';
import { reset } from '../password/steps.ts';
import { enrol } from '../settings/mfa-steps.ts';
import {
  appCode,
  giveRecoveryCodes,
  giveTotp,
  isSignedIn,
  memberWithSms,
  memberWithTotp,
  otherThan,
  show,
  signInWithTotp,
  stepMs,
  textedCode,
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

  const locations = (answers: Response[]) => answers.map((answer) => answer.headers.get('location') ?? answer.status);
  const over = '/?notice=second-factor-over';

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
    // The library's own address to go on at knows no more.
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

  it('A challenge of another browser or a made-up id opens nothing', async () => {
    const { user, secret } = await memberWithTotp(foyer);
    const [victim, attacker] = [foyer.browser(), foyer.browser()];
    await toChallenge(victim, user);
    const code = await appCode(foyer, secret);
    expect((await show(attacker, code)).headers.get('location')).toBe(over);
    for (const id of ['x', '.'.repeat(43), 'A'.repeat(43), 'a'.repeat(4_000)]) {
      await attacker.jar.setCookie(`foyer_challenge=${id}`, foyer.url);
      expect((await show(attacker, code)).headers.get('location')).toBe(over);
    }
    // Nothing of that has used the code up.
    expect((await show(victim, code)).status).toBe(303);
    expect(await isSignedIn(attacker)).toBe(false);
  });

  it('A code of one user does not answer another user’s challenge', async () => {
    const [ada, ben] = [await memberWithTotp(foyer), await memberWithTotp(foyer)];
    const browser = foyer.browser();
    await toChallenge(browser, ben.user);
    expect((await show(browser, await appCode(foyer, ada.secret))).status).toBe(400);
    const [code = ''] = await giveRecoveryCodes(foyer, ada.user);
    expect((await show(browser, code, { method: 'recovery' })).status).toBe(400);
    expect(await isSignedIn(browser)).toBe(false);
  });

  it('A session or challenge id from before the sign-in leads to no session afterwards (session fixation)', async () => {
    const [{ user, secret }, attacker] = [await memberWithTotp(foyer), await foyer.addUser()];
    const theirs = await foyer.signedIn(attacker);
    const planted = (await theirs.cookies()).foyer_session ?? '';
    const attackersChallenge = foyer.browser();
    await toChallenge(attackersChallenge, user);
    const known = (await attackersChallenge.cookies()).foyer_challenge ?? '';

    const victim = foyer.browser();
    await victim.jar.setCookie(`foyer_session=${planted}`, foyer.url);
    await victim.jar.setCookie(`foyer_challenge=${known}`, foyer.url);
    await toChallenge(victim, user);
    expect((await victim.cookies()).foyer_challenge).not.toBe(known);
    expect((await show(victim, await appCode(foyer, secret))).status).toBe(303);
    expect((await victim.cookies()).foyer_session).not.toBe(planted);
    // Whoever planted them has neither the member's session nor a challenge that could still be answered.
    const home = await (await theirs.get('/settings')).text();
    expect(home).not.toContain(user.email);
    expect((await attackersChallenge.get('/second-factor')).headers.get('location')).toBe(over);
  });

  it('A victim with a planted challenge of the attacker signs in to the own account or not at all', async () => {
    const [victim, attacker] = [await memberWithTotp(foyer), await memberWithTotp(foyer)];
    const theirs = foyer.browser();
    await toChallenge(theirs, attacker.user);
    const browser = foyer.browser();
    await browser.jar.setCookie(`foyer_challenge=${(await theirs.cookies()).foyer_challenge}`, foyer.url);
    await toChallenge(browser, victim.user);
    await show(browser, await appCode(foyer, victim.secret));
    expect(await (await browser.get('/settings')).text()).toContain(victim.user.email);
  });

  it('Five recovery codes sent at once for one challenge use up one code and start one session', async () => {
    const { user } = await memberWithTotp(foyer);
    const codes = await giveRecoveryCodes(foyer, user);
    const browser = foyer.browser();
    await toChallenge(browser, user);
    await Promise.all(codes.slice(0, 5).map((code) => show(browser, code, { method: 'recovery' })));
    const used = await foyer.deps.database.db
      .selectFrom('recovery_codes')
      .select('id')
      .where('user_id', '=', user.id)
      .where('used_at', 'is not', null)
      .execute();
    expect(used).toHaveLength(1);
    const mails = (await foyer.mails(user.email)).filter(({ template }) => template === 'recovery-code-used');
    expect(mails).toHaveLength(1);
    expect(await foyer.app.oauth.sessions.list(user.id)).toHaveLength(1);
  });

  it('One recovery code sent at once to five challenges starts one session', async () => {
    const { user } = await memberWithTotp(foyer);
    const [code = ''] = await giveRecoveryCodes(foyer, user);
    const browsers = Array.from({ length: 5 }, () => foyer.browser());
    for (const browser of browsers) await toChallenge(browser, user);
    await Promise.all(browsers.map((browser) => show(browser, code, { method: 'recovery' })));
    expect(await foyer.app.oauth.sessions.list(user.id)).toHaveLength(1);
  });

  it('A wrong recovery code leaves the challenge and the codes as they are', async () => {
    const { user } = await memberWithTotp(foyer);
    const [code = '', other = ''] = await giveRecoveryCodes(foyer, user);
    const browser = foyer.browser();
    await toChallenge(browser, user);
    const wrong = other.startsWith('A') ? `B${other.slice(1)}` : `A${other.slice(1)}`;
    expect((await show(browser, wrong, { method: 'recovery' })).status).toBe(400);
    expect((await show(browser, code, { method: 'recovery' })).status).toBe(303);
    expect(await isSignedIn(browser)).toBe(true);
  });

  it('Of 50 uses of one TOTP code at once one succeeds (replay)', async () => {
    const { user, secret } = await memberWithTotp(foyer);
    const browsers = Array.from({ length: 50 }, () => foyer.browser());
    for (const browser of browsers) await toChallenge(browser, user);
    const code = await appCode(foyer, secret);
    const answers = await Promise.all(browsers.map((browser) => show(browser, code)));
    const signedIn = await Promise.all(browsers.map(isSignedIn));
    expect(signedIn.filter(Boolean)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
  });

  it('One challenge that is answered 20 times at once starts one session', async () => {
    const { user, secret } = await memberWithTotp(foyer);
    const browser = foyer.browser();
    await toChallenge(browser, user);
    const [code, cookie] = [await appCode(foyer, secret), (await browser.cookies()).foyer_challenge ?? ''];
    const copies = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const copy = foyer.browser();
        await copy.jar.setCookie(`foyer_challenge=${cookie}`, foyer.url);
        return copy;
      }),
    );
    await Promise.all(copies.map((copy) => show(copy, code)));
    expect((await Promise.all(copies.map(isSignedIn))).filter(Boolean)).toHaveLength(1);
  });

  it('One recovery code sent from several browsers at once signs in one of them', async () => {
    const { user } = await memberWithTotp(foyer);
    const [code = ''] = await giveRecoveryCodes(foyer, user);
    const browsers = Array.from({ length: 10 }, () => foyer.browser());
    for (const browser of browsers) await toChallenge(browser, user);
    await Promise.all(browsers.map((browser) => show(browser, code, { method: 'recovery' })));
    expect((await Promise.all(browsers.map(isSignedIn))).filter(Boolean)).toHaveLength(1);
  });

  it('Five wrong codes end a challenge, and the right sixth code is refused', async () => {
    const { user, secret } = await memberWithTotp(foyer);
    const browser = foyer.browser();
    await toChallenge(browser, user);
    const code = await appCode(foyer, secret);
    const answers: Response[] = [];
    for (let n = 1; n <= 5; n += 1) answers.push(await show(browser, otherThan(code, n * 1_000)));
    expect(locations(answers)).toEqual([400, 400, 400, 400, over]);
    expect((await show(browser, code)).headers.get('location')).toBe(over);
    expect(await isSignedIn(browser)).toBe(false);
  });

  it('An expired challenge is refused', async () => {
    const { user, secret } = await memberWithTotp(foyer);
    const browser = foyer.browser();
    await toChallenge(browser, user);
    foyer.passTime(10 * minuteMs);
    expect((await show(browser, await appCode(foyer, secret))).headers.get('location')).toBe(over);
    expect(await isSignedIn(browser)).toBe(false);
  });

  it('A password reset voids the challenge and forgets remembered devices but does not remove the factor', async () => {
    const { user, secret } = await memberWithTotp(foyer);
    const [remembered, waiting] = [foyer.browser(), foyer.browser()];
    await toChallenge(remembered, user);
    await show(remembered, await appCode(foyer, secret), { rememberDevice: '1' });
    await toChallenge(waiting, user);
    const newPassword = await resetPassword(user.email);
    foyer.passTime(stepMs);
    expect((await show(waiting, await appCode(foyer, secret))).headers.get('location')).toBe(over);
    const again = await remembered.post('/sign-in', { username: user.email, password: newPassword });
    expect(again.headers.get('location')).toBe('/second-factor');
    expect((await show(remembered, await appCode(foyer, secret))).status).toBe(303);
  });

  async function resetPassword(email: string): Promise<string> {
    const chosen = 'another long phrase 5';
    await reset(foyer, foyer.browser(), email, chosen);
    return chosen;
  }

  it('An SMS code for one purpose, flow or user is refused for another', async () => {
    const [ada, ben] = [await memberWithSms(foyer), await memberWithSms(foyer)];
    const [one, other, third] = [foyer.browser(), foyer.browser(), foyer.browser()];
    await toChallenge(one, ada.user);
    const first = await textedCode(foyer, ada.phone);
    await toChallenge(other, ada.user);
    await toChallenge(third, ben.user);
    const [second, bens] = [await textedCode(foyer, ada.phone), await textedCode(foyer, ben.phone)];
    if (first !== second) expect((await show(other, first)).status).toBe(400);
    if (first !== bens) expect((await show(third, first)).status).toBe(400);
    expect((await show(one, first)).status).toBe(303);
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
    const [nobody, other] = [foyer.browser(), foyer.browser()];
    await signInWithTotp(foyer, other, ben.user, ben.secret);
    const code = await appCode(foyer, ada.secret);
    for (const visitor of [nobody, other]) {
      await visitor.jar.setCookie(`foyer_challenge=${cookie}`, foyer.url);
      await show(visitor, code);
    }
    expect(await isSignedIn(nobody)).toBe(false);
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
    // The moment between: the password has been found right, the session does not exist yet.
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

  it('A post from another site answers, changes and sends nothing', async () => {
    const { user, secret } = await memberWithTotp(foyer, { phone: '+4915119870001', phoneVerified: true });
    const browser = foyer.browser();
    await toChallenge(browser, user);
    const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    const code = await appCode(foyer, secret);
    expect((await browser.post('/second-factor', { code }, foreign)).status).toBe(403);
    expect((await browser.post('/second-factor', { act: 'use', method: 'sms' }, foreign)).status).toBe(403);
    expect((await browser.post('/re-authenticate', { password }, foreign)).status).toBe(403);
    expect(await foyer.texts('+4915119870001')).toEqual([]);
    expect((await show(browser, code)).status).toBe(303);
  });

  it('A code sent to a stolen phone is refused once the user has another number', async () => {
    const { user, phone } = await memberWithSms(foyer);
    const [member, thief] = [foyer.browser(), foyer.browser()];
    await toChallenge(member, user);
    await show(member, await textedCode(foyer, phone));
    await toChallenge(thief, user);
    const code = await textedCode(foyer, phone);
    await phoneTo(foyer, member, fresh().phone);
    expect((await show(thief, code)).status).toBe(400);
    expect(await isSignedIn(thief)).toBe(false);
  });

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
    // Whoever has just shown the factor goes on.
    expect((await member.get('/settings/mfa')).status).toBe(200);
  });
});

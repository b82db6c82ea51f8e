import { countRecoveryCodes } from '../../server/mfa/index.ts';
import { setDisabled, setMfaPreference } from '../../server/users/index.ts';
import { read } from '../password/steps.ts';
import { codeFor } from '../sign-up/steps.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { relyingParty, store } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';
import {
  appCode,
  endSmsWait,
  giveRecoveryCodes,
  isSignedIn,
  memberWithSms,
  memberWithTotp,
  otherThan,
  show,
  signInWithTotp,
  stepMs,
  textedCode,
  toChallenge,
} from './factor-steps.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

describe.each(backends)('the second step of a sign-in on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  const page = async (browser: Browser, search = '') => read(await browser.get(`/second-factor${search}`));
  const sessionOf = async (browser: Browser) => (await browser.cookies()).foyer_session;

  describe('with an authenticator app', () => {
    it('The password leads to the second step without a session, and the code gives the session', async () => {
      const { user, secret } = await memberWithTotp(foyer);
      const browser = foyer.browser();
      const answer = await toChallenge(browser, user);
      expect(answer.headers.get('location')).toBe('/second-factor');
      expect(await sessionOf(browser)).toBeUndefined();
      const text = await page(browser);
      expect(text).toContain('Please type in the code displayed on your authenticator app from your device');
      // The last digit sends the form: the choice comes before the code.
      expect(text).toMatch(/Enter security code.*Don’t ask on this device.*Security code.*Confirm/);
      expect(text).not.toContain('code by text message');
      expect(await isSignedIn(browser)).toBe(false);

      const shown = await show(browser, await appCode(foyer, secret));
      expect(shown.status).toBe(303);
      expect(await isSignedIn(browser)).toBe(true);
      expect((await browser.cookies()).foyer_challenge).toBeUndefined();
      // After the back button a signed-in user is redirected.
      expect((await browser.get('/second-factor')).status).toBe(303);
    });

    it('A wrong code is refused as an invalid code, and the page can be used again', async () => {
      const { user, secret } = await memberWithTotp(foyer);
      const browser = foyer.browser();
      await toChallenge(browser, user);
      const code = await appCode(foyer, secret);
      const wrong = await show(browser, otherThan(code, 500_000), { rememberDevice: '1' });
      expect(wrong.status).toBe(400);
      const html = await wrong.text();
      expect(html).toContain('Invalid code');
      expect(html).toContain('check that your phone’s time is set automatically');
      expect(html).toMatch(/name="rememberDevice"[^>]*checked/);
      expect(html).not.toContain(otherThan(code, 500_000));
      const short = await show(browser, '123');
      expect(short.status).toBe(400);
      expect(await read(short)).toContain('Please enter all 6 digits.');
      expect((await show(browser, ` ${code.slice(0, 3)} ${code.slice(3)} `)).status).toBe(303);
    });

    it('The code of the previous time step is accepted, and that of two steps before is refused', async () => {
      const { user, secret } = await memberWithTotp(foyer);
      const browser = foyer.browser();
      await toChallenge(browser, user);
      // At the end of a time step the next one could start before the code is sent.
      foyer.passTime(stepMs - (foyer.deps.now() % stepMs));
      expect((await show(browser, await appCode(foyer, secret, -2 * stepMs))).status).toBe(400);
      expect((await show(browser, await appCode(foyer, secret, -stepMs))).status).toBe(303);
    });

    it('Attack: a code that has signed in once is refused as used', async () => {
      const { user, secret } = await memberWithTotp(foyer);
      const code = await appCode(foyer, secret);
      const [one, other] = [foyer.browser(), foyer.browser()];
      await toChallenge(one, user);
      expect((await show(one, code)).status).toBe(303);
      await toChallenge(other, user);
      const again = await show(other, code);
      expect(again.status).toBe(400);
      const page = await read(again);
      expect(page).toContain('This code has been used already');
      // One message, at the field.
      expect(page).not.toContain('Invalid code');
      expect((await show(other, await appCode(foyer, secret, stepMs))).status).toBe(303);
    });

    it('Return address and Remember Me are kept, and the client gets a code and an id token with mfa in amr', async () => {
      const { user, secret } = await memberWithTotp(foyer);
      const client = await relyingParty(foyer, await foyer.addClient());
      const begun = await client.begin();
      const browser = foyer.browser();
      const landing = new URL(
        (await browser.get(begun.url, { from: 'cross-site' })).headers.get('location') ?? '',
        foyer.url,
      );
      await toChallenge(browser, user, landing.search, { remember: '1' });
      const shown = await show(browser, await appCode(foyer, secret), {}, landing.search);
      const verify = shown.headers.get('location') ?? '';
      expect(verify).toMatch(/^\/verify-user\?.*authorization_code=/);
      const tokens = await client.redeem(
        locationOf(await browser.get(await store(browser, new URL(verify, foyer.url).href))),
        begun,
      );
      expect(tokens.claims()).toMatchObject({ sub: user.id, amr: ['pwd', 'otp', 'mfa'] });
      const cookie = (await browser.jar.getCookies(foyer.url)).find(({ key }) => key === 'foyer_session');
      expect(cookie?.expires).toBeInstanceOf(Date);
    });

    it('A second step without the address uses the return address of the sign-in', async () => {
      const { user, secret } = await memberWithTotp(foyer);
      const browser = foyer.browser();
      await toChallenge(browser, user, '?redirect=/tos');
      const shown = await show(browser, await appCode(foyer, secret));
      expect(shown.headers.get('location')).toBe(`${foyer.url}/tos`);
    });

    it('Closing the second step returns to the sign-in, and the challenge is no longer valid', async () => {
      const { user, secret } = await memberWithTotp(foyer);
      const browser = foyer.browser();
      await toChallenge(browser, user, '?redirect=/tos');
      const challenge = (await browser.cookies()).foyer_challenge ?? '';
      const closed = await browser.post('/second-factor?redirect=/tos', { act: 'cancel' });
      expect(closed.headers.get('location')).toBe('/?redirect=%2Ftos');
      await browser.jar.setCookie(`foyer_challenge=${challenge}`, foyer.url);
      const late = await show(browser, await appCode(foyer, secret));
      expect(late.headers.get('location')).toBe('/#second-factor-over');
      expect(await read(await browser.get('/#second-factor-over'))).toContain('Your sign-in took too long');
    });
  });

  describe('with a text message', () => {
    it('A code arrives on the phone, names this site and signs the user in', async () => {
      const { user, phone } = await memberWithSms(foyer);
      const browser = foyer.browser();
      await toChallenge(browser, user);
      const text = await page(browser);
      expect(text).toContain('We have sent a code to your phone');
      expect(text).toContain(`${phone.slice(0, 3)}…${phone.slice(-2)}`);
      expect(text).not.toContain(phone);
      const code = await textedCode(foyer, phone);
      expect((await foyer.texts(phone)).at(-1)).toMatch(new RegExp(`\n@localhost #${code}$`));
      expect((await show(browser, otherThan(code))).status).toBe(400);
      expect((await show(browser, code)).status).toBe(303);
      expect(await isSignedIn(browser)).toBe(true);
    });

    it('A resend must wait and then invalidates the previous code', async () => {
      const { user, phone } = await memberWithSms(foyer);
      const browser = foyer.browser();
      await toChallenge(browser, user);
      const first = await textedCode(foyer, phone);
      const early = await browser.post('/second-factor', { act: 'resend' });
      expect(early.status).toBe(429);
      expect(Number(early.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await read(early)).toContain('Sending failed');
      expect(await foyer.texts(phone)).toHaveLength(1);

      await endSmsWait(foyer, (await browser.cookies()).foyer_challenge ?? '');
      const resent = await browser.post('/second-factor', { act: 'resend' });
      expect(resent.headers.get('location')).toBe('/second-factor');
      expect(await page(browser)).toContain('A new code is on its way.');
      const second = await textedCode(foyer, phone);
      if (first !== second) expect((await show(browser, first)).status).toBe(400);
      expect((await show(browser, second)).status).toBe(303);
    });

    it('When no message can be sent the page says so, and the other methods are available', async () => {
      const { user, phone } = await memberWithSms(foyer);
      await foyer.deps.kv.consumeCount(`sms:member:proven:${user.id}`, dayMs, 1_000);
      const codes = await giveRecoveryCodes(foyer, user);
      const browser = foyer.browser();
      await toChallenge(browser, user);
      expect(await page(browser)).toContain('No code could be sent to your phone.');
      expect(await foyer.texts(phone)).toEqual([]);
      await browser.post('/second-factor', { act: 'use', method: 'recovery' });
      expect((await show(browser, codes[0] ?? '')).status).toBe(303);
    });
  });

  it('A user can change the method from the app to the phone and back', async () => {
    const { user, secret } = await memberWithTotp(foyer, { phone: '+4915119876501', phoneVerified: true });
    const browser = foyer.browser();
    await toChallenge(browser, user);
    expect(await foyer.texts('+4915119876501')).toEqual([]);
    const used = await browser.post('/second-factor', { act: 'use', method: 'sms' });
    expect(used.headers.get('location')).toBe('/second-factor');
    expect(await page(browser)).toContain('We have sent a code to your phone');
    const texted = await textedCode(foyer, '+4915119876501');
    await browser.post('/second-factor', { act: 'use', method: 'totp' });
    // The form names the method of its code.
    expect((await show(browser, texted, { method: 'totp' })).status).toBe(400);
    expect((await show(browser, await appCode(foyer, secret), { method: 'totp' })).status).toBe(303);
    expect((await foyer.texts('+4915119876501')).length).toBe(1);
  });

  it('A method that the user does not have is refused', async () => {
    const { user } = await memberWithTotp(foyer);
    const browser = foyer.browser();
    await toChallenge(browser, user);
    expect((await browser.post('/second-factor', { act: 'use', method: 'sms' })).status).toBe(400);
    expect((await browser.post('/second-factor', { act: 'resend' })).status).toBe(400);
    expect((await browser.post('/second-factor', { act: 'nonsense' })).status).toBe(400);
    expect((await show(browser, '123456', { method: 'sms' })).status).toBe(400);
  });

  it('A recovery code signs in once, and the user gets a mail about it', async () => {
    const { user } = await memberWithTotp(foyer);
    const [code = '', other = ''] = await giveRecoveryCodes(foyer, user);
    const browser = foyer.browser();
    await toChallenge(browser, user);
    await browser.post('/second-factor', { act: 'use', method: 'recovery' });
    const asked = await (await browser.get('/second-factor')).text();
    expect(asked).toMatch(/<h1[^>]*>Enter recovery code<\/h1>.*Each works once\./s);
    // In the same place as at the codes whose last digit sends their form.
    expect(asked).toMatch(/name="rememberDevice".*name="code".*Confirm/s);
    expect(await read(await show(browser, 'ABCD'))).toContain('Please enter all 16 letters and digits.');
    expect((await show(browser, code.toLowerCase().replaceAll('-', ' '))).status).toBe(303);
    expect(await isSignedIn(browser)).toBe(true);
    expect((await countRecoveryCodes(foyer.deps.database.db, user.id)).left).toBe(9);
    const mail = (await foyer.mails(user.email)).find(({ template }) => template === 'recovery-code-used');
    expect(mail?.values).toMatchObject({ left: 9 });
    expect(mail?.text).not.toContain(code);

    const again = foyer.browser();
    await toChallenge(again, user);
    expect((await show(again, code, { method: 'recovery' })).status).toBe(400);
    expect((await show(again, other, { method: 'recovery' })).status).toBe(303);
  });

  it('An address that is confirmed at the sign-in still leads to the second step', async () => {
    const { user, secret } = await memberWithTotp(foyer, { emailVerified: false });
    const browser = foyer.browser();
    const answer = await browser.post('/sign-in', { username: user.email, password });
    expect(answer.headers.get('location')).toBe('/verify-code');
    const confirmed = await browser.post('/verify-code', { code: await codeFor(foyer, user.email) });
    expect(confirmed.headers.get('location')).toBe('/second-factor');
    expect(await isSignedIn(browser)).toBe(false);
    expect((await show(browser, await appCode(foyer, secret))).status).toBe(303);
    expect(await isSignedIn(browser)).toBe(true);
  });

  it('Terms that must be accepted come after the second step', async () => {
    const { user, secret } = await memberWithTotp(foyer, { acceptedTosVersion: null });
    const browser = foyer.browser();
    const answer = await signInWithTotp(foyer, browser, user, secret);
    expect(answer.headers.get('location')).toMatch(/^\/tos\?/);
  });

  it('A user who turned the second factor off during the challenge signs in again without it', async () => {
    const { user, secret } = await memberWithTotp(foyer);
    const browser = foyer.browser();
    await toChallenge(browser, user);
    await foyer.deps.database.transaction((trx) =>
      setMfaPreference(trx, user.id, { preference: 'none', nowMs: foyer.deps.now() }),
    );
    expect((await show(browser, await appCode(foyer, secret))).headers.get('location')).toBe('/#second-factor-over');
    expect((await browser.post('/sign-in', { username: user.email, password })).headers.get('location')).not.toContain(
      'second-factor',
    );
  });

  it('A user who is disabled during the challenge does not get in', async () => {
    const { user, secret } = await memberWithTotp(foyer);
    const browser = foyer.browser();
    await toChallenge(browser, user);
    await setDisabled(foyer.deps.database.db, user.id, { disabledAt: foyer.deps.now(), nowMs: foyer.deps.now() });
    expect((await show(browser, await appCode(foyer, secret))).headers.get('location')).toBe('/#second-factor-over');
    expect(await isSignedIn(browser)).toBe(false);
  });
});

import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';
import { appCode, isSignedIn, memberWithTotp, show, signInWithTotp, stepMs, toChallenge } from './factor-steps.ts';

describe.each(backends)('a remembered device on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  it('A device that the user chose to remember is not asked for 30 days, but another browser is', async () => {
    const { user, secret } = await memberWithTotp(foyer);
    const browser = foyer.browser();
    await toChallenge(browser, user);
    await show(browser, await appCode(foyer, secret), { rememberDevice: '1' });
    const cookie = (await browser.jar.getCookies(foyer.url)).find(({ key }) => key === 'foyer_remembered');
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'lax', path: '/' });
    await browser.post('/logout');
    const answer = await browser.post('/sign-in', { username: user.email, password });
    expect(answer.headers.get('location')).not.toContain('second-factor');
    expect(await isSignedIn(browser)).toBe(true);
    await toChallenge(foyer.browser(), user);
  });

  it('A remembered device cannot change sign-in methods before the second factor is shown, and stays signed in then', async () => {
    const { user, secret } = await memberWithTotp(foyer);
    const browser = foyer.browser();
    await toChallenge(browser, user);
    await show(browser, await appCode(foyer, secret), { rememberDevice: '1' });
    await browser.post('/logout');
    await browser.post('/sign-in', { username: user.email, password });
    const off = await browser.postJson('/identity/preferredMFA', { preferredMFA: 'NOMFA' });
    expect(off.status).toBe(401);
    for (const path of ['/settings/mfa', '/settings/password', '/settings/passkeys/add', '/settings/recovery-codes']) {
      const answer = await browser.get(path);
      expect({ path, location: answer.headers.get('location') }).toEqual({
        path,
        location: expect.stringMatching(/^\/re-authenticate/),
      });
    }
    foyer.passTime(stepMs);
    await browser.post('/re-authenticate', { password });
    await show(browser, await appCode(foyer, secret));
    expect((await browser.get('/settings/mfa')).status).toBe(200);
    const chosen = 'another long phrase 8';
    const changed = await browser.post('/settings/password', { old_password: password, new_password: chosen });
    expect(changed.headers.get('location')).toMatch(/^\/settings#/);
    expect(await isSignedIn(browser)).toBe(true);
    // The device was remembered under the old password.
    await browser.post('/logout');
    const again = await browser.post('/sign-in', { username: user.email, password: chosen });
    expect(again.headers.get('location')).toBe('/second-factor');
  });

  it('A device that was not remembered is asked each time', async () => {
    const { user, secret } = await memberWithTotp(foyer);
    const browser = foyer.browser();
    await signInWithTotp(foyer, browser, user, secret);
    await browser.post('/logout');
    await toChallenge(browser, user);
  });

  it('A remembered device counts for its user alone, and two users can share a browser', async () => {
    const [ada, ben] = [await memberWithTotp(foyer), await memberWithTotp(foyer)];
    const browser = foyer.browser();
    for (const { user, secret } of [ada, ben]) {
      await toChallenge(browser, user);
      await show(browser, await appCode(foyer, secret), { rememberDevice: '1' });
      await browser.post('/logout');
    }
    for (const { user } of [ada, ben]) {
      expect(
        (await browser.post('/sign-in', { username: user.email, password })).headers.get('location'),
      ).not.toContain('second-factor');
      await browser.post('/logout');
    }
  });
});

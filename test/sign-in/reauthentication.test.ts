import { read } from '../password/steps.ts';
import type { Browser } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';
import { appCode, isSignedIn, memberWithTotp, show, stepMs, toChallenge } from './factor-steps.ts';

const minuteMs = 60_000;

describe.each(backends)('reauthentication before a change of sign-in methods on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  const sessionOf = async (browser: Browser) => (await browser.cookies()).foyer_session;

  const path = '/re-authenticate?redirect=/settings/password';

  it('Reauthentication asks for password and second factor, also on a remembered device', async () => {
    const { user, secret } = await memberWithTotp(foyer);
    const browser = foyer.browser();
    await toChallenge(browser, user);
    await show(browser, await appCode(foyer, secret), { rememberDevice: '1' });
    const before = await sessionOf(browser);
    const text = await read(await browser.get(path));
    expect(text).toContain('Confirm it’s you');
    const wrong = await browser.post(path, { password: 'not the password' });
    expect(wrong.status).toBe(400);
    expect(await read(wrong)).toContain('Incorrect password.');
    expect((await browser.post(path, { password: '' })).status).toBe(400);

    foyer.passTime(stepMs);
    const right = await browser.post(path, { password });
    expect(right.headers.get('location')).toBe('/second-factor?redirect=%2Fsettings%2Fpassword');
    expect(await sessionOf(browser)).toBe(before);
    const code = await appCode(foyer, secret);
    const shown = await show(browser, code, {}, '?redirect=/settings/password');
    expect(shown.headers.get('location')).toBe(`${foyer.url}/settings/password`);
    expect(await sessionOf(browser)).not.toBe(before);
    expect(await isSignedIn(browser)).toBe(true);
  });

  it('Reauthentication renews a sign-in that was too old and returns to the page', async () => {
    const user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    foyer.passTime(11 * minuteMs);
    const late = await browser.get('/settings/mfa');
    expect(late.headers.get('location')).toBe(`/re-authenticate?redirect=${encodeURIComponent('/settings/mfa')}`);
    const again = await browser.post(late.headers.get('location') ?? '', { password });
    expect(again.headers.get('location')).toBe(`${foyer.url}/settings/mfa`);
    expect((await browser.get('/settings/mfa')).status).toBe(200);
  });

  it('A visitor without a session is led to the sign-in instead', async () => {
    const browser = foyer.browser();
    const query = new URLSearchParams({ redirect: `${foyer.url}/settings/password` });
    expect((await browser.get(path)).headers.get('location')).toContain(`${query}`);
    expect((await browser.post(path, { password })).headers.get('location')).toContain(`${query}`);
  });

  it('Attack: reauthentication leads to the settings by default, never to another site', async () => {
    const browser = await foyer.signedIn(await foyer.addUser());
    for (const address of ['/re-authenticate', '/re-authenticate?redirect=https://evil.example/']) {
      const answer = await browser.post(address, { password });
      expect(answer.headers.get('location')).toBe(`${foyer.url}/settings`);
    }
  });

  it('Attack: guesses at the password during reauthentication count as those at the sign-in', async () => {
    const user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    const statuses: number[] = [];
    for (let n = 0; n < 22; n += 1) statuses.push((await browser.post(path, { password: `guess ${n}` })).status);
    expect(statuses.filter((status) => status === 400)).toHaveLength(20);
    expect(statuses.slice(20)).toEqual([429, 429]);
    const late = await browser.post(path, { password });
    expect(late.status).toBe(429);
    expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});

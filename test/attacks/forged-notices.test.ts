import type { User } from '../../server/users/index.ts';
import type { Browser } from '../support/browser.ts';
import { locationOf } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';

const names = [
  'password:reset',
  'password-reset',
  'second-factor-over',
  'settings:password',
  'password',
  'name',
  'terms:accepted',
  'account:linked',
  'reset-code:sent',
  'confirmed',
  'moved',
  'connected-apps:removed',
  'removed',
  'passkeys:added',
  'added',
  'email:expired',
  'gone',
];
const notices = /class="(?:notice|passing|snackbar)[ "]/;

describe('forged notices', () => {
  let foyer: TestFoyer;
  let user: User;
  let member: Browser;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
    user = await foyer.addUser();
    member = await foyer.signedIn(user);
  });
  afterAll(() => foyer.close());

  const rename = (browser: Browser) => browser.post('/settings/name', { given_name: 'Vera', family_name: 'Fyfe' });
  const shows = async (browser: Browser, path: string, headers?: Record<string, string>) =>
    notices.test(await (await browser.get(path, headers && { headers })).text());

  it.each(['/', '/signup', '/forgot-password', '/reset-password', '/tos'])(
    'Attack: a link to %s with a notice shows a visitor none',
    async (path) => {
      const plain = await shows(foyer.browser(), path);
      for (const name of names) {
        const address = `${path}?notice=${encodeURIComponent(name)}&accepted=1&username=${user.email}`;
        expect([name, await shows(foyer.browser(), address)]).toEqual([name, plain]);
      }
    },
  );

  it.each(['/settings', '/settings/passkeys', '/settings/apps', '/settings/password', '/settings/email', '/tos'])(
    'Attack: a link to %s with a notice shows a member none',
    async (path) => {
      // A form has a hidden one for the case that it cannot be sent.
      const plain = await shows(member, path);
      for (const name of names) {
        const address = `${path}?notice=${encodeURIComponent(name)}&accepted=1`;
        expect([name, await shows(member, address)]).toEqual([name, plain]);
      }
    },
  );

  it('Attack: a return address with a notice shows none after the sign-in', async () => {
    const browser = foyer.browser();
    const to = encodeURIComponent('/settings?notice=settings:password');
    const answer = await browser.post(`/sign-in?redirect=${to}`, { username: user.email, password });
    expect(await shows(browser, locationOf(answer))).toBe(false);
  });

  it('Attack: a notice in a cookie that Foyer has not sealed shows none', async () => {
    for (const value of ['settings:password', JSON.stringify({ name: 'settings:password', untilMs: 9e15 })]) {
      const browser = await foyer.signedIn(user);
      await browser.jar.setCookie(`foyer_notice=${encodeURIComponent(value)}; Path=/`, foyer.url);
      expect(await shows(browser, '/settings')).toBe(false);
    }
  });

  it('A notice is shown once, by its page, and its address does not name it', async () => {
    const address = locationOf(await rename(member));
    expect(new URL(address).search).toBe('');
    // It is for another page.
    expect(await shows(member, '/settings/passkeys')).toBe(false);
    expect(await shows(member, '/settings')).toBe(true);
    expect(await shows(member, '/settings')).toBe(false);
  });

  it('A page that is fetched ahead does not use a notice up', async () => {
    await rename(member);
    expect(await shows(member, '/settings', { 'sec-purpose': 'prefetch' })).toBe(false);
    expect(await shows(member, '/settings', { 'foyer-part': 'ahead' })).toBe(false);
    await member.request('/settings', { method: 'HEAD' });
    expect(await shows(member, '/settings')).toBe(true);
  });

  it('A notice that its page does not show within two minutes is never shown', async () => {
    await rename(member);
    const kept = (await member.cookies()).foyer_notice ?? '';
    foyer.passTime(3 * 60_000);
    await member.jar.setCookie(`foyer_notice=${kept}; Path=/`, foyer.url);
    expect(await shows(member, '/settings')).toBe(false);
  });

  it('An acceptance of the terms is announced on the next page, whichever it is', async () => {
    const browser = await foyer.signedIn(await foyer.addUser({ acceptedTosVersion: null }));
    const version = String(foyer.deps.terms.number);
    await browser.post('/tos?redirect=%2Fsettings', { decision: 'accept', version });
    const page = await (await browser.get('/settings')).text();
    expect(page).toContain('You’ve accepted the Terms of Service.');
    expect(page).toContain('&quot;durationMs&quot;:5000');
    expect(await shows(browser, '/settings')).toBe(false);
  });
});

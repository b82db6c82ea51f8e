import { type Browser, locationOf } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toSealedText } from '../support/ids.ts';
import { backends } from '../support/stores.ts';

const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };

describe.each(backends)('a form of the settings that was sent after a sign-out elsewhere, on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  const forms = [
    ['/settings/name', { given_name: 'Verena', family_name: 'Fyfe' }],
    ['/settings/profile', { given_name: 'Verena', nickname: 'x', company: 'Brook & Co' }],
    ['/settings/email', { email: 'verena@example.com' }],
    ['/settings/phone', { phone_number: '+31612345678' }],
  ] as const;

  /** A member whose other browser has ended this one's session. */
  async function signedOutMember(path: string) {
    const user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    await browser.get(path);
    await (await foyer.signedIn(user)).post('/settings/devices/sign-out-others');
    return { user, browser };
  }
  const signIn = (browser: Browser, email: string, path: string) =>
    browser.post(`/sign-in?${new URLSearchParams({ redirect: path })}`, { username: email, password });
  const bodyOf = async (browser: Browser, path: string) =>
    (await (await browser.get(path)).text()).replaceAll('&amp;', '&');

  it.each(forms)('%s shows the input after the new sign-in, once, and nothing was saved', async (path, typed) => {
    const { user, browser } = await signedOutMember(path);
    const refused = new URL(locationOf(await browser.post(path, typed)));
    expect([refused.pathname, refused.searchParams.get('redirect')]).toEqual(['/', path]);
    expect(locationOf(await signIn(browser, user.email, path))).toBe(foyer.url + path);
    const html = await bodyOf(browser, path);
    const shown = Object.entries(typed).filter(([name]) => html.includes(`name="${name}"`));
    expect(shown.length).toBeGreaterThan(0);
    for (const [name, text] of shown) expect([name, html.includes(`value="${text}"`)]).toEqual([name, true]);
    const again = await bodyOf(browser, path);
    for (const [name, text] of shown.slice(-1))
      expect([name, again.includes(`value="${text}"`)]).toEqual([name, false]);
  });

  it('Attack: another user who signs in with the same browser does not see the input, nor does the first one later', async () => {
    const { user, browser } = await signedOutMember('/settings/email');
    await browser.post('/settings/email', { email: 'verena@example.com' });
    const other = await foyer.addUser();
    await signIn(browser, other.email, '/settings/email');
    expect(await bodyOf(browser, '/settings/email')).not.toContain('verena@example.com');
    await browser.post('/logout');
    await signIn(browser, user.email, '/settings/email');
    expect(await bodyOf(browser, '/settings/email')).not.toContain('verena@example.com');
  });

  it('Attack: a form of another site, or of a browser without a sign-in before, leaves no input', async () => {
    const { user, browser } = await signedOutMember('/settings/name');
    const forged = await browser.post('/settings/name', { given_name: 'Mallory' }, foreign);
    expect(forged.status).toBe(403);
    await signIn(browser, user.email, '/settings/name');
    expect(await bodyOf(browser, '/settings/name')).not.toContain('Mallory');
    const stranger = foyer.browser();
    const answer = await stranger.post('/settings/name', { given_name: 'Mallory' });
    expect(answer.headers.getSetCookie().join()).not.toContain('foyer_draft');
  });

  it('Attack: no password is kept, whichever form it was in', async () => {
    const { user, browser } = await signedOutMember('/settings/password');
    const secrets = { old_password: 'an old secret 9', new_password: 'a new secret 9' };
    const answer = await browser.post('/settings/password', secrets);
    expect(answer.headers.getSetCookie().join()).not.toContain('foyer_draft');
    await browser.post('/settings/name', { ...secrets, given_name: 'Verena', family_name: 'Fyfe' });
    await signIn(browser, user.email, '/settings/name');
    const value = (await browser.cookies()).foyer_draft ?? '';
    const { typed } = JSON.parse(foyer.deps.boxes.contact.open(toSealedText(value), 'draft after a sign-out')) as {
      typed: object;
    };
    expect(Object.keys(typed)).toEqual(['given_name', 'family_name']);
  });

  it('The input is forgotten after ten minutes', async () => {
    const { user, browser } = await signedOutMember('/settings/name');
    await browser.post('/settings/name', { given_name: 'Verena', family_name: 'Fyfe' });
    foyer.passTime(11 * 60_000);
    await signIn(browser, user.email, '/settings/name');
    expect(await bodyOf(browser, '/settings/name')).not.toContain('Verena');
  });
});

import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';
import { errorOf, newAddress, profile, valueOfField } from './steps.ts';

describe('addresses that pages pass on', () => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend, { PREVENT_USER_EXISTENCE_ERRORS: 'false' });
  });
  afterAll(() => foyer?.close());

  const get = async (path: string) => (await foyer.browser().get(path)).text();

  it('An address with an account has links to sign-in and reset, which keep the address and the waiting request', async () => {
    const { email } = await foyer.addUser();
    const html = await (await foyer.browser().post('/signup?redirect=/settings', profile(email))).text();
    expect(errorOf(html, 'email')).toBe('Email address already registered');
    const links = [...html.matchAll(/<a href="([^"]*)">(?:Sign in|reset your password)<\/a>/g)].map(([, href = '']) =>
      href.replaceAll('&amp;', '&'),
    );
    const query = `redirect=%2Fsettings&email=${encodeURIComponent(email)}`;
    expect(links).toEqual(expect.arrayContaining([`/?${query}`, `/forgot-password?${query}`]));
    for (const link of [`/?${query}`, `/forgot-password?${query}`]) {
      expect([link, valueOfField(await get(link), 'username')]).toEqual([link, email]);
    }
  });

  it('Another error of the address has no such links', async () => {
    const html = await (await foyer.browser().post('/signup', profile('ida@'))).text();
    expect(html).not.toContain('reset your password');
    expect(errorOf(html, 'email')).toBe('Invalid email address');
  });

  it.each([
    '"><script>alert(1)</script>@example.com x',
    'Call +49 30 123 for help',
    'vera@example.com call us',
    'vera@example.com\u202emoc',
    `${'x'.repeat(300)}@example.com`,
    '@',
  ])('An attacker’s words in a link fill in no field: %s', async (email) => {
    for (const path of ['/', '/forgot-password']) {
      const html = await get(`${path}?${new URLSearchParams({ email })}`);
      expect([path, valueOfField(html, 'username') ?? '']).toEqual([path, '']);
    }
  });

  it('Markup in an address is text', async () => {
    const email = '"><b>@x.example';
    const html = await get(`/?${new URLSearchParams({ email })}`);
    expect(html).not.toContain('"><b>@');
  });

  it('An unknown number reads how to write it, and the old password is no new one', async () => {
    const unknown = await foyer.browser().post('/sign-in', { username: newAddress(), password: 'correct horse 9' });
    expect(await unknown.text()).toContain('User does not exist. Check the spelling, use the country code (+49 …)');
    const user = await foyer.addUser();
    const [browser, other] = [await foyer.signedIn(user), await foyer.signedIn(user)];
    const fields = { old_password: 'correct horse 9', new_password: 'correct horse 9' };
    const answer = await browser.post('/settings/password', fields);
    const html = await answer.text();
    expect([answer.status, errorOf(html, 'new_password')]).toEqual([400, 'Choose a password you aren’t using now.']);
    // Nothing has ended.
    expect((await other.get('/settings')).status).toBe(200);
  });
});

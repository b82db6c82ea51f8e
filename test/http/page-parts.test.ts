import { findUser, type User } from '../../server/users/index.ts';
import type { Browser } from '../support/browser.ts';
import { eachSignedInUser, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';

const part = { 'foyer-part': 'dialog' };
const ahead = { 'foyer-part': 'ahead' };
const dialogs = [
  'name',
  'email',
  'phone',
  'password',
  'profile',
  'data',
  'delete-account',
  'mfa/totp',
  'recovery-codes',
];

describe.each(backends)('the parts of pages for dialogs on $name', (backend) => {
  let foyer: TestFoyer;
  let user: User;
  let browser: Browser;
  eachSignedInUser(backend, {}, (setting) => {
    ({ foyer, user, browser } = setting);
  });

  it.each(dialogs)('/settings/%s: the part has the form and nothing of the page around it', async (name) => {
    const page = await (await browser.get(`/settings/${name}`)).text();
    const answer = await browser.get(`/settings/${name}`, { headers: part });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const html = await answer.text();
    expect(html).toContain('data-lift=""');
    expect(html).not.toMatch(/<html|<head>|<script|<header class="header|<footer|side-menu/);
    expect(page.length - html.length).toBeGreaterThan(4_000);
  });

  it('A refused form is answered at once with its errors, its status and no cookie', async () => {
    const answer = await browser.post('/settings/name', { given_name: '', family_name: '' }, part);
    expect(answer.status).toBe(400);
    const html = await answer.text();
    expect(html.match(/aria-invalid="true"/g)).toHaveLength(2);
    expect(html).not.toContain('<html');
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect(await findUser(foyer.deps.database.db, user.id)).toMatchObject({ givenName: user.givenName });
  });

  it('One answer names a wrong password and the fault of the new one', async () => {
    const answer = await browser.post('/settings/password', { old_password: 'wrong', new_password: 'short' }, part);
    expect((await answer.text()).match(/aria-invalid="true"/g)).toHaveLength(2);
    const page = await browser.post('/settings/password', { old_password: 'wrong', new_password: 'short' });
    expect((await page.text()).match(/aria-invalid="true"/g)).toHaveLength(2);
  });

  it('A form that is done names the next address in a header, and a page is redirected as ever', async () => {
    const typed = { given_name: 'Vera', family_name: 'Fyfe' };
    const answer = await browser.post('/settings/name', typed, part);
    expect([answer.status, answer.headers.get('foyer-location'), answer.headers.get('location')]).toEqual([
      204,
      '/settings#settings:name',
      null,
    ]);
    const redirected = await browser.post('/settings/name', typed);
    expect([redirected.status, redirected.headers.get('foyer-location')]).toEqual([303, null]);
  });

  it('Without a session the part names the sign-in, and a page without a part is empty', async () => {
    const stranger = foyer.browser();
    const answer = await stranger.get('/settings/name', { headers: part });
    expect([answer.status, answer.headers.get('foyer-location')]).toEqual([204, '/?redirect=%2Fsettings%2Fname']);
    const without = await browser.get('/settings/activity', { headers: part });
    expect([without.status, await without.text()]).toEqual([204, '']);
  });

  it('Attack: another site’s script asks for a part; nothing of it may be read, and its form is refused', async () => {
    const site = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    const asked = await browser.request('/settings/name', {
      method: 'OPTIONS',
      headers: { ...site, 'access-control-request-method': 'POST', 'access-control-request-headers': 'foyer-part' },
    });
    expect(asked.headers.get('access-control-allow-origin')).toBe(null);
    expect(asked.headers.get('access-control-allow-headers')).toBe(null);
    const sent = await browser.submit(
      '/settings/name',
      { given_name: 'Eve', family_name: 'Evil' },
      { ...site, ...part },
    );
    expect(sent.status).toBe(403);
    expect(await findUser(foyer.deps.database.db, user.id)).toMatchObject({ givenName: user.givenName });
  });

  it.each(dialogs)('/settings/%s, fetched ahead, changes nothing: no cookie, no row, no record', async (name) => {
    const before = await findUser(foyer.deps.database.db, user.id);
    const mails = await foyer.mails(user.email);
    const answer = await browser.get(`/settings/${name}`, { headers: ahead });
    expect(answer.status).toBe(200);
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect(await findUser(foyer.deps.database.db, user.id)).toEqual(before);
    expect(await foyer.mails(user.email)).toEqual(mails);
  });

  it('What a page shows once waits for the page when its part is fetched ahead', async () => {
    await browser.submit('/settings/name', { given_name: '', family_name: 'Fyfe' });
    await browser.get('/settings/name', { headers: ahead });
    const page = await (await browser.get('/settings/name')).text();
    expect(page).toContain('aria-invalid="true"');
  });
});

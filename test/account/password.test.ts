import { findUser, type User } from '../../server/users/index.ts';
import { signedInto } from '../api/callers.ts';
import { giveTotp, signInWithTotp } from '../sign-in/factor-steps.ts';
import type { Browser } from '../support/browser.ts';
import { eachSignedInUser, password, type TestFoyer } from '../support/foyer.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';

const newPassword = 'plenty of horses 7';
const path = '/settings/password';

describe.each(backends)('Change Password on $name', (backend) => {
  let foyer: TestFoyer;
  let user: User;
  let browser: Browser;
  eachSignedInUser(backend, { GUESS_LIMIT_ADDRESS: '1000' }, (setting) => {
    ({ foyer, user, browser } = setting);
  });

  const change = (old_password: string, new_password: string) => browser.post(path, { old_password, new_password });
  const signsIn = async (given: string) =>
    (await foyer.browser().post('/sign-in', { username: user.email, password: given })).status === 303;

  it('A password change keeps this browser signed in under a new session and ends every other session', async () => {
    const other = await foyer.signedIn(user);
    const before = await browser.cookies();
    const answer = await change(password, newPassword);
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toBe('/settings#settings:password');
    expect(await browser.cookies()).not.toEqual(before);
    const home = await browser.get('/settings#settings:password');
    expect(home.status).toBe(200);
    expect(await home.text()).toContain('Your password has been changed. All other devices have been signed out.');
    expect((await other.get('/settings')).status).toBe(303);
    expect([await signsIn(newPassword), await signsIn(password)]).toEqual([true, false]);
    const mails = await foyer.mails(user.email);
    expect(mails.map(({ template }) => template)).toContain('password-changed');
  });

  it('A password change revokes the tokens of clients', async () => {
    const signed = await signedInto(foyer, 'openid account');
    const info = () =>
      sendRequest(`${foyer.url}/user/info`, { headers: { authorization: `Bearer ${signed.tokens.access_token}` } });
    expect((await info()).status).toBe(200);
    const answer = await signed.browser.post(path, { old_password: password, new_password: newPassword });
    expect(answer.status).toBe(303);
    expect((await info()).status).toBe(401);
  });

  it.each([
    ['', '', ['Enter your current password.', 'Enter a new password.']],
    ['', newPassword, ['Enter your current password.']],
    [password, '', ['Enter a new password.']],
  ])('A password change needs both fields: %j and %j', async (old, fresh, texts) => {
    const answer = await change(old, fresh);
    expect(answer.status).toBe(400);
    const html = await answer.text();
    // CHANGE_PASSWORD_MESSAGE_EROR, for three seconds.
    expect(html).toMatch(/durationMs&quot;:3000.*Please enter both the old and the new password\./s);
    for (const text of texts) expect(html).toContain(text);
    expect(html.match(/aria-invalid="true"/g)).toHaveLength(texts.length);
    expect(await signsIn(password)).toBe(true);
  });

  it('A wrong old password and an unacceptable new one are refused and not shown again', async () => {
    const wrong = await (await change('not my password', newPassword)).text();
    expect(wrong).toContain('That’s not your current password.');
    const short = await (await change(password, 'short')).text();
    expect(short).toContain('The password needs at least 8 characters.');
    const personal = await (await change(password, `${user.givenName} 12345678`)).text();
    expect(personal).toContain('The password must not contain your name or email address.');
    const breached = await (await change(password, 'password1')).text();
    expect(breached).toContain('on lists of stolen passwords');
    for (const html of [wrong, short, personal, breached]) {
      for (const typed of [password, newPassword, 'not my password', 'password1']) expect(html).not.toContain(typed);
    }
    expect(await foyer.mails(user.email)).toEqual([]);
    expect(await signsIn(password)).toBe(true);
  });

  it('A user with a second factor must reauthenticate when the sign-in is not recent', async () => {
    await signInWithTotp(foyer, browser, user, await giveTotp(foyer, user));
    expect((await browser.get(path)).status).toBe(200);
    foyer.passTime(11 * 60_000);
    for (const answer of [await browser.get(path), await change(password, newPassword)]) {
      expect(answer.status).toBe(303);
      expect(answer.headers.get('location')).toBe(`/re-authenticate?redirect=${encodeURIComponent(path)}`);
    }
    const json = await browser.postJson('/identity/changePassword', { oldPassword: password, newPassword });
    expect(json.status).toBe(401);
    const stored = await findUser(foyer.deps.database.db, user.id);
    expect(stored?.passwordEpoch).toBe(user.passwordEpoch);
  });

  it('Of two password changes at once one succeeds, and the other is refused or signed out', async () => {
    const second = await foyer.signedIn(user);
    const [one, two] = await Promise.all([
      change(password, newPassword),
      second.post(path, { old_password: password, new_password: `${newPassword} too` }),
    ]);
    const done = [one, two].filter((answer) => answer.headers.get('location') === '/settings#settings:password');
    expect(done).toHaveLength(1);
    expect([await signsIn(newPassword), await signsIn(`${newPassword} too`)].filter(Boolean)).toHaveLength(1);
  });
});

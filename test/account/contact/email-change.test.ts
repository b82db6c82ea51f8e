import type { User } from '../../../server/users/index.ts';
import { read } from '../../password/steps.ts';
import type { Browser } from '../../support/browser.ts';
import { eachSignedInUser, password, type TestFoyer } from '../../support/foyer.ts';
import { backends } from '../../support/stores.ts';
import {
  askForEmail,
  emailCode,
  fresh,
  leadsTo,
  moveTo,
  newPassword,
  otherThan,
  rowOf,
  showEmailCode,
  signIn,
  templatesTo,
  undo,
  undoPath,
  undoToken,
} from './steps.ts';

describe.each(backends)('changing the e-mail address, on $name', (backend) => {
  let foyer: TestFoyer;
  let user: User;
  let browser: Browser;
  eachSignedInUser(backend, { GUESS_LIMIT_ADDRESS: '1000' }, (setting) => {
    ({ foyer, user, browser } = setting);
  });

  it('The change asks for a code from the new address and notifies the old one, which stays until then', async () => {
    const { email } = fresh();
    expect(leadsTo(await askForEmail(browser, ` ${email.toUpperCase()} `))).toBe('303 /settings/email/code');
    expect((await rowOf(foyer, user)).email).toBe(user.email);
    expect(await templatesTo(foyer, user.email)).toEqual(['email-change-asked']);
    const [warning] = await foyer.mails(user.email);
    expect(warning?.text).toContain(email);
    const page = await browser.get('/settings/email/code');
    expect([page.status, await read(page)]).toEqual([200, expect.stringContaining(email)]);
    // Signing in still takes the old one.
    expect((await signIn(foyer.browser(), user.email, password)).status).toBe(303);
    expect((await signIn(foyer.browser(), email, password)).status).toBe(400);
  });

  it('The right code makes the new address the user’s, for sign-in and for mail', async () => {
    const { email } = fresh();
    await moveTo(foyer, browser, email);
    expect(await rowOf(foyer, user)).toMatchObject({ email, emailVerified: 1, passwordEpoch: 0 });
    // This session goes on, and shows it.
    expect(await (await browser.get('/settings#settings:email')).text()).toContain(email);
    expect((await signIn(foyer.browser(), email, password)).status).toBe(303);
    expect((await signIn(foyer.browser(), user.email, password)).status).toBe(400);
    expect((await templatesTo(foyer, email)).slice(0, 2)).toEqual(['change-email', 'security-notice email']);
    expect(await templatesTo(foyer, user.email)).toEqual(['email-change-asked', 'email-changed']);
    // Nothing is left of the way.
    expect(leadsTo(await browser.get('/settings/email/code'))).toBe('303 /settings/email');
  });

  it.each([
    ['', 'Invalid email address'],
    ['ada', 'Invalid email address'],
    ['ada@example', 'Invalid email address'],
    ['ada@example.com, eve@example.com', 'Invalid email address'],
    [`${'a'.repeat(250)}@example.com`, 'Invalid email address'],
  ])('The invalid address “%s” is refused with the reason and stays in the field', async (typed, text) => {
    const answer = await askForEmail(browser, typed);
    const html = await answer.text();
    expect(answer.status).toBe(400);
    expect(html).toContain(text);
    expect(html).toContain('Your data couldn’t be saved.');
    if (typed !== '') expect(html).toContain(`value="${typed}"`);
    expect(await foyer.mails(user.email)).toEqual([]);
  });

  it('The same address is no change', async () => {
    const answer = await askForEmail(browser, user.email.toUpperCase());
    expect([answer.status, await answer.text()]).toEqual([
      400,
      expect.stringContaining('This is your address already.'),
    ]);
  });

  it('An incomplete code is not checked, five wrong codes void it, and a new code can be sent after a wait', async () => {
    const { email } = fresh();
    await askForEmail(browser, email);
    const code = await emailCode(foyer, email);
    const incomplete = await showEmailCode(browser, '123');
    expect([incomplete.status, await read(incomplete)]).toEqual([400, expect.stringContaining('all 6 digits')]);
    for (let n = 1; n <= 5; n += 1) {
      const text = await read(await showEmailCode(browser, otherThan(code, n)));
      expect(text).toContain(n < 5 ? 'Invalid code' : 'has expired');
    }
    expect(await read(await showEmailCode(browser, code))).toContain('has expired');
    const resent = await browser.post('/settings/email/code', { act: 'resend' });
    expect(resent.status).toBe(429);
    expect(Number(resent.headers.get('retry-after'))).toBeLessThanOrEqual(30);
    expect((await rowOf(foyer, user)).email).toBe(user.email);
  });

  it('The change expires after half an hour and when the password changes', async () => {
    const { email } = fresh();
    await askForEmail(browser, email);
    const code = await emailCode(foyer, email);
    foyer.passTime(31 * 60_000);
    const again = await foyer.signedIn(user);
    const cookies = await browser.cookies();
    await again.jar.setCookie(`foyer_new_email=${cookies.foyer_new_email}`, foyer.url);
    expect(leadsTo(await showEmailCode(again, code))).toBe('303 /settings/email#email:expired');
    expect(await read(await again.get('/settings/email#email:expired'))).toContain('That took too long');
    await askForEmail(again, fresh().email);
    await foyer.deps.database.db.updateTable('users').set({ passwordEpoch: 1 }).where('id', '=', user.id).execute();
    const later = await foyer.signedIn(user);
    await later.jar.setCookie(`foyer_new_email=${(await again.cookies()).foyer_new_email}`, foyer.url);
    expect(leadsTo(await later.get('/settings/email/code'))).toBe('303 /settings/email');
  });

  it('The typed address is kept while the user reauthenticates', async () => {
    foyer.passTime(11 * 60_000);
    const { email } = fresh();
    expect(leadsTo(await askForEmail(browser, email))).toBe('303 /re-authenticate?redirect=%2Fsettings%2Femail');
    const shown = await browser.post('/re-authenticate?redirect=%2Fsettings%2Femail', { password });
    expect(leadsTo(shown)).toBe('303 /settings/email');
    expect(await (await browser.get('/settings/email')).text()).toContain(`value="${email}"`);
    expect(await foyer.mails(user.email)).toEqual([]);
  });

  it('The old address takes the account back with a new password, and both addresses are notified', async () => {
    const { email } = fresh();
    await moveTo(foyer, browser, email);
    const token = await undoToken(foyer, user.email);
    const owner = foyer.browser();
    const page = await owner.get(undoPath(token));
    const text = await read(page);
    expect(page.status).toBe(200);
    expect(text).toContain(user.email);
    expect(text).toContain('Get your account back');
    expect(leadsTo(await undo(owner, token))).toBe('303 /undo-email-change?done');
    expect(await read(await owner.get('/undo-email-change?done'))).toContain('You’ve got your account back');
    expect(await rowOf(foyer, user)).toMatchObject({ email: user.email, emailVerified: 1, passwordEpoch: 1 });
    expect(leadsTo(await browser.get('/settings'))).toMatch(/^303 \/\?redirect=/);
    expect((await signIn(owner, user.email, newPassword)).status).toBe(303);
    expect((await signIn(foyer.browser(), user.email, password)).status).toBe(400);
    expect((await signIn(foyer.browser(), email, newPassword)).status).toBe(400);
    expect((await templatesTo(foyer, user.email)).at(-1)).toBe('security-notice email-undone');
    const [, , told] = await foyer.mails(email);
    expect(told?.template).toBe('email-undone');
    // Whoever had it for a while learns nothing of the member.
    expect(told?.text).not.toMatch(new RegExp(`${user.givenName}|${user.email}|127\\.0\\.0\\.1`));
  });

  it('Undoing the change requires a valid password, typed twice the same', async () => {
    await moveTo(foyer, browser, fresh().email);
    const token = await undoToken(foyer, user.email);
    const owner = foyer.browser();
    const refused = async (fields: Record<string, string>) => {
      const answer = await owner.post('/undo-email-change', { token, ...fields });
      expect(answer.status).toBe(400);
      return read(answer);
    };
    expect(await refused({})).toContain('Please input your password!');
    expect(await refused({ password: newPassword })).toContain('Please confirm your password!');
    expect(await refused({ password: newPassword, confirm: 'another 1' })).toContain('inconsistent');
    expect(await refused({ password: 'short 1', confirm: 'short 1' })).toContain('8 characters');
    const own = `${user.email} 1`;
    expect(await refused({ password: own, confirm: own })).toContain('name or email');
    expect((await rowOf(foyer, user)).email).not.toBe(user.email);
    expect((await undo(owner, token)).status).toBe(303);
  });
});

import { locationOf } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toUserId } from '../support/ids.ts';
import { relyingParty } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';
import { ask, codeFor, endWait, flowOf, newPassword, otherThan, read, reset, resetPath, submit } from './steps.ts';

/** The password fields that do not say that they must be filled in again. */
const unmarked = (html: string) => {
  const inputs = html.match(/<input[^>]*>/g) ?? [];
  return ['password', 'confirm'].filter(
    (name) => !inputs.some((tag) => tag.includes(` name="${name}"`) && tag.includes(' aria-invalid="true"')),
  );
};

describe.each(backends)('a forgotten password on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { GUESS_LIMIT_ADDRESS: '1000' });
  });
  afterAll(() => foyer?.close());

  const signIn = (username: string, given: string) => foyer.browser().post('/sign-in', { username, password: given });

  it('A code sets a new password, which signs in, and the old one no longer does', async () => {
    const user = await foyer.addUser();
    const browser = foyer.browser();
    const asked = await browser.post('/forgot-password', { username: ` ${user.email.toUpperCase()} ` });
    expect(asked.status).toBe(303);
    const at = new URL(locationOf(asked));
    const address = `/reset-password?username=${encodeURIComponent(user.email.toUpperCase())}`;
    expect([at.pathname + at.search, at.hash]).toEqual([address, '#reset-code:sent']);
    const page = await browser.get(at.pathname + at.search);
    expect(page.status).toBe(200);
    const text = await read(page);
    for (const said of [
      'Account confirmed successfully!',
      'Reset your password Check your email for the confirmation code',
      `We’ve sent it to ${user.email}.`,
      'New password',
      'Confirm password',
      'Didn’t receive the email? Send again',
    ]) {
      expect(text).toContain(said);
    }
    const [mail] = await foyer.mails(user.email);
    expect(mail?.template).toBe('password-reset');
    const code = await codeFor(foyer, user.email);
    expect(mail?.text).toContain(code);
    // Spaces around a code are ignored.
    const answer = await browser.post(resetPath(user.email), {
      code: ` ${code} `,
      password: newPassword,
      confirm: newPassword,
    });
    expect(answer.status).toBe(303);
    expect(locationOf(answer)).toBe(`${foyer.url}/#password:reset`);
    expect(await flowOf(browser)).toBe('');
    // A reset signs nobody in.
    const home = await browser.get('/#password:reset');
    expect(home.status).toBe(200);
    expect(await read(home)).toContain('Password reset successful. You can sign in now.');
    expect((await signIn(user.email, password)).status).toBe(400);
    expect((await signIn(user.email, newPassword)).status).toBe(303);
    const templates = (await foyer.mails(user.email)).map(({ template }) => template);
    expect(templates.slice(0, 2)).toEqual(['password-reset', 'password-changed']);
  });

  it('The waiting client is kept during the whole reset', async () => {
    const user = await foyer.addUser();
    const app = await relyingParty(foyer, await foyer.addClient());
    const browser = foyer.browser();
    const begun = await app.begin();
    const landing = new URL(locationOf(await browser.get(begun.url)));
    expect(await (await browser.get(landing.pathname + landing.search)).text()).toContain(
      `/forgot-password${landing.search.replaceAll('&', '&amp;')}`,
    );
    const forgot = await browser.get(`/forgot-password${landing.search}`);
    expect(await forgot.text()).toContain(`action="/forgot-password${landing.search.replaceAll('&', '&amp;')}"`);
    const asked = await browser.post(`/forgot-password${landing.search}`, { username: user.email });
    const at = new URL(locationOf(asked));
    const code = await codeFor(foyer, user.email);
    const done = await browser.post(at.pathname + at.search, { code, password: newPassword, confirm: newPassword });
    const signInPage = new URL(locationOf(done));
    expect(signInPage.searchParams.get('authorization_code')).toBe(landing.searchParams.get('authorization_code'));
    const signed = await browser.post(`/sign-in${signInPage.search}`, { username: user.email, password: newPassword });
    expect(locationOf(signed)).toContain('/verify-user?');
  });

  it('A request for a code with a missing or wrong name gets its error', async () => {
    const browser = foyer.browser();
    const page = await browser.get('/forgot-password');
    const text = await read(page.clone());
    expect(text).toContain('Password request');
    expect(text).toContain('Request new password Ooh! Wait! I’ve remembered!');
    expect(await page.text()).toContain('placeholder="Email address…"');
    const refused = async (username: string) => {
      const answer = await browser.post('/forgot-password', { username });
      return [answer.status, await read(answer)] as const;
    };
    expect(await refused('  ')).toEqual([400, expect.stringContaining('Please input your username!')]);
    const unknown = await refused('unknown@example.com');
    expect(unknown).toEqual([
      400,
      expect.stringContaining(
        'User confirmation failed Email or phone Invalid email address. No account has this address. Check the spelling, or create an account',
      ),
    ]);
    expect(await refused('no address')).toEqual([
      400,
      expect.stringContaining('Invalid email address. No account was found. Check the spelling'),
    ]);
    expect(await refused('a\u0000b')).toEqual([
      400,
      expect.stringContaining('Validation error detected. Please check what you entered.'),
    ]);
    const disabled = await foyer.addUser();
    await foyer.stores.database.db.updateTable('users').set({ disabledAt: 1 }).where('id', '=', disabled.id).execute();
    expect(await refused(disabled.email)).toEqual([403, expect.stringContaining('User is disabled. Contact support.')]);
    expect(await foyer.mails(disabled.email)).toEqual([]);
    expect(await flowOf(browser)).toBe('');
  });

  it('A submission with errors gets them, and the right code is kept', async () => {
    const user = await foyer.addUser({ givenName: 'Wilhelmine', familyName: 'Ostertag' });
    const browser = foyer.browser();
    await ask(browser, user.email);
    const send = async (fields: Record<string, string>) => {
      const answer = await browser.post(resetPath(user.email), fields);
      const html = await answer.clone().text();
      // Neither keeps its input, so each one says that it must be entered again.
      if (answer.status === 400) expect(unmarked(html)).toEqual([]);
      for (const secret of [fields.password, fields.confirm]) if (secret) expect(html).not.toContain(secret);
      return [answer.status, await read(answer)] as const;
    };
    const nothing = await send({});
    expect(nothing[0]).toBe(400);
    for (const said of [
      'Please input your confirmation code!',
      'Please input your password!',
      'Please confirm your password!',
    ]) {
      expect(nothing[1]).toContain(said);
    }
    const code = await codeFor(foyer, user.email);
    const unlike = await send({ code, password: newPassword, confirm: `${newPassword} ` });
    expect(unlike[0]).toBe(400);
    expect(unlike[1]).toContain('The two passwords that you entered are inconsistent!');
    expect(unlike[1]).toContain('Password mismatch');
    expect(unlike[1]).not.toContain('Error resetting password');
    const both = (value: string, given = code) => send({ code: given, password: value, confirm: value });
    expect((await both('short1'))[1]).toContain('The password needs at least 8 characters.');
    expect((await both('P@ssw0rd1!'))[1]).toContain('is on lists of stolen passwords');
    expect((await both(newPassword, '12345'))[1]).toContain('Please enter all 6 digits.');
    const wrong = await both(newPassword, otherThan(code));
    expect(wrong).toEqual([400, expect.stringContaining('Error resetting password Confirmation code Invalid code')]);
    // Without a code the page does not reveal the names of the user.
    expect((await both('Wilhelmine 4711!', otherThan(code)))[1]).not.toContain('must not contain');
    const personal = await both('Wilhelmine 4711!');
    expect(personal[1]).toContain('The password must not contain your name or email address.');
    expect(personal[1]).toContain('Your code was correct.');
    // A code that was accepted once stays accepted.
    const done = await browser.post(resetPath(user.email), { password: newPassword, confirm: newPassword });
    expect(done.status).toBe(303);
    expect((await signIn(user.email, newPassword)).status).toBe(303);
  });

  it('Spaces at the ends of a password belong to it', async () => {
    const user = await foyer.addUser();
    const spaced = `  ${newPassword} `;
    await reset(foyer, foyer.browser(), user.email, spaced);
    expect((await signIn(user.email, newPassword)).status).toBe(400);
    expect((await signIn(user.email, spaced)).status).toBe(303);
  });

  it('Another code is sent after a wait, and the first is void', async () => {
    const user = await foyer.addUser();
    const browser = foyer.browser();
    await ask(browser, user.email);
    const first = await codeFor(foyer, user.email);
    const tooSoon = await browser.post(resetPath(user.email), { act: 'resend' });
    expect(tooSoon.status).toBe(429);
    expect(Number(tooSoon.headers.get('retry-after'))).toBeGreaterThan(20);
    expect(await read(tooSoon)).toMatch(/Error resending code A code has just been sent. Please wait \d+ s/);
    await endWait(foyer, await flowOf(browser));
    const again = await browser.post(resetPath(user.email), { act: 'resend' });
    expect(again.status).toBe(303);
    const shown = await browser.get(new URL(locationOf(again)).pathname + new URL(locationOf(again)).search);
    expect(await shown.clone().text()).toContain('&quot;durationMs&quot;:2500');
    expect(await read(shown)).toContain('Success! Email re-sent successfully!');
    const second = await codeFor(foyer, user.email);
    if (first !== second) {
      expect(await read(await submit(browser, user.email, first))).toContain('Invalid code');
    }
    expect((await submit(browser, user.email, second)).status).toBe(303);
  });

  it('In another browser, or for another name, the page leads to a request for a code', async () => {
    const user = await foyer.addUser();
    const browser = foyer.browser();
    await ask(browser, user.email);
    const code = await codeFor(foyer, user.email);
    for (const [visitor, username] of [
      [foyer.browser(), user.email],
      [browser, 'somebody.else@example.com'],
    ] as const) {
      const page = await visitor.get(resetPath(username));
      expect(page.status).toBe(200);
      expect(await page.clone().text()).toContain('action="/forgot-password"');
      expect(await page.clone().text()).toContain(`value="${username}"`);
      expect(await read(page)).toContain('A code works only in the browser that requested it');
      const submitted = await submit(visitor, username, code);
      expect(submitted.status).toBe(400);
      expect(await read(submitted)).toContain('That code has expired.');
    }
    expect((await submit(browser, user.email, code)).status).toBe(303);
  });

  it('With a phone number the code goes to the account’s address, which it confirms', async () => {
    const phone = '+4915198765432';
    const user = await foyer.addUser({ phone, phoneVerified: true, emailVerified: false });
    const browser = foyer.browser();
    await ask(browser, '+49 (151) 987 654 32');
    const page = await read(await browser.get(resetPath(phone)));
    expect(page).toContain('We’ve sent it to the email address of your account.');
    expect(page).not.toContain(user.email);
    expect((await submit(browser, phone, await codeFor(foyer, user.email))).status).toBe(303);
    expect(await findUser(user.id)).toMatchObject({ emailVerified: 1, passwordEpoch: 1 });
  });

  it('A user without a password gets one by the reset', async () => {
    const user = await foyer.addUser({ passwordHash: null });
    await reset(foyer, foyer.browser(), user.email);
    expect((await signIn(user.email, newPassword)).status).toBe(303);
  });

  it('The mail is in the user’s language', async () => {
    const user = await foyer.addUser({ locale: 'de' });
    await ask(foyer.browser(), user.email);
    const other = await foyer.addUser();
    const browser = foyer.browser();
    browser.headers['accept-language'] = 'fr';
    await ask(browser, other.email);
    const [german] = await foyer.mails(user.email);
    const [french] = await foyer.mails(other.email);
    expect(german?.html).toContain('lang="de"');
    expect(french?.html).toContain('lang="fr"');
  });

  it('A full password queue gives 503, and the code stays valid', async () => {
    const { PasswordQueueFullError } = await import('../../server/password/index.ts');
    let full = true;
    const { passwords } = foyer.deps;
    const busy = await startFoyer(
      backend,
      {},
      {
        passwords: {
          verify: passwords.verify,
          async hash(...given) {
            if (full) throw new PasswordQueueFullError('full');
            return passwords.hash(...given);
          },
        },
      },
    );
    try {
      const user = await busy.addUser({ passwordHash: null });
      const browser = busy.browser();
      await ask(browser, user.email);
      const refused = await submit(browser, user.email, await codeFor(busy, user.email));
      expect(refused.status).toBe(503);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      full = false;
      const fields = { password: newPassword, confirm: newPassword };
      expect((await browser.post(resetPath(user.email), fields)).status).toBe(303);
    } finally {
      await busy.close();
    }
  });

  async function findUser(id: string) {
    return foyer.stores.database.db
      .selectFrom('users')
      .selectAll()
      .where('id', '=', toUserId(id))
      .executeTakeFirstOrThrow();
  }
});

import {
  ask,
  codeFor,
  endWait,
  flowOf,
  newPassword,
  otherThan,
  read,
  reset,
  resetPath,
  submit,
} from '../password/steps.ts';
import { password } from '../support/foyer.ts';
import { toNormalisedEmail } from '../support/ids.ts';
import { backends } from '../support/stores.ts';
import { setUpReset } from './reset-steps.ts';

/** `security.md`, rule 13. */
describe.each(backends)('a password reset under attack, on $name', (backend) => {
  const context = setUpReset(backend);
  const { rowOf, signIn, expectUnchanged } = context;

  it('An attacker who sends 50 codes at once gets five guesses, and the right code fails afterwards', async () => {
    const [user, browser] = [await context.foyer.addUser(), context.foyer.browser()];
    await ask(browser, user.email);
    const code = await codeFor(context.foyer, user.email);
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => submit(browser, user.email, otherThan(code, n + 1))),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 400));
    const texts = await Promise.all(answers.map(read));
    expect(texts.filter((text) => text.includes('Invalid code'))).toHaveLength(4);
    expect((await submit(browser, user.email, code)).status).toBe(400);
    await expectUnchanged(user);
  });

  it('Strangers get ten codes a day for an account over all flows, and a known device still gets one', async () => {
    const user = await context.foyer.addUser();
    const known = await context.foyer.signedIn(user);
    const statuses = [];
    for (let n = 0; n < 14; n += 1) {
      const answer = await context.foyer.browser().post('/forgot-password', { username: user.email });
      statuses.push(answer.status);
      if (answer.status === 429) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(3_600);
    }
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 303), 429, 429, 429, 429]);
    expect(
      (await context.foyer.mails(user.email)).filter(({ template }) => template === 'password-reset'),
    ).toHaveLength(10);
    // A known device of the user still gets a code.
    await reset(context.foyer, known, user.email);
  });

  it('A code of one flow opens no other flow and no account of another user', async () => {
    const [ada, eve] = [await context.foyer.addUser(), await context.foyer.addUser()];
    const [adas, eves] = [context.foyer.browser(), context.foyer.browser()];
    await ask(adas, ada.email);
    await ask(eves, ada.email);
    const stolen = (await context.foyer.mails(ada.email)).map(({ values }) => String(values.code));
    const [first = '', second = ''] = stolen;
    // Each code is sent to the other flow.
    if (first !== second) {
      expect((await submit(eves, ada.email, first)).status).toBe(400);
      expect((await submit(adas, ada.email, second)).status).toBe(400);
    }
    const own = context.foyer.browser();
    await ask(own, eve.email);
    const code = await codeFor(context.foyer, eve.email);
    // Eve uses her own flow and code with the victim's address in the query or the form.
    expect((await submit(own, ada.email, code)).status).toBe(400);
    const smuggled = await own.post(resetPath(eve.email), {
      username: ada.email,
      code,
      password: newPassword,
      confirm: newPassword,
    });
    expect(smuggled.status).toBe(303);
    await expectUnchanged(ada);
    expect((await rowOf(eve)).passwordEpoch).toBe(1);
  });

  it('A code that was used once is refused the second time', async () => {
    const [user, browser] = [await context.foyer.addUser(), context.foyer.browser()];
    await ask(browser, user.email);
    const cookies = await browser.jar.getCookieString(context.foyer.url);
    const code = await codeFor(context.foyer, user.email);
    expect((await submit(browser, user.email, code)).status).toBe(303);
    const replay = context.foyer.browser();
    for (const cookie of cookies.split('; ')) await replay.jar.setCookie(cookie, context.foyer.url);
    expect((await submit(replay, user.email, code, 'the attacker’s own 1')).status).toBe(400);
    expect((await rowOf(user)).passwordEpoch).toBe(1);
  });

  it('A code that confirms an address resets no password, and a reset code confirms no address', async () => {
    const user = await context.foyer.addUser({ emailVerified: false });
    const browser = context.foyer.browser();
    await ask(browser, user.email);
    const resetCode = await codeFor(context.foyer, user.email);
    // A sign-in to an unverified account mails the other kind of code in the same browser.
    const unconfirmed = await signIn(browser, user, password);
    expect(unconfirmed.status).toBe(303);
    const confirmation = (await context.foyer.mails(user.email)).find(({ template }) => template === 'verify-email');
    const confirmCode = String(confirmation?.values.code);
    expect(confirmCode).toMatch(/^\d{6}$/);
    if (confirmCode !== resetCode) {
      expect((await submit(browser, user.email, confirmCode)).status).toBe(400);
      const wrong = await browser.post('/verify-code', { code: resetCode });
      expect(wrong.status).toBeGreaterThanOrEqual(400);
    }
    await expectUnchanged(user);
    expect((await rowOf(user)).emailVerified).toBe(0);
  });

  it('Of several resets with one code at once one succeeds', async () => {
    const [user, browser] = [await context.foyer.addUser(), context.foyer.browser()];
    await ask(browser, user.email);
    const code = await codeFor(context.foyer, user.email);
    const wanted = Array.from({ length: 8 }, (_, n) => `the password of try ${n}`);
    const answers = await Promise.all(wanted.map((each) => submit(browser, user.email, code, each)));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    expect((await rowOf(user)).passwordEpoch).toBe(1);
    const winner = wanted[answers.findIndex(({ status }) => status === 303)] ?? '';
    expect((await signIn(context.foyer.browser(), user, winner)).status).toBe(303);
    expect(
      (await context.foyer.mails(user.email)).filter(({ template }) => template === 'password-changed'),
    ).toHaveLength(1);
  });

  it('A reset voids the codes that others requested before', async () => {
    const user = await context.foyer.addUser();
    const [first, second] = [context.foyer.browser(), context.foyer.browser()];
    await ask(first, user.email);
    const old = await codeFor(context.foyer, user.email);
    await reset(context.foyer, second, user.email);
    const late = await submit(first, user.email, old, 'the attacker’s own 1');
    expect([late.status, await read(late)]).toEqual([400, expect.stringContaining('has expired')]);
    expect((await rowOf(user)).passwordEpoch).toBe(1);
    // The flow gets no further code.
    const again = await first.post(resetPath(user.email), { act: 'resend' });
    await endWait(context.foyer, await flowOf(first));
    const mails = (await context.foyer.mails(user.email)).length;
    await first.post(resetPath(user.email), { act: 'resend' });
    expect((await context.foyer.mails(user.email)).length).toBe(mails);
    expect([303, 400, 429]).toContain(again.status);
  });

  it('A user who is disabled after the request of a code cannot reset the password', async () => {
    const [user, browser] = [await context.foyer.addUser(), context.foyer.browser()];
    await ask(browser, user.email);
    const code = await codeFor(context.foyer, user.email);
    await context.foyer.stores.database.db
      .updateTable('users')
      .set({ disabledAt: 1 })
      .where('id', '=', user.id)
      .execute();
    expect((await submit(browser, user.email, code)).status).toBe(400);
    await expectUnchanged(user);
  });

  it('A code does not prove an address that was changed after the code was sent', async () => {
    const [user, browser] = [await context.foyer.addUser(), context.foyer.browser()];
    await ask(browser, user.email);
    const code = await codeFor(context.foyer, user.email);
    await context.foyer.stores.database.db
      .updateTable('users')
      .set({ email: toNormalisedEmail(`new.${user.email}`) })
      .where('id', '=', user.id)
      .execute();
    expect((await submit(browser, user.email, code)).status).toBe(400);
    await expectUnchanged(user);
  });
});

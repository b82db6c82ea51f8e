import * as oidc from 'openid-client';
import type { User } from '../../server/users/index.ts';
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
import { type Browser, locationOf } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { relyingParty, tokensFor } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';
import { portOf, send } from './wire.ts';

/** `security.md`, rule 13. */
describe.each(backends)('a password reset under attack, on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { GUESS_LIMIT_ADDRESS: '1000' });
  });
  afterAll(() => foyer?.close());

  const rowOf = ({ id }: User) =>
    foyer.stores.database.db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const signIn = (browser: Browser, user: User, given: string) =>
    browser.post('/sign-in', { username: user.email, password: given });
  const expectUnchanged = async (user: User) => {
    const row = await rowOf(user);
    expect([row.password_hash === user.passwordHash, row.password_epoch]).toEqual([true, user.passwordEpoch]);
  };

  it('An attacker who sends 50 codes at once gets five guesses, and the right code fails afterwards', async () => {
    const [user, browser] = [await foyer.addUser(), foyer.browser()];
    await ask(browser, user.email);
    const code = await codeFor(foyer, user.email);
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
    const user = await foyer.addUser();
    const known = await foyer.signedIn(user);
    const statuses = [];
    for (let n = 0; n < 14; n += 1) {
      const answer = await foyer.browser().post('/forgot-password', { username: user.email });
      statuses.push(answer.status);
      if (answer.status === 429) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(3_600);
    }
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 303), 429, 429, 429, 429]);
    expect((await foyer.mails(user.email)).filter(({ template }) => template === 'password-reset')).toHaveLength(10);
    // From where they have signed in before the member still gets one.
    await reset(foyer, known, user.email);
  });

  it('A code of one flow opens no other flow and no account of another user', async () => {
    const [ada, eve] = [await foyer.addUser(), await foyer.addUser()];
    const [adas, eves] = [foyer.browser(), foyer.browser()];
    await ask(adas, ada.email);
    await ask(eves, ada.email);
    const stolen = (await foyer.mails(ada.email)).map(({ values }) => String(values.code));
    const [first = '', second = ''] = stolen;
    // Each code in the other's flow.
    if (first !== second) {
      expect((await submit(eves, ada.email, first)).status).toBe(400);
      expect((await submit(adas, ada.email, second)).status).toBe(400);
    }
    const own = foyer.browser();
    await ask(own, eve.email);
    const code = await codeFor(foyer, eve.email);
    // Her own flow and code, and the victim in the address or in the form.
    expect((await submit(own, ada.email, code)).status).toBe(400);
    const smuggled = await own.post(resetPath(eve.email), {
      username: ada.email,
      code,
      password: newPassword,
      confirm: newPassword,
    });
    expect(smuggled.status).toBe(303);
    await expectUnchanged(ada);
    expect((await rowOf(eve)).password_epoch).toBe(1);
  });

  it('A code that was used once is refused the second time', async () => {
    const [user, browser] = [await foyer.addUser(), foyer.browser()];
    await ask(browser, user.email);
    const cookies = await browser.jar.getCookieString(foyer.url);
    const code = await codeFor(foyer, user.email);
    expect((await submit(browser, user.email, code)).status).toBe(303);
    const replay = foyer.browser();
    for (const cookie of cookies.split('; ')) await replay.jar.setCookie(cookie, foyer.url);
    expect((await submit(replay, user.email, code, 'the attacker’s own 1')).status).toBe(400);
    expect((await rowOf(user)).password_epoch).toBe(1);
  });

  it('A code that confirms an address resets no password, and a reset code confirms no address', async () => {
    const user = await foyer.addUser({ emailVerified: false });
    const browser = foyer.browser();
    await ask(browser, user.email);
    const resetCode = await codeFor(foyer, user.email);
    // Signing in unconfirmed mails the other kind, in the same browser.
    const unconfirmed = await signIn(browser, user, password);
    expect(unconfirmed.status).toBe(303);
    const confirmation = (await foyer.mails(user.email)).find(({ template }) => template === 'verify-email');
    const confirmCode = String(confirmation?.values.code);
    expect(confirmCode).toMatch(/^\d{6}$/);
    if (confirmCode !== resetCode) {
      expect((await submit(browser, user.email, confirmCode)).status).toBe(400);
      const wrong = await browser.post('/verify-code', { code: resetCode });
      expect(wrong.status).toBeGreaterThanOrEqual(400);
    }
    await expectUnchanged(user);
    expect((await rowOf(user)).email_verified).toBe(0);
  });

  it('Of several resets with one code at once one succeeds', async () => {
    const [user, browser] = [await foyer.addUser(), foyer.browser()];
    await ask(browser, user.email);
    const code = await codeFor(foyer, user.email);
    const wanted = Array.from({ length: 8 }, (_, n) => `the password of try ${n}`);
    const answers = await Promise.all(wanted.map((each) => submit(browser, user.email, code, each)));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    expect((await rowOf(user)).password_epoch).toBe(1);
    const winner = wanted[answers.findIndex(({ status }) => status === 303)] ?? '';
    expect((await signIn(foyer.browser(), user, winner)).status).toBe(303);
    expect((await foyer.mails(user.email)).filter(({ template }) => template === 'password-changed')).toHaveLength(1);
  });

  it('A reset voids the codes that others requested before', async () => {
    const user = await foyer.addUser();
    const [first, second] = [foyer.browser(), foyer.browser()];
    await ask(first, user.email);
    const old = await codeFor(foyer, user.email);
    await reset(foyer, second, user.email);
    const late = await submit(first, user.email, old, 'the attacker’s own 1');
    expect([late.status, await read(late)]).toEqual([400, expect.stringContaining('no longer valid')]);
    expect((await rowOf(user)).password_epoch).toBe(1);
    // Nor does the flow get another code.
    const again = await first.post(resetPath(user.email), { act: 'resend' });
    await endWait(foyer, await flowOf(first));
    const mails = (await foyer.mails(user.email)).length;
    await first.post(resetPath(user.email), { act: 'resend' });
    expect((await foyer.mails(user.email)).length).toBe(mails);
    expect([303, 400, 429]).toContain(again.status);
  });

  it('A reset revokes old sessions, grants, access and refresh tokens and forgets devices', async () => {
    const user = await foyer.addUser();
    const app = await relyingParty(foyer, await foyer.addClient());
    const thief = foyer.browser();
    const tokens = await tokensFor(app, thief, user);
    expect((await thief.get('/')).status).toBe(303);
    await reset(foyer, foyer.browser(), user.email);
    expect((await thief.get('/')).status).toBe(200);
    await expect(oidc.fetchUserInfo(app.config, tokens.access_token, user.id)).rejects.toThrow();
    await expect(oidc.refreshTokenGrant(app.config, tokens.refresh_token ?? '')).rejects.toThrow();
    const silent = new URL(locationOf(await thief.get((await app.begin({ prompt: 'none' })).url)));
    expect(silent.searchParams.get('error')).toBe('login_required');
    // The thief's browser is a stranger's now: it shares the strangers' codes and guesses.
    for (let n = 0; n < 10; n += 1) await foyer.browser().post('/forgot-password', { username: user.email });
    expect((await thief.post('/forgot-password', { username: user.email })).status).toBe(429);
  });

  it('A reset neither signs in nor changes anything else of the account', async () => {
    const user = await foyer.addUser({ phone: '+4915155512345', phoneVerified: true });
    const before = await rowOf(user);
    const browser = foyer.browser();
    await reset(foyer, browser, user.email);
    expect(await browser.cookies()).not.toHaveProperty('foyer_session');
    const after = await rowOf(user);
    // This browser is a known device of the new password: the next other one is mailed about.
    expect(after.signed_in_epoch).toBe(after.password_epoch);
    const { password_hash: _, password_epoch: __, updated_at: ___, signed_in_epoch: ____, ...rest } = after;
    expect(before).toMatchObject(rest);
  });

  it('A sign-in with the old password that runs during the reset leaves no user signed in', async () => {
    for (let round = 0; round < 6; round += 1) {
      const user = await foyer.addUser();
      const owner = foyer.browser();
      await ask(owner, user.email);
      const code = await codeFor(foyer, user.email);
      const thieves = Array.from({ length: 4 }, () => foyer.browser());
      await Promise.all([
        submit(owner, user.email, code),
        ...thieves.map(async (thief, n) => {
          // Spread over the time that the reset takes.
          await new Promise((resolve) => setTimeout(resolve, n * 15));
          await signIn(thief, user, password);
        }),
      ]);
      const inside = await Promise.all(thieves.map(async (thief) => (await thief.get('/')).status));
      expect(inside).toEqual([200, 200, 200, 200]);
    }
  });

  it('A sign-in whose password was checked before the reset and whose session starts after it is refused', async () => {
    const user = await foyer.addUser();
    const { passwords } = foyer.deps;
    const { verify } = passwords;
    const between: { act?: (() => Promise<void>) | undefined } = {};
    passwords.verify = async (...given) => {
      const right = await verify(...given);
      await between.act?.();
      return right;
    };
    try {
      between.act = async () => {
        between.act = undefined;
        await reset(foyer, foyer.browser(), user.email);
      };
      const thief = foyer.browser();
      const answer = await signIn(thief, user, password);
      expect(answer.status).toBe(401);
      expect((await thief.get('/')).status).toBe(200);
      expect(await foyer.stores.kv.setMembers(`sessions-of:${user.id}`)).toHaveLength(1);
    } finally {
      passwords.verify = verify;
    }
  });

  it('A user who is disabled after the request of a code cannot reset the password', async () => {
    const [user, browser] = [await foyer.addUser(), foyer.browser()];
    await ask(browser, user.email);
    const code = await codeFor(foyer, user.email);
    await foyer.stores.database.db.updateTable('users').set({ disabled_at: 1 }).where('id', '=', user.id).execute();
    expect((await submit(browser, user.email, code)).status).toBe(400);
    await expectUnchanged(user);
  });

  it('A code does not prove an address that was changed after the code was sent', async () => {
    const [user, browser] = [await foyer.addUser(), foyer.browser()];
    await ask(browser, user.email);
    const code = await codeFor(foyer, user.email);
    await foyer.stores.database.db
      .updateTable('users')
      .set({ email: `new.${user.email}` })
      .where('id', '=', user.id)
      .execute();
    expect((await submit(browser, user.email, code)).status).toBe(400);
    await expectUnchanged(user);
  });

  it('A flow that was planted in a browser or made up resets no password', async () => {
    const [user, mallory] = [await foyer.addUser(), foyer.browser()];
    await ask(mallory, user.email);
    const planted = await flowOf(mallory);
    const victim = foyer.browser();
    await victim.jar.setCookie(`foyer_reset=${planted}; Path=/`, foyer.url);
    // The victim asks for themselves: the flow is a new one, which mallory does not know.
    await ask(victim, user.email);
    expect(await flowOf(victim)).not.toBe(planted);
    const code = await codeFor(foyer, user.email);
    expect((await submit(mallory, user.email, code)).status).toBe(400);
    for (const made of ['x', 'a'.repeat(43), '../../session', `${planted}x`, '%00', '__proto__']) {
      const browser = foyer.browser();
      await browser.jar.setCookie(`foyer_reset=${encodeURIComponent(made)}; Path=/`, foyer.url);
      expect((await submit(browser, user.email, code)).status).toBe(400);
    }
    expect((await submit(victim, user.email, code)).status).toBe(303);
  });

  it('A post from another site or a sibling requests no code and sets no password', async () => {
    const [user, browser] = [await foyer.addUser(), foyer.browser()];
    await ask(browser, user.email);
    const code = await codeFor(foyer, user.email);
    const mails = (await foyer.mails(user.email)).length;
    for (const headers of [
      { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
      { origin: 'http://sibling.localhost', 'sec-fetch-site': 'same-site' },
    ]) {
      expect((await browser.post('/forgot-password', { username: user.email }, headers)).status).toBe(403);
      const fields = { code, password: newPassword, confirm: newPassword };
      expect((await browser.post(resetPath(user.email), fields, headers)).status).toBe(403);
    }
    expect((await foyer.mails(user.email)).length).toBe(mails);
    await expectUnchanged(user);
  });

  it('A foreign Host appears in no mail, because links come from PUBLIC_URL', async () => {
    const user = await foyer.addUser();
    const body = new URLSearchParams({ username: user.email }).toString();
    const headers = {
      origin: foyer.url,
      'sec-fetch-site': 'same-origin',
      'content-type': 'application/x-www-form-urlencoded',
    };
    const port = portOf(foyer.url);
    const foreign = await send(port, '/forgot-password', {
      method: 'POST',
      headers: { ...headers, host: 'evil.example' },
      body,
    });
    expect(foreign.status).toBe(421);
    expect(await foyer.mails(user.email)).toEqual([]);
    const forwarded = await send(port, '/forgot-password', {
      method: 'POST',
      headers: { ...headers, host: new URL(foyer.url).host },
      body,
    });
    expect(forwarded.status).toBe(303);
    const [mail] = await foyer.mails(user.email);
    const addresses = [...`${mail?.html}\n${mail?.text}`.matchAll(/https?:\/\/[^\s"'<>)]+/g)].map(
      ([address]) => address,
    );
    expect(addresses.length).toBeGreaterThan(0);
    expect(addresses.filter((address) => new URL(address).origin !== foyer.url)).toEqual([]);
  });

  it('A username with line breaks adds no header to an answer or a mail', async () => {
    const user = await foyer.addUser();
    for (const injected of [
      '\r\nSet-Cookie: a=b',
      '\r\nBcc: mallory@evil.example',
      '\nLocation: https://evil.example/',
    ]) {
      const browser = foyer.browser();
      const answer = await browser.submit('/forgot-password', { username: user.email + injected });
      expect([answer.status, answer.headers.get('location')]).toEqual([303, '/forgot-password']);
      const page = await browser.get('/forgot-password');
      expect(page.status).toBe(400);
      for (const { headers } of [answer, page]) {
        expect(headers.getSetCookie()).toEqual([expect.stringMatching(/^foyer_form_[\w-]+=/)]);
      }
      const shown = await browser.get(`/reset-password?username=${encodeURIComponent(user.email + injected)}`);
      expect(shown.headers.get('set-cookie') ?? '').not.toContain('a=b');
    }
    expect(await foyer.mails(user.email)).toEqual([]);
  });

  it('The address of the page cannot add text to the page', async () => {
    const browser = foyer.browser();
    const user = await foyer.addUser();
    await ask(browser, user.email);
    const page = await browser.get(`${resetPath(user.email)}&notice=${encodeURIComponent('Call +1 555 to confirm')}`);
    expect(await page.text()).not.toContain('Call +1');
    const home = await browser.get('/?notice=Call+me');
    expect(await home.text()).not.toContain('Call me');
    const shown = await browser.get(`/reset-password?username=${encodeURIComponent('<script>alert(1)</script>')}`);
    expect(await shown.text()).not.toContain('<script>alert');
  });
});

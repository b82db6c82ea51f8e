import { translator } from '../../server/http/index.ts';
import { findUserByIdentifier } from '../../server/users/index.ts';
import { plainHasher } from '../sign-up/plain-hasher.ts';
import { begin, codeFor, newAddress, newPassword, otherThan, profile } from '../sign-up/steps.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toNormalisedEmail, toUserId } from '../support/ids.ts';
import { backends } from '../support/stores.ts';

const codeStep = '/signup/emailCaptured';

describe.each(backends)('attacks on signing up, on $name', (backend) => {
  let foyer: TestFoyer;
  const hasher = plainHasher();
  beforeAll(async () => {
    foyer = await startFoyer(backend, { SIGN_UP_LIMIT_ADDRESS: '100000' }, { passwords: hasher });
  });
  afterAll(() => foyer?.close());

  const member = (email: string) => findUserByIdentifier(foyer.stores.database.db, { email: toNormalisedEmail(email) });
  const signIn = (browser: Browser, username: string, password: string) =>
    browser.post('/sign-in', { username, password });
  const confirm = (browser: Browser, code: string) => browser.post(codeStep, { code });
  const evilPassword = 'mallory knows 7';
  async function beginAs(browser: Browser, email: string, password: string): Promise<string> {
    const answer = await browser.post('/signup', profile(email, { password }));
    expect(locationOf(answer)).toBe(foyer.url + codeStep);
    return codeFor(foyer, email);
  }

  it('An attacker who signed up first with the owner’s address has nothing once the owner confirms', async () => {
    const email = newAddress();
    const [mallory, ida] = [foyer.browser(), foyer.browser()];
    const herCode = await beginAs(mallory, email, evilPassword);
    const code = await begin(foyer, ida, email);
    expect(locationOf(await confirm(ida, code))).toBe(`${foyer.url}/signup/verifiedCode`);
    expect((await signIn(foyer.browser(), email, evilPassword)).status).toBe(400);
    expect((await signIn(foyer.browser(), email, newPassword)).status).toBe(303);
    // The code from the owner's mailbox does not help either.
    expect((await confirm(mallory, herCode)).status).toBe(409);
    expect((await mallory.get('/')).status).toBe(200);
    expect((await member(email))?.passwordHash).toBe(`plain:${newPassword}`);
  });

  it('An attacker who signs up with the address while its owner confirms changes nothing of the account', async () => {
    const email = newAddress();
    const [mallory, ida] = [foyer.browser(), foyer.browser()];
    const code = await begin(foyer, ida, email);
    const herCode = await beginAs(mallory, email, evilPassword);
    // The owner has two mails. The code of one flow does not work in the other flow.
    if (herCode !== code) expect((await confirm(ida, herCode)).status).toBe(400);
    expect((await confirm(ida, code)).status).toBe(303);
    expect(await member(email)).toMatchObject({ passwordHash: `plain:${newPassword}`, givenName: 'Ida' });
  });

  it('Guesses in an own flow neither find nor void the code of another flow', async () => {
    const email = newAddress();
    const [mallory, ida] = [foyer.browser(), foyer.browser()];
    const code = await begin(foyer, ida, email);
    await beginAs(mallory, email, evilPassword);
    for (let n = 0; n < 6; n += 1) expect((await confirm(mallory, code)).status).toBe(400);
    expect((await confirm(ida, code)).status).toBe(303);
  });

  it('A planted flow sees nothing of the sign-up that the victim begins in that browser', async () => {
    const email = newAddress();
    const [mallory, ida] = [foyer.browser(), foyer.browser()];
    await beginAs(mallory, newAddress(), evilPassword);
    const planted = (await mallory.cookies()).foyer_sign_up ?? '';
    await ida.jar.setCookie(`foyer_sign_up=${planted}; Path=/`, foyer.url);
    const code = await begin(foyer, ida, email);
    expect((await ida.cookies()).foyer_sign_up).not.toBe(planted);
    for (const path of ['/signup', codeStep, '/verify-code']) {
      expect(await (await mallory.get(path)).text()).not.toContain(email);
    }
    expect((await confirm(mallory, code)).status).toBe(400);
    expect((await confirm(ida, code)).status).toBe(303);
    expect((await mallory.get('/')).status).toBe(200);
  });

  it('A planted flow with the victim’s address keeps the victim’s password, whatever the attacker sends later', async () => {
    const email = newAddress();
    const [mallory, ida] = [foyer.browser(), foyer.browser()];
    await beginAs(mallory, email, evilPassword);
    await ida.jar.setCookie(`foyer_sign_up=${(await mallory.cookies()).foyer_sign_up}; Path=/`, foyer.url);
    const code = await begin(foyer, ida, email);
    await mallory.post('/signup', profile(email, { password: evilPassword }));
    expect((await confirm(ida, code)).status).toBe(303);
    expect((await member(email))?.passwordHash).toBe(`plain:${newPassword}`);
  });

  it('Every page of an attacker’s account in a victim’s browser shows its address before a code is typed', async () => {
    const theirs = newAddress();
    const [mallory, ida] = [foyer.browser(), foyer.browser()];
    await beginAs(mallory, theirs, evilPassword);
    await ida.jar.setCookie(`foyer_sign_up=${(await mallory.cookies()).foyer_sign_up}; Path=/`, foyer.url);
    for (const path of ['/signup', codeStep, '/verify-code']) {
      const html = await (await ida.get(path)).text();
      expect([path, html.includes(theirs), html.includes('Start over')]).toEqual([path, true, true]);
    }
  });

  it('A page of another site cannot begin, confirm or end a sign-up (login CSRF)', async () => {
    const email = newAddress();
    const browser = foyer.browser();
    const code = await begin(foyer, browser, email);
    for (const headers of [
      { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
      { origin: 'https://sibling.localhost', 'sec-fetch-site': 'same-site' },
    ]) {
      for (const [path, fields] of [
        ['/signup', profile(newAddress())],
        [codeStep, { code }],
        ['/verify-code', { code }],
        [codeStep, { act: 'cancel' }],
      ] as const) {
        expect((await browser.post(path, fields, headers)).status).toBe(403);
      }
    }
    expect((await confirm(browser, code)).status).toBe(303);
  });

  it('Confirming many times at once creates one account', async () => {
    const email = newAddress();
    const browser = foyer.browser();
    const code = await begin(foyer, browser, email);
    const answers = await Promise.all(Array.from({ length: 10 }, () => confirm(browser, code)));
    expect(answers.filter((answer) => answer.headers.get('location') === '/signup/verifiedCode')).toHaveLength(1);
    // The same holds for two flows at once.
    const both = newAddress();
    const browsers = [foyer.browser(), foyer.browser()] as const;
    const codes = [
      await beginAs(browsers[0], both, newPassword),
      await beginAs(browsers[1], both, evilPassword),
    ] as const;
    const [one, two] = await Promise.all([confirm(browsers[0], codes[0]), confirm(browsers[1], codes[1])]);
    expect([one.status, two.status].sort()).toEqual([303, 409]);
    const { db } = foyer.stores.database;
    for (const address of [email, both]) {
      const id = (await member(address))?.id ?? '';
      expect(await db.selectFrom('userRecords').select('id').where('userId', '=', toUserId(id)).execute()).toHaveLength(
        1,
      );
      expect(
        await db.selectFrom('termsAcceptances').select('id').where('userId', '=', toUserId(id)).execute(),
      ).toHaveLength(1);
      expect((await foyer.mails(address)).filter(({ template }) => template === 'welcome')).toHaveLength(1);
    }
  });

  it('Of 50 guesses at a code at once five are checked', async () => {
    const browser = foyer.browser();
    const code = await begin(foyer, browser, newAddress());
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => confirm(browser, otherThan(String(Number(code) + n)))),
    );
    const texts = await Promise.all(answers.map((answer) => answer.text()));
    const isVoid = translator('en')('codes.expired');
    expect(texts.filter((text) => text.includes('Invalid code') && !text.includes(isVoid))).toHaveLength(4);
    expect(texts.filter((text) => text.includes(isVoid))).toHaveLength(46);
    expect((await confirm(browser, code)).status).toBe(400);
  });

  it('Many resends at once send one mail, and one address gets ten codes a day from all requests together', async () => {
    const email = newAddress();
    const browser = foyer.browser();
    await begin(foyer, browser, email);
    const answers = await Promise.all(Array.from({ length: 20 }, () => browser.post(codeStep, { act: 'resend' })));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(0);
    expect(await foyer.mails(email)).toHaveLength(1);
    // Separate browsers start new sign-ups and sign in to the pending one.
    for (let n = 0; n < 6; n += 1) await foyer.browser().post('/signup', profile(email));
    for (let n = 0; n < 6; n += 1) expect((await signIn(foyer.browser(), email, newPassword)).status).toBe(303);
    expect(await foyer.mails(email)).toHaveLength(10);
    const refused = await foyer.browser().post('/signup', profile(email));
    expect([refused.status, (await refused.text()).includes('Too many attempts')]).toEqual([429, true]);
    const late = foyer.browser();
    await signIn(late, email, newPassword);
    expect(await (await late.get('/verify-code')).text()).toContain('Confirm your email:');
    const asked = await late.post('/verify-code', { act: 'resend' });
    expect([asked.status, (await asked.text()).includes('Sending failed')]).toEqual([429, true]);
  });

  it('Two spellings of one address are one account, and look-alikes are not', async () => {
    const email = `kim${newAddress()}`;
    for (const [typed, status] of [
      // The Kelvin sign, whose lower case is a k.
      [email.replace('k', '\u212a'), 400],
      [`ｋ${email.slice(1)}`, 400],
      [`"${email}"@example.com`, 400],
      [`${email}\r\nBcc: all@example.com`, 400],
      [`${email},other@example.com`, 400],
      [`<${email}>`, 400],
      [`${email}\u200b`, 400],
      [` ${email.toUpperCase()}\t`, 303],
    ] as const) {
      const answer = await foyer.browser().post('/signup', profile(typed));
      expect([typed, answer.status]).toEqual([typed, status]);
    }
    expect((await foyer.mails(email)).map(({ to }) => to)).toEqual([email]);
  });

  it('No password, code or flow appears in the log', async () => {
    const email = newAddress();
    const browser = foyer.browser();
    const code = await begin(foyer, browser, email);
    const { foyer_sign_up: flow = 'none' } = await browser.cookies();
    await confirm(browser, otherThan(code));
    await confirm(browser, code);
    const logged = foyer.logged();
    for (const secret of [newPassword, flow, email]) expect(logged).not.toContain(secret);
    expect(logged).not.toMatch(new RegExp(`\\b${code}\\b`));
    expect(logged).toMatch(/"act":"sign-up","step":"confirm","outcome":"wrong"/);
  });
});

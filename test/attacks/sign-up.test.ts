import { findUserByIdentifier } from '../../server/account/index.ts';
import { type PasswordHasher, PasswordQueueFull } from '../../server/password/index.ts';
import { begin, codeFor, newAddress, newPassword, otherThan, profile } from '../sign-up/steps.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';
import { production, site } from './production.ts';
import { portOf, Visitor } from './wire.ts';

/** Its hash is the password itself; counts what it is asked, and can be made to refuse. */
function plainHasher() {
  const hasher: PasswordHasher & { hashed: number; verified: number; full: boolean } = {
    hashed: 0,
    verified: 0,
    full: false,
    async hash(given) {
      if (hasher.full) throw new PasswordQueueFull('full');
      hasher.hashed += 1;
      return `plain:${given}`;
    },
    async verify(hash, given) {
      hasher.verified += 1;
      return hash === `plain:${given}`;
    },
  };
  return hasher;
}

const codeStep = '/signup/emailCaptured';

describe.each(backends)('attacks on signing up, on $name', (backend) => {
  let foyer: TestFoyer;
  const hasher = plainHasher();
  beforeAll(async () => {
    foyer = await startFoyer(backend, { SIGN_UP_LIMIT_ADDRESS: '100000' }, { passwords: hasher });
  });
  afterAll(() => foyer?.close());

  const member = (email: string) => findUserByIdentifier(foyer.stores.database.db, { email });
  const signIn = (browser: Browser, username: string, password: string) =>
    browser.post('/sign-in', { username, password });
  const confirm = (browser: Browser, code: string) => browser.post(codeStep, { code });
  const evilPassword = 'mallory knows 7';
  async function beginAs(browser: Browser, email: string, password: string): Promise<string> {
    const answer = await browser.post('/signup', profile(email, { password }));
    expect(locationOf(answer)).toBe(foyer.url + codeStep);
    return codeFor(foyer, email);
  }

  it('taking over an unconfirmed account: who signed up first with somebody’s address has nothing once its owner confirms', async () => {
    const email = newAddress();
    const [mallory, ida] = [foyer.browser(), foyer.browser()];
    const herCode = await beginAs(mallory, email, evilPassword);
    const code = await begin(foyer, ida, email);
    expect(locationOf(await confirm(ida, code))).toBe(`${foyer.url}/signup/verifiedCode`);
    expect((await signIn(foyer.browser(), email, evilPassword)).status).toBe(400);
    expect((await signIn(foyer.browser(), email, newPassword)).status).toBe(303);
    // Nor with the code that went to the owner's mailbox.
    expect((await confirm(mallory, herCode)).status).toBe(409);
    expect((await mallory.get('/')).status).toBe(200);
    expect((await member(email))?.passwordHash).toBe(`plain:${newPassword}`);
  });

  it('taking over an unconfirmed account: who signs up with the address while its owner confirms changes nothing of it', async () => {
    const email = newAddress();
    const [mallory, ida] = [foyer.browser(), foyer.browser()];
    const code = await begin(foyer, ida, email);
    const herCode = await beginAs(mallory, email, evilPassword);
    // The owner has two mails. The one of the other flow opens nothing here, and confirms nothing there.
    if (herCode !== code) expect((await confirm(ida, herCode)).status).toBe(400);
    expect((await confirm(ida, code)).status).toBe(303);
    expect(await member(email)).toMatchObject({ passwordHash: `plain:${newPassword}`, givenName: 'Ida' });
  });

  it('guessing in a flow of one’s own neither finds nor voids the code of another', async () => {
    const email = newAddress();
    const [mallory, ida] = [foyer.browser(), foyer.browser()];
    const code = await begin(foyer, ida, email);
    await beginAs(mallory, email, evilPassword);
    for (let n = 0; n < 6; n += 1) expect((await confirm(mallory, code)).status).toBe(400);
    expect((await confirm(ida, code)).status).toBe(303);
  });

  it('a flow planted in a browser: what is begun there has a flow of its own, and the planted one sees nothing of it', async () => {
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

  it('a flow planted with the victim’s own address: the victim’s password counts, whatever is sent there afterwards', async () => {
    const email = newAddress();
    const [mallory, ida] = [foyer.browser(), foyer.browser()];
    await beginAs(mallory, email, evilPassword);
    await ida.jar.setCookie(`foyer_sign_up=${(await mallory.cookies()).foyer_sign_up}; Path=/`, foyer.url);
    const code = await begin(foyer, ida, email);
    await mallory.post('/signup', profile(email, { password: evilPassword }));
    expect((await confirm(ida, code)).status).toBe(303);
    expect((await member(email))?.passwordHash).toBe(`plain:${newPassword}`);
  });

  it('an attacker’s own account in a victim’s browser: every page of it names the address before a code is typed', async () => {
    const theirs = newAddress();
    const [mallory, ida] = [foyer.browser(), foyer.browser()];
    await beginAs(mallory, theirs, evilPassword);
    await ida.jar.setCookie(`foyer_sign_up=${(await mallory.cookies()).foyer_sign_up}; Path=/`, foyer.url);
    for (const path of ['/signup', codeStep, '/verify-code']) {
      const html = await (await ida.get(path)).text();
      expect([path, html.includes(theirs), html.includes('Start Over')]).toEqual([path, true, true]);
    }
  });

  it('login CSRF: no other site’s page begins, confirms or ends a sign-up', async () => {
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

  it('confirming many times at once makes one member', async () => {
    const email = newAddress();
    const browser = foyer.browser();
    const code = await begin(foyer, browser, email);
    const answers = await Promise.all(Array.from({ length: 10 }, () => confirm(browser, code)));
    expect(answers.filter((answer) => answer.headers.get('location') === '/signup/verifiedCode')).toHaveLength(1);
    // From two flows at once too.
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
      expect(await db.selectFrom('user_records').select('id').where('user_id', '=', id).execute()).toHaveLength(1);
      expect(await db.selectFrom('terms_acceptances').select('id').where('user_id', '=', id).execute()).toHaveLength(1);
      expect((await foyer.mails(address)).filter(({ template }) => template === 'welcome')).toHaveLength(1);
    }
  });

  it('guessing a code: 50 guesses at once have five in all', async () => {
    const browser = foyer.browser();
    const code = await begin(foyer, browser, newAddress());
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => confirm(browser, otherThan(String(Number(code) + n)))),
    );
    const texts = await Promise.all(answers.map((answer) => answer.text()));
    expect(texts.filter((text) => text.includes('Invalid code') && !text.includes('no longer works'))).toHaveLength(4);
    expect((await confirm(browser, code)).status).toBe(400);
  });

  it('resend flooding: many at once send one mail, and one address has ten codes a day whoever asks', async () => {
    const email = newAddress();
    const browser = foyer.browser();
    await begin(foyer, browser, email);
    const answers = await Promise.all(Array.from({ length: 20 }, () => browser.post(codeStep, { act: 'resend' })));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(0);
    expect(await foyer.mails(email)).toHaveLength(1);
    // From browsers of their own: new sign-ups, and sign-ins to the one that was begun.
    for (let n = 0; n < 6; n += 1) await foyer.browser().post('/signup', profile(email));
    for (let n = 0; n < 6; n += 1) expect((await signIn(foyer.browser(), email, newPassword)).status).toBe(303);
    expect(await foyer.mails(email)).toHaveLength(10);
    const refused = await foyer.browser().post('/signup', profile(email));
    expect([refused.status, (await refused.text()).includes('Too many attempts')]).toEqual([429, true]);
    const late = foyer.browser();
    await signIn(late, email, newPassword);
    expect(await (await late.get('/verify-code')).text()).toContain('still has to be confirmed');
    const asked = await late.post('/verify-code', { act: 'resend' });
    expect([asked.status, (await asked.text()).includes('Sending Failed')]).toEqual([429, true]);
  });

  it('two spellings of one address are one account, and look-alikes are none', async () => {
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

  it('nothing of passwords, codes or flows stands in the log', async () => {
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

describe.each(backends)('mass sign-ups on $name', (backend) => {
  let foyer: TestFoyer;
  const hasher = plainHasher();
  beforeAll(async () => {
    foyer = await startFoyer(
      backend,
      { ...production, SIGN_UP_LIMIT_ADDRESS: '3', SIGN_UP_LIMIT_OVERALL: '9', PASSWORD_QUEUE_FULL_STATUS: '429' },
      { passwords: hasher },
    );
  });
  afterAll(() => foyer?.close());
  const at = (ip: string) => new Visitor(portOf(foyer.url), site, { 'x-forwarded-for': ip });

  it('a full password queue: the configured status with Retry-After, everything but the password kept, and no try used up', async () => {
    const visitor = at('192.0.2.200');
    const json = { email: 'ida.sommer@example.net', password: newPassword, given_name: 'Ida', family_name: 'Sommer' };
    hasher.full = true;
    try {
      for (let n = 0; n < 5; n += 1) {
        const answer = await visitor.post('/signup', profile('ida.sommer@example.net'));
        expect([answer.status, Number(answer.headers['retry-after']) > 0]).toEqual([429, true]);
        expect(answer.text).toContain('value="ida.sommer@example.net"');
        expect(answer.text).toContain('Error signing up user');
        expect(answer.text).not.toContain(newPassword);
      }
      const called = await visitor.send('/identity/signUp', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(json),
      });
      expect([called.status, Number(called.headers['retry-after']) > 0]).toEqual([429, true]);
      expect(called.text).toContain('urn:foyer:problem:tooMany');
    } finally {
      hasher.full = false;
    }
    expect((await visitor.post('/signup', profile('ida.sommer@example.net'))).status).toBe(303);
  });

  it('are limited per address of the network, before a password is hashed, and overall', async () => {
    const asked = (ip: string) => at(ip).post('/signup', profile(newAddress()));
    const near = await Promise.all(Array.from({ length: 10 }, () => asked('192.0.2.1')));
    expect(near.filter(({ status }) => status === 303)).toHaveLength(3);
    const [refused] = near.filter(({ status }) => status === 429);
    expect(Number(refused?.headers['retry-after'])).toBeGreaterThan(0);
    expect(refused?.text).toContain('Too many attempts');
    expect(refused?.text).toContain('value="Ida"');
    // One subscriber's IPv6 network is one address; JSON is counted with the forms.
    for (let n = 0; n < 3; n += 1) await asked(`2001:db8:0:1::${n + 1}`);
    const { password: _, terms: _terms, ...json } = profile(newAddress());
    const call = await at('2001:db8:0:1::9').send('/identity/signUp', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ ...json, password: newPassword }),
    });
    expect(call.status).toBe(429);
    expect(hasher.hashed).toBe(1 + 6);
    const far = await Promise.all(Array.from({ length: 10 }, (_, n) => asked(`198.51.100.${n}`)));
    expect(far.filter(({ status }) => status === 303)).toHaveLength(2);
  });

  it('a flow’s cookie carries the prefix, and one without it, as a sibling plants it, is not looked at', async () => {
    const user = await foyer.addUser({ passwordHash: `plain:${newPassword}`, emailVerified: false });
    const visitor = at('203.0.113.5');
    expect((await visitor.post('/sign-in', { username: user.email, password: newPassword })).status).toBe(303);
    const [cookie] = (await visitor.jar.getCookies(site)).filter(({ key }) => key.includes('sign_up'));
    expect(cookie).toMatchObject({
      key: '__Host-foyer_sign_up',
      secure: true,
      httpOnly: true,
      sameSite: 'lax',
      path: '/',
    });
    expect((await visitor.get('/verify-code')).status).toBe(200);
    const planted = await at('203.0.113.6').get('/verify-code', { cookie: `foyer_sign_up=${cookie?.value}` });
    expect(planted.status).toBe(303);
  });
});

describe.each(backends)('uniform answers of sign-up, resend and sign-in, on $name', (backend) => {
  let foyer: TestFoyer;
  const hasher = plainHasher();
  beforeAll(async () => {
    foyer = await startFoyer(
      backend,
      { PREVENT_USER_EXISTENCE_ERRORS: 'true', SIGN_UP_LIMIT_ADDRESS: '100000' },
      { passwords: hasher },
    );
  });
  afterAll(() => foyer?.close());

  /** Everything that somebody sees who tries an address out, and what work it was. */
  async function tryOut(email: string) {
    const seen: unknown[] = [];
    const browser = foyer.browser();
    const shown = (text: string) =>
      text
        .replaceAll(email, 'EMAIL')
        .replace(/nonce="[^"]*"/g, '')
        // However long the machine took.
        .replace(/\d+ s\b/g, 'SECONDS')
        .replace(/waitSeconds&quot;:\d+/g, 'SECONDS');
    const rows = async () => {
      const { db } = foyer.stores.database;
      const [outbox, begun] = await Promise.all([
        db
          .selectFrom('outbox')
          .select((eb) => eb.fn.countAll<number>().as('n'))
          .executeTakeFirst(),
        db
          .selectFrom('sign_ups')
          .select((eb) => eb.fn.countAll<number>().as('n'))
          .executeTakeFirst(),
      ]);
      return [Number(outbox?.n), Number(begun?.n)];
    };
    const look = async (act: () => Promise<Response>) => {
      const [hashed, verified, before] = [hasher.hashed, hasher.verified, await rows()];
      const answer = await act();
      const after = await rows();
      seen.push({
        status: answer.status,
        location: answer.headers.get('location'),
        cookies: answer.headers.getSetCookie().map((line) => line.replace(/=[^;]*/, '')),
        text: shown(await answer.text()),
        work: [hasher.hashed - hashed, hasher.verified - verified, ...after.map((n, at) => n - (before[at] ?? 0))],
      });
    };
    await look(() => browser.post('/signup', profile(email)));
    await look(() => browser.get(codeStep));
    await look(() => browser.post(codeStep, { act: 'resend' }));
    for (let n = 0; n < 6; n += 1) await look(() => browser.post(codeStep, { code: String(100_000 + n) }));
    await look(() => browser.get('/signup'));
    const other = foyer.browser();
    await look(() => other.post('/sign-in', { username: email, password: 'something else 8' }));
    // With the very password that was typed at the sign-up.
    await look(() => other.post('/sign-in', { username: email, password: newPassword }));
    await look(() => other.get('/verify-code'));
    await look(() => other.post('/verify-code', { code: '123456' }));
    return seen;
  }

  it('tell nobody whether an address is a member’s: status, texts, cookies, hashing and mails are the same', async () => {
    const user = await foyer.addUser({ passwordHash: 'plain:of the member' });
    const stranger = newAddress();
    const [asMember, asStranger] = [await tryOut(user.email), await tryOut(stranger)];
    expect(asMember).toEqual(asStranger);
    expect(asMember).toHaveLength(14);
    const templates = async (email: string) => (await foyer.mails(email)).map(({ template }) => template);
    expect(await templates(user.email)).toEqual(['account-exists', 'account-exists']);
    expect(await templates(stranger)).toEqual(['verify-email', 'verify-email']);
    // The member still signs in, with one check.
    const before = hasher.verified;
    const answer = await foyer.browser().post('/sign-in', { username: user.email, password: 'of the member' });
    expect([answer.status, hasher.verified - before]).toEqual([303, 1]);
    expect(locationOf(answer)).not.toContain('verify-code');
  });

  it('an address that becomes a member’s meanwhile goes on looking as it did', async () => {
    const email = newAddress();
    const [mallory, ida] = [foyer.browser(), foyer.browser()];
    await mallory.post('/signup', profile(email, { password: 'mallory knows 7' }));
    await ida.post(codeStep, { code: await begin(foyer, ida, email) });
    expect(await findUserByIdentifier(foyer.stores.database.db, { email })).toBeDefined();
    expect((await mallory.get(codeStep)).status).toBe(200);
    const again = foyer.browser();
    const answer = await again.post('/sign-in', { username: email, password: 'mallory knows 7' });
    expect(locationOf(answer)).toBe(`${foyer.url}/verify-code`);
    // In whichever order the worker takes them.
    const templates = (await foyer.mails(email)).map(({ template }) => template).sort();
    expect(templates).toEqual(['account-exists', 'verify-email', 'verify-email', 'welcome']);
  });

  it('as JSON too', async () => {
    const user = await foyer.addUser();
    const call = async (email: string) => {
      const { terms: _, ...body } = profile(email);
      const answer = await foyer.browser().postJson('/identity/signUp', body);
      const { flow } = (await answer.json()) as { flow: string };
      const wrong = await foyer.browser().postJson('/identity/confirmSignUp', { flow, code: '000000' });
      return [answer.status, flow.length, wrong.status];
    };
    expect(await call(user.email)).toEqual(await call(newAddress()));
  });

  it('mail bombs: a member is told of it at most ten times a day', async () => {
    const user = await foyer.addUser();
    for (let n = 0; n < 14; n += 1) await foyer.browser().post('/signup', profile(user.email));
    expect(await foyer.mails(user.email)).toHaveLength(10);
  });
});

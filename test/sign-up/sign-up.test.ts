import { StoreUnavailable } from '../../server/store/index.ts';
import {
  findUserByIdentifier,
  findUserRecord,
  importPartnerDeals,
  listTermsAcceptances,
} from '../../server/users/index.ts';
import { type Browser, locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toNormalisedEmail, toUserId } from '../support/ids.ts';
import { relyingParty, store } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';
import { begin, codeFor, forgetWait, newAddress, newPassword, otherThan, profile } from './steps.ts';

describe.each(backends)('sign-up on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { SIGN_UP_LIMIT_ADDRESS: '100000' });
  });
  afterAll(() => foyer?.close());

  const db = () => foyer.stores.database.db;
  const member = (email: string) => findUserByIdentifier(db(), { email: toNormalisedEmail(email) });
  const search = () => `${foyer.url}/sandbox/search`;
  const errorOf = (html: string, field: string) =>
    new RegExp(`id="field-${field}-error">.*?</svg>(.*?)</p>`).exec(html)?.[1];
  const valueOfField = (html: string, field: string) =>
    new RegExp(`<input[^>]*?id="field-${field}"[^>]*>`).exec(html)?.[0].match(/ value="([^"]*)"/)?.[1];
  /** Where the page after the right code goes on to. */
  const wayOn = (html: string) =>
    new URL(/data-redirect.*?href="([^"]+)"/s.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '', foyer.url).href;
  async function confirm(browser: Browser, code: string, path = '/signup/emailCaptured') {
    return browser.post(path, { code });
  }
  async function signedIn(browser: Browser): Promise<boolean> {
    const answer = await browser.get('/');
    return answer.status === 303;
  }

  it('Three steps create a user who is signed in, with record, accepted terms and welcome mail', async () => {
    const email = newAddress();
    const browser = foyer.browser();
    const page = await (await browser.get('/signup')).text();
    expect(page).toContain('<h1>Get Started</h1>');
    expect(page).toContain('href="/tos"');
    expect(page).not.toContain('Start Over');
    const code = await begin(foyer, browser, email.toUpperCase().replace('EXAMPLE', 'Example'));
    expect(await member(email)).toBeUndefined();
    const codePage = await (await browser.get('/signup/emailCaptured')).text();
    expect(codePage).toContain('<h1>Enter Security Code</h1>');
    expect(codePage).toContain(email);
    const answer = await confirm(browser, ` ${code.slice(0, 3)} ${code.slice(3)} `);
    expect([answer.status, locationOf(answer)]).toEqual([303, `${foyer.url}/signup/verifiedCode`]);
    const verified = await (await browser.get('/signup/verifiedCode')).text();
    expect(verified).toContain('Successfully confirmed!');
    expect(wayOn(verified)).toBe(search());

    const user = await member(email);
    expect(user).toMatchObject({
      email,
      emailVerified: true,
      givenName: 'Ida',
      familyName: 'Sommer',
      source: 'general',
    });
    expect(user).toMatchObject({ acceptedTosVersion: 1, locale: 'en', passwordEpoch: 0 });
    const id = user?.id ?? '';
    expect(await findUserRecord(db(), toUserId(id))).toMatchObject({ totalRewards: '5' });
    const { hash } = foyer.deps.legal.terms('en');
    expect(await listTermsAcceptances(db(), toUserId(id))).toMatchObject([
      {
        version: 1,
        label: '1.0.0',
        lang: 'en',
        textHash: hash,
        clientId: null,
        ip: expect.stringContaining('127.0.0.1'),
      },
    ]);
    const mails = await foyer.mails(email);
    expect(mails.map(({ template }) => template)).toEqual(['verify-email', 'welcome']);
    expect(await signedIn(browser)).toBe(true);
    const names = Object.keys(await browser.cookies());
    expect(names).toEqual(expect.arrayContaining(['foyer_session', 'foyer_device']));
    // Elsewhere the password signs in.
    const elsewhere = foyer.browser();
    expect(locationOf(await elsewhere.post('/sign-in', { username: email, password: newPassword }))).toBe(search());
    // Of the password nothing is kept but the member's own hash.
    expect(
      await db().selectFrom('sign_ups').select(['state', 'password_hash']).where('email', '=', email).execute(),
    ).toEqual([{ state: 'confirmed', password_hash: '' }]);
  });

  it('Missing or wrong fields have their errors, and everything but the password is kept', async () => {
    const browser = foyer.browser();
    const empty = await browser.post('/signup', { given_name: ' ', family_name: '', email: '', password: '' });
    const html = await empty.text();
    expect(empty.status).toBe(400);
    for (const field of ['given_name', 'family_name', 'email', 'password']) {
      expect([field, errorOf(html, field)]).toEqual([field, 'Cannot be empty']);
    }
    const wrong = await browser.post('/signup', profile('ida@', { password: 'sommer' }));
    const again = await wrong.text();
    expect(wrong.status).toBe(400);
    expect(errorOf(again, 'email')).toBe('Invalid E-Mail Address');
    expect(again).toMatch(/class="field invalid".*ida@/s);
    expect(errorOf(again, 'password')).toBeDefined();
    expect(again.match(/class="unmet"/g)).toHaveLength(3);
    expect([valueOfField(again, 'given_name'), valueOfField(again, 'email')]).toEqual(['Ida', 'ida@']);
    expect(again).not.toContain('sommer');
    expect(valueOfField(again, 'password')).toBeUndefined();
    const odds: Record<string, string>[] = [
      { given_name: 'I\u0007da' },
      { family_name: 'x'.repeat(101) },
      { given_name: 'a\r\nBcc: b@c.de' },
    ];
    for (const odd of odds) {
      const answer = await browser.post('/signup', profile(newAddress(), odd));
      expect([answer.status, (await answer.text()).includes('Validation Error Detected')]).toEqual([400, true]);
    }
    expect((await browser.cookies()).foyer_sign_up).toBeUndefined();
  });

  it('An unavailable database gives 503, ‘Error signing up user’, no sign-up and keeps all but the password', async () => {
    const email = newAddress();
    const { database } = foyer.deps;
    const { transaction } = database;
    database.transaction = () => Promise.reject(new StoreUnavailable('away'));
    const browser = foyer.browser();
    try {
      const answer = await browser.post('/signup', profile(email));
      const html = await answer.text();
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
      expect(html).toContain('Error signing up user');
      expect(valueOfField(html, 'email')).toBe(email);
      expect(html).not.toContain(newPassword);
      expect((await browser.cookies()).foyer_sign_up).toBeUndefined();
    } finally {
      database.transaction = transaction;
    }
    expect(await foyer.mails(email)).toEqual([]);
    expect((await browser.post('/signup', profile(email))).status).toBe(303);
  });

  it('An address of an existing user is refused as registered', async () => {
    const { email } = await foyer.addUser();
    const browser = foyer.browser();
    const answer = await browser.post('/signup', profile(` ${email.toUpperCase()} `));
    expect(answer.status).toBe(409);
    expect(errorOf(await answer.text(), 'email')).toBe('Email Address already registered');
    expect(await foyer.mails(email)).toEqual([]);
  });

  it('A code must be complete and right, and a refused one is removed from its field', async () => {
    const browser = foyer.browser();
    const code = await begin(foyer, browser, newAddress());
    for (const short of ['', '12345', '1234567', 'abcdef', '12345a', '１２３４５６']) {
      const answer = await confirm(browser, short);
      const html = await answer.text();
      expect([short, answer.status, errorOf(html, 'code')]).toEqual([short, 400, 'Please enter all 6 digits.']);
      expect(html).toContain('field invalid');
      expect(valueOfField(html, 'code') ?? '').toBe('');
    }
    const wrong = await confirm(browser, otherThan(code));
    const html = await wrong.text();
    expect([wrong.status, errorOf(html, 'code'), valueOfField(html, 'code') ?? '']).toEqual([400, 'Invalid code', '']);
    expect(locationOf(await confirm(browser, code))).toBe(`${foyer.url}/signup/verifiedCode`);
  });

  it('Resend sends another code after a wait, which the page shows, and the previous code is void', async () => {
    const email = newAddress();
    const browser = foyer.browser();
    const first = await begin(foyer, browser, email);
    expect(await (await browser.get('/signup/emailCaptured')).text()).toMatch(/again in [1-3]?\d s/);
    const soon = await browser.post('/signup/emailCaptured', { act: 'resend' });
    const html = await soon.text();
    expect(soon.status).toBe(429);
    expect(Number(soon.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(html).toContain('Sending Failed');
    await forgetWait(foyer, (await browser.cookies()).foyer_sign_up ?? '');
    const sent = await browser.post('/signup/emailCaptured', { act: 'resend' });
    expect([sent.status, locationOf(sent)]).toEqual([303, `${foyer.url}/signup/emailCaptured`]);
    expect(await (await browser.get('/signup/emailCaptured')).text()).toContain('Email re-sent successfully!');
    const second = await codeFor(foyer, email);
    if (first !== second) expect((await confirm(browser, first)).status).toBe(400);
    expect((await confirm(browser, second)).status).toBe(303);
    foyer.passTime(11_000);
  });

  it('Of several codes for one address the newest arrives last, whichever flow requested it', async () => {
    const email = newAddress();
    const browsers = Array.from({ length: 4 }, () => foyer.browser());
    for (const browser of browsers) await browser.post('/signup', profile(email));
    const last = browsers.at(-1) ?? foyer.browser();
    expect((await confirm(last, await codeFor(foyer, email))).status).toBe(303);
  });

  it('“Wrong address?” keeps what was entered except the password and sends a code to the other address', async () => {
    const [wrong, right] = [newAddress(), newAddress()];
    const browser = foyer.browser();
    const first = await begin(foyer, browser, wrong);
    const back = await (await browser.get('/signup')).text();
    expect([valueOfField(back, 'given_name'), valueOfField(back, 'family_name'), valueOfField(back, 'email')]).toEqual([
      'Ida',
      'Sommer',
      wrong,
    ]);
    expect(back).toContain('Start Over');
    expect(back).toContain('href="/signup/emailCaptured"');
    expect(back).not.toContain(newPassword);
    const second = await begin(foyer, browser, right);
    expect(await (await browser.get('/signup/emailCaptured')).text()).toContain(right);
    if (first !== second) expect((await confirm(browser, first)).status).toBe(400);
    expect((await confirm(browser, second)).status).toBe(303);
    expect([await member(wrong), (await member(right))?.email]).toEqual([undefined, right]);
  });

  it.each([
    ['Start Over', '/signup', { act: 'start-over' }, '/signup'],
    ['Start Over at the code', '/signup/emailCaptured', { act: 'start-over' }, '/signup'],
    ['Cancel', '/signup/emailCaptured', { act: 'cancel' }, '/'],
  ])('%s forgets the sign-up, also for a copy of its cookie', async (_name, path, fields, to) => {
    const browser = foyer.browser();
    const code = await begin(foyer, browser, newAddress());
    const cookie = await browser.jar.getCookieString(foyer.url);
    expect(locationOf(await browser.post(path, fields))).toBe(foyer.url + to);
    expect((await browser.cookies()).foyer_sign_up ?? '').toBe('');
    const copy = foyer.browser();
    await copy.jar.setCookie(cookie, foyer.url);
    expect((await confirm(copy, code)).status).toBe(400);
    const fresh = await (await browser.get('/signup')).text();
    expect([valueOfField(fresh, 'email') ?? '', fresh.includes('Start Over')]).toEqual(['', false]);
  });

  it('A visitor with nothing to confirm is redirected to the right page', async () => {
    const visitor = foyer.browser();
    expect(locationOf(await visitor.get('/signup/emailCaptured?redirect=/tos'))).toBe(
      `${foyer.url}/signup?redirect=%2Ftos`,
    );
    expect(locationOf(await visitor.get('/signup/verifiedCode'))).toBe(`${foyer.url}/signup`);
    expect(locationOf(await visitor.get('/verify-code?redirect=/tos'))).toBe(`${foyer.url}/?redirect=%2Ftos`);
    const lost = await visitor.post('/signup/emailCaptured', { code: '123456' });
    expect([lost.status, (await lost.text()).includes('can no longer be found')]).toEqual([400, true]);
    const known = await foyer.signedIn(await foyer.addUser());
    for (const path of [
      '/signup',
      '/signup/emailCaptured',
      '/signup/verifiedCode',
      '/signup/addPayment',
      '/verify-code',
    ]) {
      expect([path, locationOf(await known.get(path))]).toEqual([path, search()]);
      expect(locationOf(await known.get(`${path}?redirect=/tos`))).toBe(`${foyer.url}/tos`);
    }
    await begin(foyer, visitor, newAddress());
    for (const path of ['/signup/verifiedCode', '/signup/addPayment']) {
      expect(locationOf(await visitor.get(path))).toBe(`${foyer.url}/signup/emailCaptured`);
    }
  });

  it('An unknown step gets a 404 page of the sign-up', async () => {
    for (const path of [
      '/signup/nothing',
      '/signup/plan',
      '/signup/plan/a%20b',
      '/signup/plan/x/nothing',
      '/signup/',
      '/Signup',
    ]) {
      const answer = await foyer.browser().get(path);
      const oops = (await answer.text()).includes('Oops - Page not found');
      expect([path, answer.status, oops]).toEqual([path, 404, path !== '/Signup']);
    }
  });

  it('A plan in the address is stored with the sign-up, and its steps have the plan in their address', async () => {
    const email = newAddress();
    const browser = foyer.browser();
    const page = await (await browser.get('/signup/plan/hollyfy_m-99?redirect=/tos')).text();
    expect(page).toContain('action="/signup/plan/hollyfy_m-99?redirect=%2Ftos"');
    const answer = await browser.post('/signup/plan/hollyfy_m-99?redirect=/tos', profile(email));
    expect(locationOf(answer)).toBe(`${foyer.url}/signup/plan/hollyfy_m-99/emailCaptured?redirect=%2Ftos`);
    const row = await db().selectFrom('sign_ups').select('plan_key').where('email', '=', email).executeTakeFirst();
    expect(row).toEqual({ plan_key: 'hollyfy_m-99' });
    const code = await codeFor(foyer, email);
    const confirmed = await confirm(browser, code, '/signup/plan/hollyfy_m-99/emailCaptured?redirect=/tos');
    expect(locationOf(confirmed)).toBe(`${foyer.url}/signup/plan/hollyfy_m-99/verifiedCode?redirect=%2Ftos`);
    expect(wayOn(await (await browser.get(locationOf(confirmed))).text())).toBe(`${foyer.url}/tos`);
  });

  it('The email in the query fills the field', async () => {
    const html = await (await foyer.browser().get('/signup?email=ida%2Bnews%40example.com')).text();
    expect(valueOfField(html, 'email')).toBe('ida+news@example.com');
    expect(html).not.toContain('readOnly=""');
  });

  it('A sign-up from the partner has a fixed address and claims the deal', async () => {
    const email = `ida+deal${newAddress()}`;
    await foyer.stores.database.transaction((trx) =>
      importPartnerDeals(trx, [{ email: toNormalisedEmail(email), tier: 2 }], 1),
    );
    const browser = foyer.browser();
    // A plus sign in a query is a space.
    const query = `email=${email}&from=appsumo`;
    const html = await (await browser.get(`/signup?${query}`)).text();
    expect(valueOfField(html, 'email')).toBe(email);
    expect(html).toMatch(/<input[^>]*readOnly=""[^>]*id="field-email"/);
    expect(html).toContain('name="from" value="appsumo"');
    // Also after a mistake, and when the language is changed on that page.
    const again = await (await browser.post('/signup', profile(email, { from: 'appsumo', password: '' }))).text();
    expect(again).toMatch(/<input[^>]*readOnly=""[^>]*id="field-email"/);
    expect(again).toContain(`value="/signup?email=${encodeURIComponent(email)}&amp;from=appsumo"`);
    await browser.post('/signup', profile(email, { from: 'appsumo' }));
    await confirm(browser, await codeFor(foyer, email));
    const user = await member(email);
    expect(user?.source).toBe('appsumo');
    const deal = await db()
      .selectFrom('partner_deals')
      .selectAll()
      .where('email', '=', toNormalisedEmail(email))
      .executeTakeFirst();
    expect(deal).toMatchObject({ user_id: user?.id, used_at: expect.any(Number) });
    // Once.
    expect(locationOf(await foyer.browser().get(`/signup?${query}`))).toBe(`${foyer.url}/signup`);
  });

  it('Attack: a sign-up from the partner without a deal is an ordinary sign-up', async () => {
    const browser = foyer.browser();
    expect(locationOf(await browser.get('/signup?email=nobody@example.com&from=appsumo'))).toBe(`${foyer.url}/signup`);
    expect(locationOf(await browser.get('/signup?from=appsumo&redirect=/tos'))).toBe(
      `${foyer.url}/signup?redirect=%2Ftos`,
    );
    const email = newAddress();
    const forged = await browser.post('/signup', profile(email, { from: 'appsumo' }));
    expect(locationOf(forged)).toBe(`${foyer.url}/signup`);
    expect(await foyer.mails(email)).toEqual([]);
  });

  it('Terms that were raised since the form was shown count as not accepted', async () => {
    const email = newAddress();
    const browser = foyer.browser();
    await browser.post('/signup', profile(email, { terms: '0' }));
    const answer = await confirm(browser, await codeFor(foyer, email));
    const verified = await (await browser.get(locationOf(answer))).text();
    expect(new URL(wayOn(verified)).pathname).toBe('/tos');
    expect((await member(email))?.acceptedTosVersion).toBeNull();
  });

  it('A waiting client gets its code after the sign-up and is recorded with the accepted terms', async () => {
    const app = await relyingParty(foyer, await foyer.addClient({ name: 'Orchard' }));
    const begun = await app.begin({ prompt: 'login' });
    const email = newAddress();
    const browser = foyer.browser();
    const landing = new URL(locationOf(await browser.get(begun.url, { from: 'cross-site' })));
    const page = await (await browser.get(landing.href)).text();
    const link = /href="(\/signup\?[^"]+)"/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect(await (await browser.get(link)).text()).toContain('Create an account to continue to Orchard.');
    const captured = locationOf(await browser.post(link, profile(email)));
    const confirmed = await confirm(browser, await codeFor(foyer, email), captured);
    const verified = await (await browser.get(locationOf(confirmed))).text();
    const resumed = await browser.get(await store(browser, wayOn(verified)));
    const tokens = await app.redeem(locationOf(resumed), begun);
    expect(tokens.claims()).toMatchObject({ email, email_verified: true, given_name: 'Ida', amr: ['pwd'] });
    expect(await listTermsAcceptances(db(), toUserId(tokens.claims()?.sub ?? ''))).toMatchObject([
      { clientId: app.id },
    ]);
  });

  it('A waiting client is kept when the account is confirmed at an address without its request', async () => {
    const app = await relyingParty(foyer, await foyer.addClient());
    const begun = await app.begin();
    const email = newAddress();
    const browser = foyer.browser();
    const { search: errand } = new URL(locationOf(await browser.get(begun.url, { from: 'cross-site' })));
    const code = await begin(foyer, browser, email, errand);
    const confirmed = locationOf(await confirm(browser, code));
    expect(new URL(confirmed).searchParams.get('authorization_code')).toBe(
      new URLSearchParams(errand).get('authorization_code'),
    );
    // On another device that request would be none: it goes on without.
    const other = newAddress();
    const there = foyer.browser();
    const { search: second } = new URL(locationOf(await there.get((await app.begin()).url, { from: 'cross-site' })));
    await begin(foyer, there, other, second);
    const here = foyer.browser();
    await here.post('/sign-in', { username: other, password: newPassword });
    const answer = await confirm(here, await codeFor(foyer, other), '/verify-code');
    expect(locationOf(answer)).toBe(`${foyer.url}/signup/verifiedCode`);
  });

  it('Every step survives a reload, a second tab and the back button', async () => {
    const email = newAddress();
    const browser = foyer.browser();
    const code = await begin(foyer, browser, email);
    for (const _ of [1, 2]) expect((await browser.get('/signup/emailCaptured')).status).toBe(200);
    expect((await browser.get('/signup')).status).toBe(200);
    await confirm(browser, code);
    // The second tab still shows the field, and sends the same code; and the first goes back.
    expect(locationOf(await confirm(browser, code))).toBe(search());
    for (const path of ['/signup', '/signup/emailCaptured']) expect(locationOf(await browser.get(path))).toBe(search());
    for (const _ of [1, 2]) expect((await browser.get('/signup/verifiedCode')).status).toBe(200);
    foyer.passTime(61_000);
    expect(locationOf(await browser.get('/signup/verifiedCode'))).toBe(search());
  });

  it('A German browser gets German pages and mails, and the user is stored with that language', async () => {
    const email = newAddress();
    const browser = foyer.browser();
    browser.headers['accept-language'] = 'de-AT';
    expect(await (await browser.get('/signup')).text()).toContain('<h1>Los geht’s</h1>');
    const code = await begin(foyer, browser, email);
    expect((await foyer.mails(email))[0]?.html).toContain('lang="de"');
    await confirm(browser, code);
    expect(await member(email)).toMatchObject({ locale: 'de' });
  });
});

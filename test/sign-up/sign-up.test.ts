import { StoreUnavailable } from '../../server/store/index.ts';
import { findUserRecord, listTermsAcceptances } from '../../server/users/index.ts';
import { locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toUserId } from '../support/ids.ts';
import { backends } from '../support/stores.ts';
import {
  begin,
  codeFor,
  confirm,
  errorOf,
  isSignedIn,
  member,
  newAddress,
  newPassword,
  profile,
  valueOfField,
  wayOn,
} from './steps.ts';

describe.each(backends)('sign-up on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { SIGN_UP_LIMIT_ADDRESS: '100000' });
  });
  afterAll(() => foyer?.close());

  const db = () => foyer.stores.database.db;
  const search = () => `${foyer.url}/sandbox/search`;

  it('Three steps create a user who is signed in, with record, accepted terms and welcome mail', async () => {
    const email = newAddress();
    const browser = foyer.browser();
    const page = await (await browser.get('/signup')).text();
    expect(page).toContain('<h1>Get started</h1>');
    expect(page).toContain('href="/tos"');
    expect(page).not.toContain('Start over');
    const code = await begin(foyer, browser, email.toUpperCase().replace('EXAMPLE', 'Example'));
    expect(await member(foyer, email)).toBeUndefined();
    const codePage = await (await browser.get('/signup/emailCaptured')).text();
    expect(codePage).toContain('<h1>Enter security code</h1>');
    expect(codePage).toContain(email);
    const answer = await confirm(browser, ` ${code.slice(0, 3)} ${code.slice(3)} `);
    expect([answer.status, locationOf(answer)]).toEqual([303, `${foyer.url}/signup/verifiedCode`]);
    const verified = await (await browser.get('/signup/verifiedCode')).text();
    expect(verified).toContain('Successfully confirmed!');
    expect(wayOn(foyer, verified)).toBe(search());

    const user = await member(foyer, email);
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
    expect(await isSignedIn(browser)).toBe(true);
    const names = Object.keys(await browser.cookies());
    expect(names).toEqual(expect.arrayContaining(['foyer_session', 'foyer_device']));
    // The password signs in from another browser.
    const elsewhere = foyer.browser();
    expect(locationOf(await elsewhere.post('/sign-in', { username: email, password: newPassword }))).toBe(search());
    // Only the hash of the user keeps anything of the password.
    expect(
      await db().selectFrom('signUps').select(['state', 'passwordHash']).where('email', '=', email).execute(),
    ).toEqual([{ state: 'confirmed', passwordHash: '' }]);
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
    expect(errorOf(again, 'email')).toBe('Invalid email address');
    expect(again).toMatch(/class="field invalid".*ida@/s);
    expect(errorOf(again, 'password')).toBeDefined();
    expect(again.match(/<li class="open"/g)).toHaveLength(3);
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
      expect([answer.status, (await answer.text()).includes('Validation error detected')]).toEqual([400, true]);
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
    expect(errorOf(await answer.text(), 'email')).toBe('Email address already registered');
    expect(await foyer.mails(email)).toEqual([]);
  });

  it('Terms that were raised since the form was shown count as not accepted', async () => {
    const email = newAddress();
    const browser = foyer.browser();
    await browser.post('/signup', profile(email, { terms: '0' }));
    const answer = await confirm(browser, await codeFor(foyer, email));
    const verified = await (await browser.get(locationOf(answer))).text();
    expect(new URL(wayOn(foyer, verified)).pathname).toBe('/tos');
    expect((await member(foyer, email))?.acceptedTosVersion).toBeNull();
  });

  it('Every step survives a reload, a second tab and the back button', async () => {
    const email = newAddress();
    const browser = foyer.browser();
    const code = await begin(foyer, browser, email);
    for (const _ of [1, 2]) expect((await browser.get('/signup/emailCaptured')).status).toBe(200);
    expect((await browser.get('/signup')).status).toBe(200);
    await confirm(browser, code);
    // The second tab sends the same code again, and the first tab goes back.
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
    expect(await member(foyer, email)).toMatchObject({ locale: 'de' });
  });
});

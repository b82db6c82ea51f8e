import { deleteExpired } from '../../server/sign-up/sign-up-store.ts';
import { findUserByIdentifier, findUserRecord, setDisabled } from '../../server/users/index.ts';
import { locationOf } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { relyingParty, store } from '../support/relying-party.ts';
import { backends, flushKeyValue } from '../support/stores.ts';
import { begin, codeFor, forgetWait, newAddress, newPassword, otherThan, profile } from './steps.ts';

const dayMs = 24 * 60 * 60_000;

describe.each(backends)('sign-in without a confirmed address on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { SIGN_UP_LIMIT_ADDRESS: '100000' });
  });
  afterAll(() => foyer?.close());

  const db = () => foyer.stores.database.db;
  const signIn = (email: string, secret = newPassword, browser = foyer.browser(), search = '') =>
    browser
      .post(`/sign-in${search}`, { username: email, password: secret, remember: '1' })
      .then((answer) => ({ answer, browser }));

  it('On another device the password leads to the code, and the code to the return address', async () => {
    const email = newAddress();
    const first = await begin(foyer, foyer.browser(), email);
    const wrong = await signIn(email, 'not that one 7');
    expect([
      wrong.answer.status,
      (await wrong.answer.text()).includes('Incorrect email, phone number or password.'),
    ]).toEqual([400, true]);
    const { answer, browser } = await signIn(email, newPassword, foyer.browser(), '?redirect=/tos');
    expect(locationOf(answer)).toBe(`${foyer.url}/verify-code?redirect=%2Ftos`);
    const html = await (await browser.get(locationOf(answer))).text();
    expect(html).toContain('<h1>Enter security code</h1>');
    expect(html).toContain(email);
    expect(html).not.toContain('PROFILE');
    const code = await codeFor(foyer, email);
    if (code !== first) expect((await browser.post('/verify-code', { code: first })).status).toBe(400);
    const confirmed = await browser.post('/verify-code?redirect=/tos', { code });
    expect(locationOf(confirmed)).toBe(`${foyer.url}/signup/verifiedCode?redirect=%2Ftos`);
    expect(locationOf(await browser.get('/?redirect=/tos'))).toBe(`${foyer.url}/tos`);
    // Remember Me was checked.
    const session = confirmed.headers.getSetCookie().find((line) => line.startsWith('foyer_session='));
    expect(session).toMatch(/Max-Age=2592000|Expires=/);
  });

  it('A waiting client gets its code after the confirmation', async () => {
    const app = await relyingParty(foyer, await foyer.addClient({ idTokenClaims: true }));
    const begun = await app.begin();
    const email = newAddress();
    await begin(foyer, foyer.browser(), email);
    const browser = foyer.browser();
    const { search } = new URL(locationOf(await browser.get(begun.url, { from: 'cross-site' })));
    const { answer } = await signIn(email, newPassword, browser, search);
    const confirmed = locationOf(
      await browser.post(`/verify-code${new URL(locationOf(answer)).search}`, { code: await codeFor(foyer, email) }),
    );
    const resumed = await browser.get(await store(browser, confirmed));
    const tokens = await app.redeem(locationOf(resumed), begun);
    expect(tokens.claims()).toMatchObject({ email, email_verified: true });
  });

  it('No page and no store keeps the entered password', async () => {
    const email = newAddress();
    await begin(foyer, foyer.browser(), email);
    const written: string[] = [];
    const { kv } = foyer.deps;
    const set = kv.set.bind(kv);
    kv.set = async (...args) => {
      written.push(...args.map(String));
      await set(...args);
    };
    try {
      const { browser } = await signIn(email);
      expect(await (await browser.get('/verify-code')).text()).not.toContain(newPassword);
    } finally {
      kv.set = set;
    }
    expect(written.length).toBeGreaterThan(1);
    expect(written.join('\n')).not.toContain(newPassword);
  });

  it('A user whom an operator created without a confirmed address confirms it in the same way', async () => {
    const user = await foyer.addUser({ emailVerified: false, acceptedTosVersion: null });
    const { answer, browser } = await signIn(user.email, password);
    expect(locationOf(answer)).toBe(`${foyer.url}/verify-code`);
    const html = await (await browser.get('/verify-code')).text();
    // The user has no other address.
    expect(html).not.toMatch(/>Back</);
    const code = await codeFor(foyer, user.email);
    expect((await browser.post('/verify-code', { code: otherThan(code) })).status).toBe(400);
    expect((await browser.post('/verify-code', { code })).status).toBe(303);
    const confirmed = await findUserByIdentifier(db(), { email: user.email });
    expect(confirmed).toMatchObject({ id: user.id, emailVerified: true, acceptedTosVersion: null });
    expect(await findUserRecord(db(), user.id)).toMatchObject({ totalRewards: '5' });
    expect(new URL(locationOf(await browser.get('/'))).pathname).toBe('/tos');
    expect((await foyer.mails(user.email)).map(({ template }) => template)).toContain('welcome');
  });

  it('A user who is disabled before the confirmation gets a message and no session', async () => {
    const user = await foyer.addUser({ emailVerified: false });
    const { browser } = await signIn(user.email, password);
    const code = await codeFor(foyer, user.email);
    await setDisabled(db(), user.id, { disabledAt: 1, nowMs: 1 });
    const answer = await browser.post('/verify-code', { code });
    expect([answer.status, (await answer.text()).includes('User is disabled.')]).toEqual([403, true]);
    expect((await browser.get('/')).status).toBe(200);
    expect((await findUserByIdentifier(db(), { email: user.email }))?.emailVerified).toBe(false);
  });

  it('A signed-in user whose address is no longer confirmed gets a code by Resend', async () => {
    const user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    await db().updateTable('users').set({ emailVerified: 0 }).where('id', '=', user.id).execute();
    expect(locationOf(await browser.get('/'))).toBe(`${foyer.url}/verify-code`);
    expect(await (await browser.get('/verify-code')).text()).toContain('Confirm your email:');
    expect(await foyer.mails(user.email)).toEqual([]);
    expect(locationOf(await browser.post('/verify-code', { act: 'resend' }))).toBe(`${foyer.url}/verify-code`);
    const answer = await browser.post('/verify-code', { code: await codeFor(foyer, user.email) });
    expect(answer.status).toBe(303);
    expect(locationOf(await browser.get('/'))).toBe(`${foyer.url}/sandbox/search`);
  });

  it('After the loss of the key-value store the password leads to a new code', async () => {
    const email = newAddress();
    const browser = foyer.browser();
    const code = await begin(foyer, browser, email);
    await flushKeyValue(foyer.stores);
    expect((await browser.post('/signup/emailCaptured', { code })).status).toBe(400);
    await signIn(email, newPassword, browser);
    expect((await browser.post('/verify-code', { code: await codeFor(foyer, email) })).status).toBe(303);
  });

  it('A restart of the server keeps the sign-up', async () => {
    const email = newAddress();
    const browser = foyer.browser();
    const code = await begin(foyer, browser, email);
    const again = await startFoyer({ ...backend, open: async () => ({ ...foyer.stores, destroy: async () => {} }) });
    try {
      const cookie = await browser.jar.getCookieString(foyer.url);
      const there = again.browser();
      for (const one of cookie.split('; ')) await there.jar.setCookie(one, again.url);
      expect((await there.post('/signup/emailCaptured', { code })).headers.get('location')).toBe(
        '/signup/verifiedCode',
      );
    } finally {
      await again.close();
    }
  });

  it('An unconfirmed account is deleted after seven days and never blocks the address', async () => {
    const email = newAddress();
    const browser = foyer.browser();
    const code = await begin(foyer, browser, email);
    foyer.passTime(6 * dayMs);
    await forgetWait(foyer, (await browser.cookies()).foyer_sign_up ?? '');
    // A resent code starts the time limit again.
    expect((await browser.post('/signup/emailCaptured', { act: 'resend' })).status).toBe(303);
    foyer.passTime(6 * dayMs);
    expect((await browser.get('/signup/emailCaptured')).status).toBe(200);
    expect(await deleteExpired(db(), foyer.deps.now(), 1000)).toBeGreaterThan(0);
    foyer.passTime(2 * dayMs);
    expect((await browser.get('/signup/emailCaptured')).status).toBe(303);
    expect((await browser.post('/signup/emailCaptured', { code })).status).toBe(400);
    const { answer } = await signIn(email);
    expect(await answer.text()).toContain('User does not exist.');
    const left = () => db().selectFrom('signUps').select('id').where('email', '=', email).execute();
    expect(await left()).toHaveLength(1);
    await deleteExpired(db(), foyer.deps.now(), 1000);
    expect(await left()).toHaveLength(0);
    expect((await foyer.browser().post('/signup', profile(email))).status).toBe(303);
  });
});

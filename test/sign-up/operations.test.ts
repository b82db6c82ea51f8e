import { findUserByIdentifier } from '../../server/users/index.ts';
import { locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';
import { codeFor, forgetWait, newAddress, newPassword, otherThan } from './steps.ts';

describe.each(backends)('sign-up by JSON on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { SIGN_UP_LIMIT_ADDRESS: '100000' });
  });
  afterAll(() => foyer?.close());

  const body = (email: string, more: object = {}) => ({
    email,
    password: newPassword,
    given_name: 'Ida',
    family_name: 'Sommer',
    ...more,
  });
  async function call(operation: string, sent: object) {
    const answer = await foyer.browser().postJson(`/identity/${operation}`, sent);
    return { answer, status: answer.status, said: (await answer.json()) as Record<string, unknown> };
  }
  const begun = async (email: string, more: object = {}) => String((await call('signUp', body(email, more))).said.flow);

  it('The calls signUp and confirmSignUp create a user who can sign in, but no session', async () => {
    const email = newAddress();
    const flow = await begun(email, { tos_version: 1, locale: 'fr' });
    const code = await codeFor(foyer, email);
    expect((await foyer.mails(email))[0]?.html).toContain('lang="fr"');
    const { answer, status, said } = await call('confirmSignUp', { flow, code });
    const user = await findUserByIdentifier(foyer.stores.database.db, { email });
    expect([status, said]).toEqual([200, { sub: user?.id }]);
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect(user).toMatchObject({ emailVerified: true, acceptedTosVersion: 1, locale: 'fr' });
    const signedIn = await foyer.browser().post('/sign-in', { username: email, password: newPassword });
    expect(locationOf(signedIn)).toBe(`${foyer.url}/sandbox/search`);
    // Once.
    expect((await call('confirmSignUp', { flow, code })).status).toBe(404);
  });

  it('A sign-up by JSON is logged like a sign-up by form', () => {
    for (const [step, outcome] of [
      ['begin', 'begun'],
      ['confirm', 'confirmed'],
    ]) {
      expect(foyer.logged()).toContain(`"act":"sign-up","step":"${step}","outcome":"${outcome}"`);
    }
  });

  it('Terms that were not accepted, or in another version, must be accepted at the sign-in', async () => {
    for (const more of [{}, { tos_version: 99 }]) {
      const email = newAddress();
      const flow = await begun(email, more);
      await call('confirmSignUp', { flow, code: await codeFor(foyer, email) });
      const user = await findUserByIdentifier(foyer.stores.database.db, { email });
      expect(user?.acceptedTosVersion).toBeNull();
    }
  });

  it('Refusals have the messages of the specification', async () => {
    const { email } = await foyer.addUser();
    const taken = await call('signUp', body(email));
    expect([taken.status, taken.said.detail]).toEqual([409, 'An account with the given email already exists.']);
    const invalid = await call('signUp', body('ida@', { given_name: ' ', password: 'short' }));
    expect([invalid.status, invalid.said.detail]).toEqual([400, 'Validation error detected']);
    expect(invalid.said.errors).toEqual([
      { name: 'body.given_name', detail: 'Cannot be empty' },
      { name: 'body.email', detail: 'Invalid email address' },
      { name: 'body.password', detail: 'too-short' },
      { name: 'body.password', detail: 'no-number-or-symbol' },
    ]);
    const { password: _, ...withoutPassword } = body(newAddress());
    for (const sent of [withoutPassword, { ...withoutPassword, password: '' }]) {
      const answer = await call('signUp', sent);
      expect([answer.status, answer.said.detail]).toEqual([400, 'Password cannot be empty.']);
    }
    const address = newAddress();
    const flow = await begun(address);
    const code = await codeFor(foyer, address);
    for (const wrong of [otherThan(code), '12', '']) {
      const answer = await call('confirmSignUp', { flow, code: wrong });
      expect([wrong, answer.status, answer.said.detail]).toEqual([wrong, 400, 'Invalid code']);
    }
    for (const unknown of ['x', 'A'.repeat(43)]) {
      expect((await call('confirmSignUp', { flow: unknown, code })).status).toBe(404);
      expect((await call('resendConfirmationCode', { flow: unknown })).status).toBe(404);
    }
    expect((await call('signUp', body(newAddress(), { source: 'appsumo' }))).status).toBe(400);
  });

  it('The call resendConfirmationCode sends another code after a wait', async () => {
    const email = newAddress();
    const flow = await begun(email);
    const soon = await call('resendConfirmationCode', { flow });
    expect([soon.status, soon.said.detail]).toEqual([429, 'Sending Failed']);
    expect(Number(soon.answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(String(soon.said.retryAfter)).toBe(soon.answer.headers.get('retry-after'));
    await forgetWait(foyer, flow);
    expect(await call('resendConfirmationCode', { flow })).toMatchObject({ status: 200, said: { flow } });
    expect((await foyer.mails(email)).filter(({ template }) => template === 'verify-email')).toHaveLength(2);
    expect((await call('confirmSignUp', { flow, code: await codeFor(foyer, email) })).status).toBe(200);
  });

  it('A flow of the JSON API can be continued with the form, and the API reads no cookie', async () => {
    const email = newAddress();
    const flow = await begun(email);
    const browser = foyer.browser();
    await browser.jar.setCookie(`foyer_sign_up=${flow}; Path=/`, foyer.url);
    const without = await browser.postJson('/identity/confirmSignUp', { code: await codeFor(foyer, email) });
    expect(without.status).toBe(400);
    const answer = await browser.post('/signup/emailCaptured', { code: await codeFor(foyer, email) });
    expect(locationOf(answer)).toBe(`${foyer.url}/signup/verifiedCode`);
  });
});

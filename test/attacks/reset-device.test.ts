import { createHash } from 'node:crypto';
import { fresh, undoPath, undoToken } from '../account/contact/steps.ts';
import { newPassword } from '../password/steps.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends, keysOf } from '../support/stores.ts';
import { production, site } from './production.ts';
import { portOf, Visitor } from './wire.ts';

/** Strangers guess without pause; a user who proves the mailbox in a browser must be able to sign in there. */
describe.each(backends)('attack: strangers lock out a user who has reset the password, on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { ...production, GUESS_LIMIT_ACCOUNT: '4' });
  });
  afterAll(() => foyer?.close());

  const at = (ip: string) => new Visitor(portOf(foyer.url), site, { 'x-forwarded-for': ip });
  const signIn = (visitor: Visitor, user: { email: string }, given = newPassword) =>
    visitor.post('/sign-in', { username: user.email, password: given });
  async function guessAt(user: { email: string }) {
    for (let n = 0; n < 6; n += 1) await signIn(at(`198.51.100.${n}`), user, `guess ${n}`);
  }
  async function resetCode(email: string) {
    const mails = (await foyer.mails(email)).filter(({ template }) => template === 'password-reset');
    return String(mails.at(-1)?.values.code);
  }
  async function resetIn(home: Visitor, user: { email: string }) {
    expect((await home.post('/forgot-password', { username: user.email })).status).toBe(303);
    const fields = { code: await resetCode(user.email), password: newPassword, confirm: newPassword };
    const answer = await home.post(`/reset-password?${new URLSearchParams({ username: user.email })}`, fields);
    expect(answer.status).toBe(303);
  }
  const templates = async (email: string) => (await foyer.mails(email)).map(({ template }) => template);

  it('The browser that has reset the password signs in with it while the guessing continues', async () => {
    const user = await foyer.addUser();
    await guessAt(user);
    const home = at('203.0.113.1');
    await resetIn(home, user);
    // The reset signs no user in.
    expect((await home.get('/settings')).status).toBe(303);
    await guessAt(user);
    expect((await signIn(at('203.0.113.2'), user)).status).toBe(429);
    expect((await signIn(home, user)).status).toBe(303);
    expect(await templates(user.email)).not.toContain('new-device');
    // A sign-in from another browser still causes a mail.
    await foyer.app.sessions.endAll(user.id);
    await foyer.deps.kv.delete(...(await keysOf(foyer.stores, 'guess:account:')));
    expect((await signIn(at('203.0.113.3'), user)).status).toBe(303);
    expect(await templates(user.email)).toContain('new-device');
  });

  it('Guesses at the old password do not count against the new one, after a reset by page and by call', async () => {
    const user = await foyer.addUser();
    await guessAt(user);
    await resetIn(at('203.0.113.4'), user);
    expect((await signIn(at('203.0.113.5'), user)).status).toBe(303);
    await guessAt(user);
    const call = async (path: string, body: object) => {
      const headers = { 'content-type': 'application/json', accept: 'application/json' };
      const answer = await at('203.0.113.6').send(path, { method: 'POST', headers, body: JSON.stringify(body) });
      return { status: answer.status, body: JSON.parse(answer.text) as { flow?: string } };
    };
    const { flow } = (await call('/identity/forgotPassword', { username: user.email })).body;
    const code = await resetCode(user.email);
    const submitted = await call('/identity/forgotPasswordSubmit', { flow, code, newPassword: password });
    expect(submitted.status).toBe(200);
    expect((await signIn(at('203.0.113.7'), user, password)).status).toBe(303);
  });

  it('The browser that has undone a change of address signs in with the new password', async () => {
    const user = await foyer.addUser();
    const thief = at('192.0.2.1');
    expect((await signIn(thief, user, password)).status).toBe(303);
    const moved = fresh().email;
    expect((await thief.post('/settings/email', { email: moved })).status).toBe(303);
    const code = (await foyer.mails(moved)).find(({ template }) => template === 'change-email')?.values.code;
    expect((await thief.post('/settings/email/code', { code: String(code) })).status).toBe(303);
    await guessAt(user);
    const token = await undoToken(foyer, user.email);
    const home = at('203.0.113.8');
    const fields = { token, password: newPassword, confirm: newPassword };
    expect((await home.post(undoPath(token), fields)).status).toBe(303);
    expect((await signIn(at('203.0.113.9'), user)).status).toBe(303);
    await guessAt(user);
    expect((await signIn(at('203.0.113.10'), user)).status).toBe(429);
    expect((await signIn(home, user)).status).toBe(303);
  });

  it('A stolen key-value store reveals no address by a plain hash, neither in guesses nor in pending resets', async () => {
    const email = 'guessable@example.com';
    await foyer.addUser({ email });
    await signIn(at('203.0.113.20'), { email }, 'wrong');
    await at('203.0.113.20').post('/forgot-password', { username: email });
    const keys = await keysOf(foyer.stores, '');
    const flows = keys.filter((key) => key.startsWith('reset-flow:'));
    expect(flows.length).toBeGreaterThan(0);
    expect(keys.some((key) => key.startsWith('guess:account:'))).toBe(true);
    const values = await Promise.all(flows.map((key) => foyer.deps.kv.get(key)));
    const all = [...keys, ...values].join('\n');
    for (const encoding of ['hex', 'base64', 'base64url'] as const) {
      const hash = createHash('sha256').update(email).digest(encoding).slice(0, 20);
      expect(all).not.toContain(hash);
    }
    expect(all).not.toContain(email);
  });
});

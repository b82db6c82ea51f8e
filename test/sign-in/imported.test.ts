import { hash as bcrypt } from '@node-rs/bcrypt';
import { createDecoyHashes, PasswordQueueFullError } from '../../server/password/index.ts';
import { rehashPassword } from '../../server/users/index.ts';
import { codeFor, newPassword, read, resetPath, submit } from '../password/steps.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toUserId } from '../support/ids.ts';
import { imported } from '../support/imported.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';
import { waitFor } from '../support/wait-for.ts';

const oldPassword = 'as it was there 5';

const withHash = async () => ({
  passwordHash: await bcrypt(oldPassword, { cost: 4, version: '2a' }),
  passwordProfile: 'bcrypt$04',
});

const stored = ({ stores }: TestFoyer, { id }: { id: string }) =>
  stores.database.db.selectFrom('users').selectAll().where('id', '=', toUserId(id)).executeTakeFirstOrThrow();

describe.each(backends)('imported users on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { GUESS_LIMIT_ADDRESS: '1000' });
  });
  afterAll(() => foyer?.close());
  const signIn = (username: string, password: string, browser = foyer.browser()) =>
    browser.post('/sign-in', { username, password });

  it('An imported user signs in with the old password, which then gets Foyer’s own hash', async () => {
    const member = await imported(foyer, await withHash());
    expect((await signIn(member.email, 'not that one 1')).status).toBe(400);
    expect((await stored(foyer, member)).passwordHash).toBe(member.passwordHash);
    // One of several requests at once stores the new hash, and all sign in.
    const answers = await Promise.all([1, 2, 3].map(() => signIn(member.email, oldPassword)));
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303]);
    const after = await stored(foyer, member);
    expect(after).toMatchObject({ passwordProfile: null, passwordEpoch: 0 });
    expect(after.passwordHash).toMatch(/^\$hmac-sha256\$k=[\w-]{8}\$argon2id\$/);
    expect((await signIn(member.email, oldPassword)).status).toBe(303);
    expect((await stored(foyer, member)).passwordHash).toBe(after.passwordHash);
  });

  it('An imported user signs in while no new hash can be made, and a late rehash never replaces another hash', async () => {
    const member = await imported(foyer, await withHash());
    const { passwords } = foyer.deps;
    const { hash } = passwords;
    passwords.hash = async () => {
      throw new PasswordQueueFullError('the password queue is full');
    };
    const answer = await signIn(member.email, oldPassword).finally(() => {
      passwords.hash = hash;
    });
    expect(answer.status).toBe(303);
    expect(await stored(foyer, member)).toMatchObject({ passwordHash: member.passwordHash });
    const { db } = foyer.stores.database;
    expect(await rehashPassword(db, { ...member, passwordHash: 'another one' }, 'too late')).toBe(false);
    expect(await stored(foyer, member)).toMatchObject({ passwordHash: member.passwordHash });
  });

  it('The decoy hashes cover each imported kind of hash as long as a user has one', async () => {
    const { database } = foyer.stores;
    await database.db.updateTable('users').set({ passwordProfile: null }).execute();
    let nowMs = 0;
    const decoys = createDecoyHashes(database, () => nowMs);
    expect(await decoys()).toEqual([]);
    const member = await imported(foyer, await withHash());
    expect(await decoys()).toEqual([]);
    nowMs = 60_000;
    expect((await decoys()).map(({ profile }) => profile)).toEqual(['bcrypt$04']);
    expect((await signIn(member.email, oldPassword)).status).toBe(303);
    nowMs = 120_000;
    expect(await decoys()).toEqual([]);
  });

  it('An imported user without a password is led to set one, and the return address is kept', async () => {
    const member = await imported(foyer, { emailVerified: false });
    const browser = foyer.browser();
    const begun = await browser.post('/sign-in?redirect=%2Fsettings', {
      username: member.email,
      password: oldPassword,
    });
    expect(begun.status).toBe(303);
    const location = begun.headers.get('location') ?? '';
    expect(location).toBe(
      `/reset-password?${new URLSearchParams({ redirect: '/settings', username: member.email })}#reset-code:moved`,
    );
    expect(await read(await browser.get(location))).toMatch(/We’ve moved.*but not your password/);
    // A second sign-in in the same browser sends no second code.
    expect((await signIn(member.email, 'another try 7', browser)).headers.get('location')).toContain(
      '#reset-code:moved',
    );
    const mails = await foyer.mails(member.email);
    expect(mails.map(({ template }) => template)).toEqual(['password-reset']);

    const done = await submit(browser, member.email, await codeFor(foyer, member.email));
    expect(done.status).toBe(303);
    expect((await signIn(member.email, oldPassword)).status).toBe(400);
    expect((await signIn(member.email, newPassword)).status).toBe(303);
    // The code has proved the address.
    expect(await stored(foyer, member)).toMatchObject({ emailVerified: 1, importedAt: expect.any(Number) });
  });

  it('An imported user can also use the forgotten-password page and API', async () => {
    const member = await imported(foyer);
    expect((await foyer.browser().post('/forgot-password', { username: member.email })).status).toBe(303);
    const called = await sendRequest(`${foyer.url}/identity/forgotPassword`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: member.email }),
    });
    expect(called.status).toBe(200);
    expect((await foyer.mails(member.email)).length).toBe(2);
  });

  it('Sign-ins of an imported user send no more mails than the limit of forgotten passwords allows', async () => {
    const member = await imported(foyer);
    const answers = [];
    for (let n = 0; n < 8; n += 1) answers.push(await signIn(member.email, `try number ${n}`));
    const mails = await foyer.mails(member.email);
    expect(mails.length).toBeLessThanOrEqual(answers.filter(({ status }) => status === 303).length);
    const forgot = await foyer.browser().post('/forgot-password', { username: member.email });
    // Both pages count against the same daily limit of the account.
    const whole = mails.length + (forgot.status === 303 ? 1 : 0);
    expect((await foyer.mails(member.email)).length).toBe(whole);
  });

  it('A disabled imported user and a user with a provider alone get no mail and a wrong-password answer', async () => {
    const disabled = await imported(foyer, { disabledAt: 1_700_000_000_000 });
    const linked = await foyer.addUser({ passwordHash: null });
    for (const { email } of [disabled, linked]) {
      const answer = await signIn(email, oldPassword);
      expect(answer.status).toBe(400);
      expect(await foyer.mails(email)).toEqual([]);
    }
  });

  it('An invalid imported hash signs no one in and causes no error', async () => {
    for (const passwordHash of [
      '',
      '!',
      '$2b$31$',
      oldPassword,
      `$argon2id$v=19$m=4294967295,t=1,p=1$YWJjZGVmZ2g$${'a'.repeat(43)}`,
    ]) {
      const member = await imported(foyer, { passwordHash, passwordProfile: 'unknown' });
      for (const typed of [oldPassword, '!', passwordHash || ' ']) {
        expect((await signIn(member.email, typed)).status).toBe(400);
      }
    }
  });
});

describe.each(backends)('imported users with PREVENT_USER_EXISTENCE_ERRORS, on $name', (backend) => {
  it('An imported user without a password gets the answer of a wrong password, and one mail a day', async () => {
    const foyer = await startFoyer(backend, { PREVENT_USER_EXISTENCE_ERRORS: 'true', GUESS_LIMIT_ADDRESS: '1000' });
    try {
      const answer = async (username: string) => {
        const given = await foyer.browser().post('/sign-in', { username, password: oldPassword });
        const text = (await given.text())
          .replaceAll(username, 'WHO')
          .replace(/nonce="[^"]*"|challenge&quot;:&quot;[\w-]+/g, '');
        return { status: given.status, headers: [...given.headers.keys()].sort(), text };
      };
      const bare = await imported(foyer);
      const hashed = await imported(foyer, await withHash());
      const stranger = await answer('stranger@example.com');
      expect(stranger.status).toBe(400);
      expect(await answer(bare.email)).toEqual(stranger);
      expect(await answer(bare.email)).toEqual(stranger);
      const wrong = await foyer.browser().post('/sign-in', { username: hashed.email, password: 'not that one 1' });
      expect(wrong.status).toBe(400);
      // The mail follows the answer, once.
      await waitFor(async () => {
        expect((await foyer.mails(bare.email)).map(({ template }) => template)).toEqual(['first-password']);
      });
      const [mail] = await foyer.mails(bare.email);
      expect(mail?.text).toContain(`${foyer.url}/forgot-password`);
      // The mail has no code, because a code works only in the browser that asked for it.
      expect(mail?.text).not.toMatch(/\b\d{6}\b/);
      expect(await foyer.mails(hashed.email)).toEqual([]);
      const browser = foyer.browser();
      await browser.post('/forgot-password', { username: bare.email });
      const code = await codeFor(foyer, bare.email);
      expect(
        (await browser.post(resetPath(bare.email), { code, password: newPassword, confirm: newPassword })).status,
      ).toBe(303);
      expect((await foyer.browser().post('/sign-in', { username: bare.email, password: newPassword })).status).toBe(
        303,
      );
    } finally {
      await foyer.close();
    }
  });
});

import { findPasskey, listPasskeys, removePasskey } from '../../server/passkeys/index.ts';
import { addPasskey, addPath, askedAt, errorOf, memberWithPasskey, signInWith } from '../passkeys/steps.ts';
import { Authenticator, type CreationOptions, type Oddity } from '../support/authenticator.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toUserId } from '../support/ids.ts';
import { anyBackend, backends } from '../support/stores.ts';

const expired = 'That took too long. Please try again.';
const invalid = 'The passkey couldn’t be checked. Please try again, or use your password.';
const malformed = 'We didn’t get a passkey. Please try again; passkeys need JavaScript.';

/** WebAuthn level 3, section 7: what a relying party must refuse. */
describe.each(backends)('attacks on passkeys on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { GUESS_LIMIT_ADDRESS: '100000' });
  });
  afterAll(() => foyer?.close());

  const post = (credential: string, browser = foyer.browser()) => browser.post('/sign-in/passkey', { credential });
  const passkeysOf = (userId: string) => listPasskeys(foyer.deps.database.db, toUserId(userId));

  it('An overheard passkey answer is refused the second time, in any browser', async () => {
    const { authenticator } = await memberWithPasskey(foyer);
    const credential = authenticator.get(await askedAt(foyer.browser()));
    expect((await post(credential)).status).toBe(303);
    const thief = foyer.browser();
    expect(await errorOf(await post(credential, thief))).toEqual({ status: 400, error: expired });
    expect(await thief.cookies()).not.toHaveProperty('foyer_session');
  });

  it('Of 50 copies of one passkey answer sent at once one signs in', async () => {
    const { authenticator } = await memberWithPasskey(foyer);
    const credential = authenticator.get(await askedAt(foyer.browser()));
    const answers = await Promise.all(Array.from({ length: 50 }, () => post(credential)));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
  });

  it('Of two answers of a security key with one count the later is refused, as the key may have been copied', async () => {
    const { authenticator } = await memberWithPasskey(foyer, { counts: true, backedUp: false });
    expect((await signInWith(foyer.browser(), authenticator, { odd: { counter: 7 } })).status).toBe(303);
    for (const counter of [7, 6, 0]) {
      const refused = await errorOf(await signInWith(foyer.browser(), authenticator, { odd: { counter } }));
      expect([counter, refused.status]).toEqual([counter, 400]);
      expect(refused.error).toContain('there may be a copy of it');
    }
    // Each got its own challenge, and both are checked at once.
    const browsers = [foyer.browser(), foyer.browser()];
    const answers = await Promise.all(
      browsers.map((browser) => signInWith(browser, authenticator, { odd: { counter: 8 } })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 400]);
    const { id } = authenticator;
    expect(await findPasskey(foyer.deps.database.db, id)).toMatchObject({ counter: 8 });
  });

  it('A challenge that is ten minutes old, changed, made up or of another Foyer is refused', async () => {
    const { authenticator } = await memberWithPasskey(foyer);
    const { challenge } = await askedAt(foyer.browser());
    const other = await startFoyer(backend, { SECRET_KEY: 'another secret key that is used by tests alone' });
    const foreign = await askedAt(other.browser()).finally(() => other.close());
    const bytes = Buffer.from(challenge, 'base64url');
    bytes[0] = (bytes[0] ?? 0) ^ 1;
    const tried = [
      foreign.challenge,
      Buffer.alloc(54, 7).toString('base64url'),
      bytes.toString('base64url'),
      '',
      'AAAA',
    ];
    for (const odd of tried) {
      const answer = await signInWith(foyer.browser(), authenticator, { odd: { challenge: odd } });
      expect((await errorOf(answer)).error).toMatch(odd === '' ? malformed : expired);
    }
    const late = authenticator.get(await askedAt(foyer.browser()));
    foyer.passTime(10 * 60_000);
    expect(await errorOf(await post(late))).toEqual({ status: 400, error: expired });
  });

  it.each<[string, Oddity]>([
    ['for another site', { origin: 'https://foyer.example' }],
    ['for another port of this host', { origin: 'http://localhost:1' }],
    ['for a subdomain', { origin: 'http://evil.localhost' }],
    ['from a page in the frame of another site', { crossOrigin: true }],
    ['for another relying party', { rpId: 'example' }],
    ['without verification of the user', { userVerified: false }],
    ['without the presence of a user', { userPresent: false }],
    ['from a registration', { type: 'webauthn.create' }],
    ['with the handle of another user', { userHandle: Buffer.from('someone').toString('base64url') }],
    ['without a user handle', { userHandle: null }],
  ])('A passkey answer %s is refused', async (_what, odd) => {
    const { authenticator } = await memberWithPasskey(foyer);
    const visitor = foyer.browser();
    expect(await errorOf(await signInWith(visitor, authenticator, { odd }))).toEqual({ status: 400, error: invalid });
    expect(await visitor.cookies()).not.toHaveProperty('foyer_session');
    // The same authenticator with a right request and answer is accepted.
    expect((await signInWith(visitor, authenticator)).status).toBe(303);
  });

  it('A user’s own key does not sign for another user’s passkey', async () => {
    const [victim, thief] = [await memberWithPasskey(foyer), await memberWithPasskey(foyer)];
    const odd = { id: victim.authenticator.id, userHandle: Buffer.from(victim.user.id).toString('base64url') };
    const answer = await signInWith(foyer.browser(), thief.authenticator, { odd });
    expect(await errorOf(answer)).toEqual({ status: 400, error: invalid });
  });

  it('A malformed passkey answer is refused with a clear error', async () => {
    const { authenticator } = await memberWithPasskey(foyer);
    const right = JSON.parse(authenticator.get(await askedAt(foyer.browser())));
    const changed = (response: object, over = {}) =>
      JSON.stringify({ ...right, ...over, response: { ...right.response, ...response } });
    for (const credential of ['', 'null', '[]', '"x"', '{"id":1}', '{"id":"a","response":null}', '{'.repeat(5_000)]) {
      expect([credential, await errorOf(await post(credential))]).toEqual([
        credential,
        { status: 400, error: malformed },
      ]);
    }
    for (const credential of [
      changed({ signature: 'AAAA' }),
      changed({ signature: 7 }),
      changed({ authenticatorData: 'AA' }),
      changed({ authenticatorData: null }),
      changed({}, { type: 'password' }),
      changed({}, { rawId: 'AAAA' }),
    ]) {
      expect(await errorOf(await post(credential))).toEqual({ status: 400, error: invalid });
    }
    expect((await post(JSON.stringify(right))).status).toBe(303);
  });

  it('A form of another site neither signs in nor adds or removes a passkey', async () => {
    const { user, browser, authenticator } = await memberWithPasskey(foyer);
    const elsewhere = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    const credential = authenticator.get(await askedAt(foyer.browser()));
    const made = new Authenticator(foyer.url).create(await askedAt<CreationOptions>(browser, addPath));
    const removing = `/settings/passkeys/remove?${new URLSearchParams({ passkey: authenticator.id })}`;
    for (const [path, fields] of [
      ['/sign-in/passkey', { credential }],
      ['/re-authenticate/passkey', { credential }],
      [addPath, { credential: made, name: 'Planted' }],
      [removing, {}],
    ] as const) {
      expect([path, (await browser.post(path, fields, elsewhere)).status]).toEqual([path, 403]);
    }
    expect((await passkeysOf(user.id)).map(({ id }) => id)).toEqual([authenticator.id]);
  });

  describe('at registration', () => {
    const refusals: [string, Oddity][] = [
      ['of another site', { origin: 'https://foyer.example' }],
      ['for another host', { rpId: 'example' }],
      ['without verification of the user', { userVerified: false }],
      ['that is a sign-in', { type: 'webauthn.get' }],
    ];
    it.each(refusals)('A registration answer %s makes no passkey', async (_what, odd) => {
      const user = await foyer.addUser();
      const browser = await foyer.signedIn(user);
      const answer = await addPasskey(browser, new Authenticator(foyer.url), { odd });
      expect(await errorOf(answer)).toEqual({
        status: 400,
        error: 'What your device sent couldn’t be checked. Please try again.',
      });
      expect(await passkeysOf(user.id)).toEqual([]);
    });

    it('Another user’s passkey stays in its account: its id cannot be taken over', async () => {
      const victim = await memberWithPasskey(foyer);
      const user = await foyer.addUser();
      const browser = await foyer.signedIn(user);
      const odd = { id: victim.authenticator.id };
      const answer = await addPasskey(browser, new Authenticator(foyer.url), { odd });
      expect(await errorOf(answer)).toEqual({ status: 409, error: 'This passkey is in use already.' });
      expect((await signInWith(foyer.browser(), victim.authenticator)).status).toBe(303);
      expect(await passkeysOf(user.id)).toEqual([]);
    });

    it('A challenge of another session or user, or one that was used before, makes no passkey', async () => {
      const [user, other] = [await foyer.addUser(), await foyer.addUser()];
      const [browser, elsewhere, stranger] = [
        await foyer.signedIn(user),
        await foyer.signedIn(user),
        await foyer.signedIn(other),
      ];
      const credential = new Authenticator(foyer.url).create(await askedAt<CreationOptions>(browser, addPath));
      for (const thief of [elsewhere, stranger]) {
        const answer = await thief.post(addPath, { name: 'Stolen', credential });
        expect(await errorOf(answer)).toEqual({ status: 400, error: expired });
      }
      const answers = await Promise.all(
        Array.from({ length: 5 }, () => browser.post(addPath, { name: 'Mine', credential })),
      );
      expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
      expect(await passkeysOf(user.id)).toHaveLength(1);
      expect(await passkeysOf(other.id)).toEqual([]);
    });

    it('A user cannot rename or remove another user’s passkey', async () => {
      const victim = await memberWithPasskey(foyer);
      const { browser } = await memberWithPasskey(foyer);
      const which = new URLSearchParams({ passkey: victim.authenticator.id });
      for (const act of ['rename', 'remove']) {
        const path = `/settings/passkeys/${act}?${which}`;
        expect([act, (await browser.get(path)).status]).toEqual([act, 404]);
        expect([act, (await browser.post(path, { name: 'Mine now' })).status]).toEqual([act, 404]);
      }
      expect((await passkeysOf(victim.user.id)).map(({ name }) => name)).toEqual(['Laptop']);
    });
  });

  it('A passkey that is being added while the password is reset or the user disabled is not added', async () => {
    for (const change of [{ passwordEpoch: 1 }, { disabledAt: 1 }]) {
      const user = await foyer.addUser();
      const thief = await foyer.signedIn(user);
      const { kv, database } = foyer.deps;
      const take = kv.takeOnce;
      kv.takeOnce = async (key) => {
        if (key.startsWith('passkey-registration:'))
          await database.db.updateTable('users').set(change).where('id', '=', user.id).execute();
        return take.call(kv, key);
      };
      const answer = await addPasskey(thief, new Authenticator(foyer.url));
      kv.takeOnce = take;
      // The change ended the session, so the page redirects to the sign-in.
      expect([new URL(answer.url).pathname, answer.status]).toEqual(['/', 200]);
      expect(await passkeysOf(user.id)).toEqual([]);
      expect(await foyer.mails(user.email)).toEqual([]);
    }
  });

  it('A passkey that was removed while its answer was on the way does not sign in', async () => {
    const { user, authenticator } = await memberWithPasskey(foyer);
    const credential = authenticator.get(await askedAt(foyer.browser()));
    await removePasskey(foyer.deps.database.db, user.id, authenticator.id);
    expect((await errorOf(await post(credential))).error).toMatch(/^This passkey isn’t known here any more\./);
  });
});

describe('a flood of invalid passkey answers', () => {
  it('Invalid answers are refused unread after a while, and those of a neighbour do not block password sign-ins', async () => {
    const backend = anyBackend;
    const foyer = await startFoyer(backend, { GUESS_LIMIT_ADDRESS: '5' });
    try {
      const { user, authenticator } = await memberWithPasskey(foyer);
      const statuses: number[] = [];
      for (let n = 0; n < 7; n += 1) {
        statuses.push((await foyer.browser().post('/sign-in/passkey', { credential: '{}' })).status);
      }
      expect(statuses).toEqual([400, 400, 400, 400, 400, 429, 429]);
      const refused = await signInWith(foyer.browser(), authenticator);
      expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
      expect((await foyer.signedIn(user)).jar).toBeDefined();
    } finally {
      await foyer.close();
    }
  });
});

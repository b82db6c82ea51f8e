import { findPasskey, listPasskeys, removePasskey, removePasskeysAddedSince } from '../../server/passkeys/index.ts';
import { setDisabled } from '../../server/users/index.ts';
import { Authenticator } from '../support/authenticator.ts';
import { locationOf } from '../support/browser.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toE164 } from '../support/ids.ts';
import { relyingParty, signInFor } from '../support/relying-party.ts';
import { backends } from '../support/stores.ts';
import { addPasskey, askedAt, errorOf, memberWithPasskey, signInWith } from './steps.ts';

describe.each(backends)('sign-in by passkey on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  it('The sign-in page offers a passkey with a new challenge each time and no list of credentials', async () => {
    const [first, second] = [await askedAt(foyer.browser()), await askedAt(foyer.browser())];
    expect(first).toMatchObject({ rpId: 'localhost', userVerification: 'required' });
    expect(first).not.toHaveProperty('allowCredentials');
    expect(first.challenge).not.toBe(second.challenge);
    const html = await (await foyer.browser().get('/')).text();
    expect(html).toMatch(/<input[^>]*autoComplete="username webauthn"[^>]*name="username"/i);
  });

  it('A passkey signs the user in, with Remember Me and return address, and its use is recorded', async () => {
    const { user, authenticator } = await memberWithPasskey(foyer);
    const browser = foyer.browser();
    const answer = await signInWith(browser, authenticator, { remember: '1', path: '/?redirect=/settings/passkeys' });
    expect([answer.status, locationOf(answer)]).toEqual([303, `${foyer.url}/settings/passkeys`]);
    expect((await browser.get('/settings')).status).toBe(200);
    const session = answer.headers.getSetCookie().find((line) => line.startsWith('foyer_session='));
    expect(session).toMatch(/Expires=/);
    const passkey = await findPasskey(foyer.deps.database.db, authenticator.id);
    expect(passkey).toMatchObject({ userId: user.id, lastUsedAt: expect.any(Number) });
    expect(await (await browser.get('/settings/passkeys')).text()).toContain('last used');
  });

  it.each([
    { backedUp: true, kept: 'swk' },
    { backedUp: false, kept: 'hwk' },
  ])('A client gets both factors in amr (kept $kept)', async ({ backedUp, kept }) => {
    const app = await relyingParty(foyer, await foyer.addClient());
    const { user, authenticator } = await memberWithPasskey(foyer, { backedUp });
    const browser = foyer.browser();
    const begun = await app.begin();
    const atForm = locationOf(await browser.get(begun.url));
    const answer = await signInWith(browser, authenticator, { path: atForm });
    expect(new URL(locationOf(answer)).pathname).toBe('/verify-user');
    const tokens = await app.redeem(await signInFor(browser, begun, user), begun);
    expect(tokens.claims()).toMatchObject({ sub: user.id });
    expect(new Set(tokens.claims()?.amr as string[])).toEqual(new Set(['pop', kept, 'user', 'mfa']));
  });

  it('A passkey that was removed is refused with a message', async () => {
    const { user, browser, authenticator } = await memberWithPasskey(foyer);
    await removePasskey(foyer.deps.database.db, user.id, authenticator.id);
    const visitor = foyer.browser();
    const answer = await signInWith(visitor, authenticator);
    expect(await errorOf(answer)).toEqual({
      status: 400,
      error: 'This passkey isn’t known here any more. Use your password, and remove the passkey from your device.',
    });
    expect(await visitor.cookies()).not.toHaveProperty('foyer_session');
    // Signed-in users stay signed in.
    expect((await browser.get('/settings')).status).toBe(200);
  });

  it('A disabled user and a user with an unconfirmed address are treated as with a password', async () => {
    const { user, authenticator } = await memberWithPasskey(foyer);
    const { db } = foyer.deps.database;
    await setDisabled(db, user.id, { disabledAt: foyer.deps.now(), nowMs: foyer.deps.now() });
    expect(await errorOf(await signInWith(foyer.browser(), authenticator))).toEqual({
      status: 403,
      error: 'User is disabled. Contact support.',
    });
    await setDisabled(db, user.id, { disabledAt: null, nowMs: foyer.deps.now() });
    await db.updateTable('users').set({ emailVerified: 0 }).where('id', '=', user.id).execute();
    const visitor = foyer.browser();
    const answer = await signInWith(visitor, authenticator);
    expect([answer.status, new URL(locationOf(answer)).pathname]).toEqual([303, '/verify-code']);
    expect(await visitor.cookies()).not.toHaveProperty('foyer_session');
  });

  it('A passkey needs no further second factor', async () => {
    const { user, authenticator } = await memberWithPasskey(foyer);
    await foyer.deps.database.db
      .updateTable('users')
      .set({ mfaPreference: 'sms', phone: toE164('+4915112345678'), phoneVerified: 1 })
      .where('id', '=', user.id)
      .execute();
    const browser = foyer.browser();
    const answer = await signInWith(browser, authenticator, { path: '/?redirect=/settings' });
    expect(locationOf(answer)).toBe(`${foyer.url}/settings`);
    expect((await browser.get('/settings')).status).toBe(200);
  });

  it('A user authenticates again with their own passkey, and another user’s is refused', async () => {
    const { browser, authenticator } = await memberWithPasskey(foyer);
    const other = await memberWithPasskey(foyer);
    foyer.passTime(11 * 60_000);
    const at = locationOf(await browser.get('/settings/passkeys/add'));
    expect(await askedAt(browser, at)).toMatchObject({ allowCredentials: [{ id: authenticator.id }] });
    const refused = await signInWith(browser, other.authenticator, { path: at });
    expect(await errorOf(refused)).toEqual({ status: 400, error: 'This passkey belongs to another account.' });
    const before = await browser.cookies();
    const answer = await signInWith(browser, authenticator, { path: at });
    expect(locationOf(answer)).toBe(`${foyer.url}/settings/passkeys/add`);
    expect((await browser.get('/settings/passkeys/add')).status).toBe(200);
    expect((await browser.cookies()).foyer_session).not.toBe(before.foyer_session);
  });

  it('A user without a passkey is not offered one for reauthentication', async () => {
    const browser = await foyer.signedIn(await foyer.addUser());
    expect(await (await browser.get('/re-authenticate?redirect=/settings')).text()).not.toContain('data-passkey');
  });

  it('Passkeys that were added since a moment can be removed together', async () => {
    const { user, browser, authenticator } = await memberWithPasskey(foyer);
    foyer.passTime(60_000);
    const sinceMs = foyer.deps.now();
    await addPasskey(browser, new Authenticator(foyer.url), { name: 'Intruder' });
    const { db } = foyer.deps.database;
    expect(await removePasskeysAddedSince(db, { userId: user.id, sinceMs })).toBe(1);
    expect((await listPasskeys(db, user.id)).map(({ id }) => id)).toEqual([authenticator.id]);
  });
});

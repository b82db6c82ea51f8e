import { StoreUnavailable } from '../../server/store/index.ts';
import { findUser, type User } from '../../server/users/index.ts';
import { moveTo, newPassword, undo, undoToken } from '../account/contact/steps.ts';
import { askToLeave, cancelToken, dayMs, deletionOf, leavingMember, operatorOf } from '../account/deletion/steps.ts';
import { memberWithTotp, signInWithTotp } from '../sign-in/factor-steps.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toNormalisedEmail, toUserId } from '../support/ids.ts';
import { relyingParty, tokensFor } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';

describe.each(backends)('attack: account deletion and the operator’s factor reset, on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { GUESS_LIMIT_ADDRESS: '1000', SMS_LIMIT_ADDRESS: '1000' });
  });
  afterAll(() => foyer?.close());

  const find = (id: string) => findUser(foyer.deps.database.db, toUserId(id));
  const stateOf = async ({ id }: User) =>
    (
      await foyer.deps.database.db
        .selectFrom('factorResets')
        .select('state')
        .where('userId', '=', id)
        .executeTakeFirst()
    )?.state;
  const resetOf = async ({ email }: User) => {
    const run = await operatorOf(foyer)('user', 'reset-mfa', email);
    if (run.code !== 0) throw new Error(run.err);
    return cancelToken(foyer, email);
  };
  const later = async (ms: number) => {
    foyer.passTime(ms);
    await foyer.app.deletion.work();
  };
  const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };

  it('A cross-site form or a link does not delete the account (CSRF)', async () => {
    const user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    expect((await browser.post('/settings/delete-account', { confirm: '1' }, foreign)).status).toBe(403);
    expect((await browser.get('/settings/delete-account?confirm=1', { from: 'cross-site' })).status).toBe(200);
    expect(await deletionOf(foyer, user)).toBeUndefined();
    expect((await browser.get('/settings')).status).toBe(200);
  });

  it('A session that was left open needs the password to delete the account or to export its data', async () => {
    const user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    foyer.passTime(11 * 60_000);
    for (const path of ['/settings/delete-account', '/settings/data']) {
      const answer = await browser.post(path, { confirm: '1' });
      expect(answer.headers.get('location')).toBe(`/re-authenticate?redirect=${encodeURIComponent(path)}`);
    }
    expect(await deletionOf(foyer, user)).toBeUndefined();
  });

  it('A user who asks for deletion revokes every token that client apps hold', async () => {
    const user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    const app = await relyingParty(foyer, await foyer.addClient());
    const tokens = await tokensFor(app, browser, user);
    const userinfo = async () =>
      (
        await sendRequest(`${foyer.url}/oauth2/userInfo`, {
          headers: { authorization: `Bearer ${tokens.access_token}` },
        })
      ).status;
    expect(await userinfo()).toBe(200);
    await askToLeave(browser);
    expect(await userinfo()).toBe(401);
  });

  it('A sign-in with a wrong password does not cancel a deletion', async () => {
    const user = await leavingMember(foyer);
    await foyer.browser().post('/sign-in', { username: user.email, password: 'wrong horse 9' });
    expect(await deletionOf(foyer, user)).toMatchObject({ doneAt: null });
  });

  it('A sign-in during the sweep either keeps the whole account or signs in to none', async () => {
    for (let round = 0; round < 6; round += 1) {
      const user = await leavingMember(foyer);
      foyer.passTime(14 * dayMs);
      const visitor = foyer.browser();
      const signIn = () => visitor.post('/sign-in', { username: user.email, password });
      // Each of the two starts first in turn.
      const both = round % 2 === 0 ? [signIn(), foyer.app.deletion.work()] : [foyer.app.deletion.work(), signIn()];
      await Promise.all(both);
      const signedIn = (await visitor.get('/settings')).status === 200;
      const there = (await find(user.id)) !== undefined;
      expect({ signedIn, there }).toEqual({ signedIn: there, there });
      expect(await deletionOf(foyer, user)).toEqual(there ? undefined : expect.objectContaining({ userId: user.id }));
    }
  });

  it('A sign-in whose password was checked before the sweep and whose session starts after it is refused', async () => {
    const user = await leavingMember(foyer);
    foyer.passTime(14 * dayMs);
    const { kv } = foyer.deps;
    const addToSet = kv.addToSet;
    let swept = false;
    // This is the first write of a new session.
    kv.addToSet = async (key, ...rest) => {
      if (key.includes(user.id) && !swept) {
        swept = true;
        await foyer.app.deletion.work();
      }
      return addToSet.call(kv, key, ...rest);
    };
    const visitor = foyer.browser();
    const answer = await visitor.post('/sign-in', { username: user.email, password });
    kv.addToSet = addToSet;
    expect(swept).toBe(true);
    expect(answer.headers.get('location') ?? '').not.toMatch(/search/);
    expect((await visitor.get('/settings')).status).toBe(303);
    expect(await find(user.id)).toBeUndefined();
    expect(await deletionOf(foyer, user)).toMatchObject({ doneAt: expect.any(Number) });
  });

  it('A sign-in after the sweep’s look-up and before its erasure keeps the account', async () => {
    const user = await leavingMember(foyer);
    foyer.passTime(14 * dayMs);
    const { database } = foyer.deps;
    const { transaction } = database;
    let signedIn = false;
    // The first transaction is the sweep's own.
    database.transaction = async (act) => {
      database.transaction = transaction;
      signedIn = (await foyer.signedIn(user)) !== undefined;
      return transaction.call(database, act) as never;
    };
    await foyer.app.deletion.work();
    expect(signedIn).toBe(true);
    expect(await find(user.id)).toBeDefined();
    expect(await deletionOf(foyer, user)).toBeUndefined();
  });

  it('A sign-in that cannot store the cancelling of the deletion is refused', async () => {
    const user = await leavingMember(foyer);
    const { database } = foyer.deps;
    const { transaction } = database;
    database.transaction = () => Promise.reject(new StoreUnavailable('away'));
    const visitor = foyer.browser();
    const answer = await visitor.post('/sign-in', { username: user.email, password });
    database.transaction = transaction;
    expect(answer.status).toBe(503);
    expect((await visitor.get('/settings')).status).toBe(303);
    expect(await deletionOf(foyer, user)).toMatchObject({ doneAt: null });
    expect((await (await foyer.signedIn(user)).get('/settings')).status).toBe(200);
  });

  it('Undoing a thief’s change of address also cancels the deletion that the thief requested', async () => {
    const user = await foyer.addUser();
    const thief = await foyer.signedIn(user);
    await moveTo(foyer, thief, 'thief-of-accounts@example.net');
    expect((await askToLeave(thief)).headers.get('location')).toBe('/account-deletion');
    expect(await deletionOf(foyer, user)).toBeDefined();
    expect((await undo(foyer.browser(), await undoToken(foyer, user.email))).status).toBe(303);
    expect(await deletionOf(foyer, user)).toBeUndefined();
    await later(15 * dayMs);
    expect(await find(user.id)).toMatchObject({ email: user.email });
    const owner = await foyer.browser().post('/sign-in', { username: user.email, password: newPassword });
    expect(owner.status).toBe(303);
  });

  it('Undoing a change of address keeps a deletion that the owner requested before it', async () => {
    const user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    await moveTo(foyer, browser, 'moved-before-leaving@example.net');
    const token = await undoToken(foyer, user.email);
    const { database, now } = foyer.deps;
    const before = now() - dayMs;
    await database.db
      .insertInto('accountDeletions')
      .values({ userId: user.id, requestedAt: before, dueAt: before + 14 * dayMs, doneAt: null })
      .execute();
    expect((await undo(foyer.browser(), token)).status).toBe(303);
    expect(await deletionOf(foyer, user)).toMatchObject({ requestedAt: before });
  });

  it('Opening the link of a factor reset by GET, as a mail service or a picture does, changes nothing', async () => {
    const { user } = await memberWithTotp(foyer);
    const token = await resetOf(user);
    for (const from of ['none', 'cross-site', 'same-origin']) {
      const query = new URLSearchParams({ token, done: '' });
      query.delete('done');
      expect((await foyer.browser().get(`/cancel-factor-reset?${query}`, { from })).status).toBe(200);
    }
    expect(await stateOf(user)).toBe('waiting');
  });

  it('A cancelled factor reset is never carried out, even when it is cancelled at the moment it is due', async () => {
    const { user } = await memberWithTotp(foyer);
    const token = await resetOf(user);
    await foyer.browser().post('/cancel-factor-reset', { token });
    await later(5 * dayMs);
    expect([await stateOf(user), (await find(user.id))?.mfaPreference]).toEqual(['cancelled', 'totp']);

    const { user: other } = await memberWithTotp(foyer);
    const itsToken = await resetOf(other);
    foyer.passTime(5 * dayMs);
    const [answer] = await Promise.all([
      foyer.browser().post('/cancel-factor-reset', { token: itsToken }),
      foyer.app.deletion.work(),
    ]);
    const cancelled = answer.status === 303;
    expect([await stateOf(other), (await find(other.id))?.mfaPreference]).toEqual(
      cancelled ? ['cancelled', 'totp'] : ['done', 'none'],
    );
  });

  it('A token that is made up, used or of another user stops no factor reset but its own', async () => {
    const [{ user: mallory }, { user: victim }] = [await memberWithTotp(foyer), await memberWithTotp(foyer)];
    const [hers, theirs] = [await resetOf(mallory), await resetOf(victim)];
    const [id = ''] = theirs.split('.');
    const [, secret = ''] = hers.split('.');
    for (const token of [`${id}.${secret}`, `${id}.${'x'.repeat(43)}`, id, '', `${theirs}x`, `${theirs}' or '1'='1`]) {
      expect([token, (await foyer.browser().post('/cancel-factor-reset', { token })).status]).toEqual([token, 404]);
    }
    expect(await stateOf(victim)).toBe('waiting');
    expect((await foyer.browser().post('/cancel-factor-reset', { token: hers })).status).toBe(303);
    expect([await stateOf(mallory), await stateOf(victim)]).toEqual(['cancelled', 'waiting']);
    // The settings change the user of the session, whatever a form says.
    const { user, secret: key } = await memberWithTotp(foyer);
    const browser = foyer.browser();
    await signInWithTotp(foyer, browser, user, key);
    await browser.post('/settings/factor-reset', { token: theirs, user_id: victim.id });
    expect(await stateOf(victim)).toBe('waiting');
  });

  it('An attacker who knows only the password cannot stop the factor reset in the settings', async () => {
    const { user } = await memberWithTotp(foyer);
    await resetOf(user);
    const thief = foyer.browser();
    await thief.post('/sign-in', { username: user.email, password });
    expect((await thief.post('/settings/factor-reset')).status).toBe(303);
    expect(await stateOf(user)).toBe('waiting');
  });

  it('Undoing a thief’s change of address also stops the factor reset that the thief got from an operator', async () => {
    const { user, secret } = await memberWithTotp(foyer);
    const thief = foyer.browser();
    await signInWithTotp(foyer, thief, user, secret);
    await moveTo(foyer, thief, 'thief-of-factors@example.net');
    await resetOf({ ...user, email: toNormalisedEmail('thief-of-factors@example.net') });
    expect((await undo(foyer.browser(), await undoToken(foyer, user.email))).status).toBe(303);
    await later(5 * dayMs);
    expect([await stateOf(user), (await find(user.id))?.mfaPreference]).toEqual(['cancelled', 'totp']);
  });

  it('No link or token of a factor reset is in the log, and no token is in the database', async () => {
    const { user } = await memberWithTotp(foyer);
    const token = await resetOf(user);
    await foyer.browser().get(`/cancel-factor-reset?${new URLSearchParams({ token })}`);
    await foyer.browser().post('/cancel-factor-reset', { token });
    const [, secret = '?'] = token.split('.');
    expect(foyer.logged()).not.toContain(secret);
    const rows = await foyer.deps.database.db.selectFrom('factorResets').selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain(secret);
  });
});

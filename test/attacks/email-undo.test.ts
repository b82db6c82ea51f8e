import { setTimeout as sleep } from 'node:timers/promises';
import type { Transaction } from 'kysely';
import { listIdentities } from '../../server/federation/index.ts';
import { findTotp, newTotpSecret, upsertTotp } from '../../server/mfa/index.ts';
import { sha256 } from '../../server/shared/index.ts';
import type { Schema } from '../../server/store/index.ts';
import { changeEmail, findUser, lockUser, setMfaPreference, type User } from '../../server/users/index.ts';
import {
  fresh,
  leadsTo,
  moveTo,
  newPassword,
  phoneTo,
  rowOf,
  signIn,
  undo,
  undoPath,
  undoToken,
} from '../contact/steps.ts';
import { read } from '../password/steps.ts';
import { enrol } from '../settings/mfa-steps.ts';
import type { Browser } from '../support/browser.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { relyingParty, tokensFor } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';

/** `security.md`, rule 14: whoever has the old mailbox has the last word, for 72 hours and once. */
describe.each(backends)('attack: a stolen account whose e-mail address was changed, on $name', (backend) => {
  let foyer: TestFoyer;
  let user: User;
  /** Whoever stole it, signed in. */
  let thief: Browser;
  beforeAll(async () => {
    foyer = await startFoyer(backend, { GUESS_LIMIT_ADDRESS: '1000', SMS_LIMIT_ADDRESS: '1000' });
  });
  beforeEach(async () => {
    await foyer.deps.kv.delete('contact-email:address:127.0.0.1');
    user = await foyer.addUser();
    thief = await foyer.signedIn(user);
  });
  afterAll(() => foyer?.close());

  const expectTakenBack = async () => {
    expect(await rowOf(foyer, user)).toMatchObject({ email: user.email, email_verified: 1 });
    expect((await signIn(foyer.browser(), user.email, newPassword)).status).toBe(303);
  };
  const expectGone = async (answer: Response) => {
    expect([answer.status, await read(answer)]).toEqual([404, expect.stringContaining('This link no longer works')]);
  };

  it('Opening the undo link changes nothing, however often, because a mail service may open it first', async () => {
    const { email } = fresh();
    await moveTo(foyer, thief, email);
    const token = await undoToken(foyer, user.email);
    const before = await rowOf(foyer, user);
    const visitor = foyer.browser();
    for (const method of ['GET', 'HEAD']) {
      for (let n = 0; n < 3; n += 1) expect((await visitor.request(undoPath(token), { method })).status).toBe(200);
    }
    expect(await rowOf(foyer, user)).toEqual(before);
    expect((await thief.get('/settings')).status).toBe(200);
    expect((await undo(visitor, token)).status).toBe(303);
    await expectTakenBack();
  });

  it('A page of another site cannot send the undo form', async () => {
    await moveTo(foyer, thief, fresh().email);
    const token = await undoToken(foyer, user.email);
    const fields = { token, password: newPassword, confirm: newPassword };
    const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    expect((await foyer.browser().post('/undo-email-change', fields, foreign)).status).toBe(403);
    expect((await rowOf(foyer, user)).email).not.toBe(user.email);
  });

  it('The undo link works once, even when it is used twenty times at once', async () => {
    await moveTo(foyer, thief, fresh().email);
    const token = await undoToken(foyer, user.email);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => undo(foyer.browser(), token, `a walk in the rain ${n}`)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array.from({ length: 19 }, () => 404)]);
    expect((await rowOf(foyer, user)).password_epoch).toBe(1);
    await expectGone(await undo(foyer.browser(), token));
    await expectGone(await foyer.browser().get(undoPath(token)));
  });

  it('An undo token that is guessed, shortened, or of another change or kind undoes nothing', async () => {
    await moveTo(foyer, thief, fresh().email);
    const other = await foyer.addUser();
    await moveTo(foyer, await foyer.signedIn(other), fresh().email);
    const [token, others] = [await undoToken(foyer, user.email), await undoToken(foyer, other.email)];
    const [id = '', secret = ''] = token.split('.');
    const bad = [
      '',
      id,
      `${id}.`,
      `${id}.${'A'.repeat(43)}`,
      `${id}.${others.split('.')[1]}`,
      `.${secret}`,
      `%_.${secret}`,
    ];
    for (const guess of bad) {
      await expectGone(await foyer.browser().get(undoPath(guess)));
      await expectGone(await undo(foyer.browser(), guess));
    }
    expect((await rowOf(foyer, user)).email).not.toBe(user.email);
  });

  it('The owner’s undo link survives further changes of address and voids the undo links of the thief', async () => {
    const [first, second] = [fresh().email, fresh().email];
    await moveTo(foyer, thief, first);
    const token = await undoToken(foyer, user.email);
    await moveTo(foyer, thief, second);
    const thiefsToken = await undoToken(foyer, first);
    expect((await undo(foyer.browser(), token)).status).toBe(303);
    await expectTakenBack();
    // The link that went to the thief's own address would have given them the account again.
    await expectGone(await undo(foyer.browser(), thiefsToken));
    await expectTakenBack();
    // And both addresses are free.
    for (const email of [first, second]) expect((await foyer.addUser({ email })).email).toBe(email);
  });

  it('An earlier change by the owner can still be undone from its older mailbox', async () => {
    const moved = fresh().email;
    await moveTo(foyer, thief, moved);
    const older = await undoToken(foyer, user.email);
    await moveTo(foyer, thief, fresh().email);
    expect((await undo(foyer.browser(), await undoToken(foyer, moved))).status).toBe(303);
    expect((await rowOf(foyer, user)).email).toBe(moved);
    expect((await undo(foyer.browser(), older)).status).toBe(303);
    await expectTakenBack();
  });

  it('The undo link expires after 72 hours', async () => {
    await moveTo(foyer, thief, fresh().email);
    const token = await undoToken(foyer, user.email);
    foyer.passTime(72 * 60 * 60_000 - 60_000);
    expect((await foyer.browser().get(undoPath(token))).status).toBe(200);
    foyer.passTime(60_000);
    await expectGone(await foyer.browser().get(undoPath(token)));
    await expectGone(await undo(foyer.browser(), token));
  });

  it('Undoing the change revokes what the thief is signed in by: sessions, client apps and the known password', async () => {
    const client = await relyingParty(foyer, await foyer.addClient(), 'openid offline_access');
    const tokens = await tokensFor(client, thief, user);
    const { email } = fresh();
    await moveTo(foyer, thief, email);
    const token = await undoToken(foyer, user.email);
    const info = () =>
      sendRequest(`${foyer.url}/oauth2/userInfo`, { headers: { authorization: `Bearer ${tokens.access_token}` } });
    expect((await info()).status).toBe(200);
    await undo(foyer.browser(), token);
    expect((await info()).status).toBe(401);
    expect(leadsTo(await thief.get('/settings'))).toMatch(/^303 \/\?redirect=/);
    for (const name of [user.email, email]) expect((await signIn(thief, name, password)).status).toBe(400);
    const reset = await foyer.browser().post('/forgot-password', { username: email });
    expect(reset.status).toBe(400);
  });

  const addPasskey = (id: string) =>
    foyer.deps.database.db
      .insertInto('passkeys')
      .values({
        id: `${id}-${user.id}`,
        user_id: user.id,
        name: id,
        public_key: '',
        counter: 0,
        transports: '[]',
        aaguid: '',
        backed_up: 0,
        created_at: foyer.deps.now(),
        last_used_at: null,
      })
      .execute();

  const addLink = (subject: string) =>
    foyer.deps.database.db
      .insertInto('federated_identities')
      .values({
        id: `${subject}-${user.id}`,
        user_id: user.id,
        kind: 'google',
        issuer: 'https://accounts.google.com',
        subject: `${subject}-${user.id}`,
        provider: 'google',
        email: `${subject}@gmail.example`,
        linked_at: foyer.deps.now(),
        last_used_at: null,
      })
      .execute();
  const linksLeft = async () => (await listIdentities(foyer.deps.database.db, user.id)).map(({ email }) => email);

  it('Undoing the change removes the factors, recovery codes, passkeys, links and number added since', async () => {
    await moveTo(foyer, thief, fresh().email);
    const token = await undoToken(foyer, user.email);
    foyer.passTime(1_000);
    await enrol(foyer, thief);
    await addPasskey('thief');
    await addLink('thief');
    await phoneTo(foyer, thief, fresh().phone);
    await undo(foyer.browser(), token);
    expect(await rowOf(foyer, user)).toMatchObject({ phone: null, phone_verified: 0, mfa_preference: 'none' });
    const { db } = foyer.deps.database;
    const left = await Promise.all(
      (['totp_authenticators', 'recovery_codes', 'passkeys', 'federated_identities'] as const).map((table) =>
        db.selectFrom(table).selectAll().where('user_id', '=', user.id).execute(),
      ),
    );
    expect(left).toEqual([[], [], [], []]);
    await expectTakenBack();
  });

  it('Undoing the change keeps the factors from before, and the second factor is still required', async () => {
    await enrol(foyer, thief);
    await addPasskey('own');
    await addLink('own');
    foyer.passTime(1_000);
    await moveTo(foyer, thief, fresh().email);
    const token = await undoToken(foyer, user.email);
    foyer.passTime(1_000);
    const { phone } = fresh();
    await phoneTo(foyer, thief, phone);
    // The thief makes the number carry the factor.
    await foyer.deps.database.transaction((trx) => setMfaPreference(trx, user.id, 'sms', foyer.deps.now()));
    await undo(foyer.browser(), token);
    expect(await rowOf(foyer, user)).toMatchObject({ phone: null, mfa_preference: 'totp' });
    const passkeys = foyer.deps.database.db.selectFrom('passkeys').select('name').where('user_id', '=', user.id);
    expect(await passkeys.execute()).toEqual([{ name: 'own' }]);
    expect(await linksLeft()).toEqual(['own@gmail.example']);
    expect(leadsTo(await signIn(foyer.browser(), user.email, newPassword))).toMatch(/^303 \/second-factor/);
  });

  it('Undoing the change offers to remove the passkeys and links that the thief had added before it', async () => {
    await addPasskey('backdoor');
    await addLink('sidedoor');
    foyer.passTime(1_000);
    await moveTo(foyer, thief, fresh().email);
    const owner = foyer.browser();
    const undone = await undo(owner, await undoToken(foyer, user.email));
    expect(leadsTo(undone)).toBe('303 /reset-password/ways-in');
    expect(await read(await owner.get('/reset-password/ways-in'))).toMatch(
      /backdoor .* Google \(sidedoor@gmail.example\)/,
    );
    expect((await owner.post('/reset-password/ways-in')).status).toBe(303);
    const passkeys = foyer.deps.database.db.selectFrom('passkeys').select('name').where('user_id', '=', user.id);
    expect(await passkeys.execute()).toEqual([]);
    expect(await linksLeft()).toEqual([]);
  });

  it('Undoing the change cancels a deletion that the thief requested', async () => {
    await moveTo(foyer, thief, fresh().email);
    const token = await undoToken(foyer, user.email);
    foyer.passTime(1_000);
    expect((await thief.post('/settings/delete-account', { confirm: '1' })).status).toBe(303);
    const deletion = foyer.deps.database.db.selectFrom('account_deletions').selectAll().where('user_id', '=', user.id);
    expect(await deletion.execute()).toHaveLength(1);
    await undo(foyer.browser(), token);
    expect(await deletion.execute()).toEqual([]);
    await expectTakenBack();
  });

  /** What is done in this transaction is under way still when the account is taken back. */
  async function whileTakenBack(act: (trx: Transaction<Schema>) => Promise<unknown>): Promise<void> {
    const { email } = fresh();
    await moveTo(foyer, thief, email);
    const token = await undoToken(foyer, user.email);
    const gate = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const underWay = foyer.deps.database.transaction(async (trx) => {
      await act(trx);
      begun.resolve();
      await gate.promise;
    });
    await begun.promise;
    const undone = undo(foyer.browser(), token);
    // As long as the undoing takes to come to the rows that the other one holds.
    await sleep(400);
    gate.resolve();
    await underWay;
    expect((await undone).status).toBe(303);
    await expectTakenBack();
  }

  it('A further change in progress during the undo does not give the thief the account again', async () => {
    const secret = 's'.repeat(43);
    let change: string | undefined;
    await whileTakenBack(async (trx) => {
      const now = await findUser(trx, user.id);
      if (!now) throw new Error('no such member');
      const undoUntil = foyer.deps.now() + 1_000_000;
      change = await changeEmail(trx, now, { email: fresh().email, undoHash: sha256(secret), undoUntil }, undoUntil);
    });
    expect(change).toBeDefined();
    await expectGone(await undo(foyer.browser(), `${change}.${secret}`, 'the thief has it again 5'));
    await expectTakenBack();
  });

  it('A second factor that is being added during the undo is removed with the rest', async () => {
    const secret = newTotpSecret();
    await whileTakenBack(async (trx) => {
      const { boxes, now } = foyer.deps;
      const thiefs = await findUser(trx, user.id);
      if (!thiefs || !(await lockUser(trx, thiefs))) throw new Error('no such member');
      await upsertTotp(trx, boxes.mfa, { userId: user.id, secret, lastStep: 1, createdAt: now() + 1 });
    });
    expect(await findTotp(foyer.deps.database.db, foyer.deps.boxes.mfa, user.id)).toBeUndefined();
  });

  it('The undo token is in no store, no log and no listing', async () => {
    await moveTo(foyer, thief, fresh().email);
    const token = await undoToken(foyer, user.email);
    const secret = token.split('.')[1] ?? '';
    await foyer.browser().get(undoPath(token));
    await undo(foyer.browser(), token);
    await undo(foyer.browser(), token);
    expect(foyer.logged()).not.toContain(secret);
    const { db } = foyer.deps.database;
    const rows = [
      await db.selectFrom('email_changes').selectAll().execute(),
      await db.selectFrom('outbox').selectAll().execute(),
    ];
    expect(JSON.stringify(rows)).not.toContain(secret);
  });
});

import { setTimeout as sleep } from 'node:timers/promises';
import type { Transaction } from 'kysely';
import { listIdentities } from '../../server/federation/index.ts';
import { findTotp, newTotpSecret, upsertTotp } from '../../server/mfa/index.ts';
import { sha256 } from '../../server/shared/index.ts';
import type { Schema } from '../../server/store/index.ts';
import { changeEmail, findUser, lockUser, setMfaPreference } from '../../server/users/index.ts';
import {
  fresh,
  leadsTo,
  moveTo,
  newPassword,
  phoneTo,
  rowOf,
  signIn,
  undo,
  undoToken,
} from '../account/contact/steps.ts';
import { enrol } from '../account/mfa-steps.ts';
import { read } from '../password/steps.ts';
import { password } from '../support/foyer.ts';
import { toNormalisedEmail, toProviderId } from '../support/ids.ts';
import { relyingParty, tokensFor } from '../support/relying-party.ts';
import { sendRequest } from '../support/send-request.ts';
import { backends } from '../support/stores.ts';
import { setUpStolenAccount } from './email-undo-steps.ts';

/** `security.md`, rule 14: the owner of the old mailbox can undo the change once within 72 hours. */
describe.each(backends)('attack: a stolen account whose e-mail address was changed, on $name', (backend) => {
  const context = setUpStolenAccount(backend);
  const { expectTakenBack, expectGone } = context;
  const addPasskey = (id: string) =>
    context.foyer.deps.database.db
      .insertInto('passkeys')
      .values({
        id: `${id}-${context.user.id}`,
        userId: context.user.id,
        name: id,
        publicKey: '',
        counter: 0,
        transports: '[]',
        aaguid: '',
        backedUp: 0,
        createdAt: context.foyer.deps.now(),
        lastUsedAt: null,
      })
      .execute();

  const addLink = (subject: string) =>
    context.foyer.deps.database.db
      .insertInto('federatedIdentities')
      .values({
        id: `${subject}-${context.user.id}`,
        userId: context.user.id,
        kind: 'google',
        issuer: 'https://accounts.google.com',
        subject: `${subject}-${context.user.id}`,
        provider: toProviderId('google'),
        email: toNormalisedEmail(`${subject}@gmail.example`),
        linkedAt: context.foyer.deps.now(),
        lastUsedAt: null,
      })
      .execute();
  const linksLeft = async () =>
    (await listIdentities(context.foyer.deps.database.db, context.user.id)).map(({ email }) => email);
  /** The change of this transaction is still in progress while the account is restored. */
  async function whileTakenBack(act: (trx: Transaction<Schema>) => Promise<unknown>): Promise<void> {
    const { email } = fresh();
    await moveTo(context.foyer, context.thief, email);
    const token = await undoToken(context.foyer, context.user.email);
    const gate = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const underWay = context.foyer.deps.database.transaction(async (trx) => {
      await act(trx);
      begun.resolve();
      await gate.promise;
    });
    await begun.promise;
    const undone = undo(context.foyer.browser(), token);
    // The undo needs about this long to reach the rows that the other transaction has locked.
    await sleep(400);
    gate.resolve();
    await underWay;
    expect((await undone).status).toBe(303);
    await expectTakenBack();
  }

  it('Undoing the change revokes what the thief is signed in by: sessions, client apps and the known password', async () => {
    const client = await relyingParty(context.foyer, await context.foyer.addClient(), 'openid offline_access');
    const tokens = await tokensFor(client, context.thief, context.user);
    const { email } = fresh();
    await moveTo(context.foyer, context.thief, email);
    const token = await undoToken(context.foyer, context.user.email);
    const info = () =>
      sendRequest(`${context.foyer.url}/oauth2/userInfo`, {
        headers: { authorization: `Bearer ${tokens.access_token}` },
      });
    expect((await info()).status).toBe(200);
    await undo(context.foyer.browser(), token);
    expect((await info()).status).toBe(401);
    expect(leadsTo(await context.thief.get('/settings'))).toMatch(/^303 \/\?redirect=/);
    for (const name of [context.user.email, email])
      expect((await signIn(context.thief, name, password)).status).toBe(400);
    const reset = await context.foyer.browser().post('/forgot-password', { username: email });
    expect(reset.status).toBe(400);
  });

  it('Undoing the change removes the factors, recovery codes, passkeys, links and number added since', async () => {
    await moveTo(context.foyer, context.thief, fresh().email);
    const token = await undoToken(context.foyer, context.user.email);
    context.foyer.passTime(1_000);
    await enrol(context.foyer, context.thief);
    await addPasskey('thief');
    await addLink('thief');
    await phoneTo(context.foyer, context.thief, fresh().phone);
    await undo(context.foyer.browser(), token);
    expect(await rowOf(context.foyer, context.user)).toMatchObject({
      phone: null,
      phoneVerified: 0,
      mfaPreference: 'none',
    });
    const { db } = context.foyer.deps.database;
    const left = await Promise.all(
      (['totpAuthenticators', 'recoveryCodes', 'passkeys', 'federatedIdentities'] as const).map((table) =>
        db.selectFrom(table).selectAll().where('userId', '=', context.user.id).execute(),
      ),
    );
    expect(left).toEqual([[], [], [], []]);
    await expectTakenBack();
  });

  it('Undoing the change keeps the factors from before, and the second factor is still required', async () => {
    await enrol(context.foyer, context.thief);
    await addPasskey('own');
    await addLink('own');
    context.foyer.passTime(1_000);
    await moveTo(context.foyer, context.thief, fresh().email);
    const token = await undoToken(context.foyer, context.user.email);
    context.foyer.passTime(1_000);
    const { phone } = fresh();
    await phoneTo(context.foyer, context.thief, phone);
    // The thief uses the number as a second factor.
    await context.foyer.deps.database.transaction((trx) =>
      setMfaPreference(trx, context.user.id, { preference: 'sms', nowMs: context.foyer.deps.now() }),
    );
    await undo(context.foyer.browser(), token);
    expect(await rowOf(context.foyer, context.user)).toMatchObject({ phone: null, mfaPreference: 'totp' });
    const passkeys = context.foyer.deps.database.db
      .selectFrom('passkeys')
      .select('name')
      .where('userId', '=', context.user.id);
    expect(await passkeys.execute()).toEqual([{ name: 'own' }]);
    expect(await linksLeft()).toEqual(['own@gmail.example']);
    expect(leadsTo(await signIn(context.foyer.browser(), context.user.email, newPassword))).toMatch(
      /^303 \/second-factor/,
    );
  });

  it('Undoing the change offers to remove the passkeys and links that the thief had added before it', async () => {
    await addPasskey('backdoor');
    await addLink('sidedoor');
    context.foyer.passTime(1_000);
    await moveTo(context.foyer, context.thief, fresh().email);
    const owner = context.foyer.browser();
    const undone = await undo(owner, await undoToken(context.foyer, context.user.email));
    expect(leadsTo(undone)).toBe('303 /reset-password/ways-in');
    expect(await read(await owner.get('/reset-password/ways-in'))).toMatch(
      /backdoor .* Google \(sidedoor@gmail.example\)/,
    );
    expect((await owner.post('/reset-password/ways-in')).status).toBe(303);
    const passkeys = context.foyer.deps.database.db
      .selectFrom('passkeys')
      .select('name')
      .where('userId', '=', context.user.id);
    expect(await passkeys.execute()).toEqual([]);
    expect(await linksLeft()).toEqual([]);
  });

  it('Undoing the change cancels a deletion that the thief requested', async () => {
    await moveTo(context.foyer, context.thief, fresh().email);
    const token = await undoToken(context.foyer, context.user.email);
    context.foyer.passTime(1_000);
    expect((await context.thief.post('/settings/delete-account', { confirm: '1' })).status).toBe(303);
    const deletion = context.foyer.deps.database.db
      .selectFrom('accountDeletions')
      .selectAll()
      .where('userId', '=', context.user.id);
    expect(await deletion.execute()).toHaveLength(1);
    await undo(context.foyer.browser(), token);
    expect(await deletion.execute()).toEqual([]);
    await expectTakenBack();
  });

  it('A further change in progress during the undo does not give the thief the account again', async () => {
    const secret = 's'.repeat(43);
    let change: string | undefined;
    await whileTakenBack(async (trx) => {
      const now = await findUser(trx, context.user.id);
      if (!now) throw new Error('no such member');
      const undoUntil = context.foyer.deps.now() + 1_000_000;
      change = await changeEmail(trx, now, {
        email: fresh().email,
        undoHash: sha256(secret),
        undoUntil,
        nowMs: undoUntil,
      });
    });
    expect(change).toBeDefined();
    await expectGone(await undo(context.foyer.browser(), `${change}.${secret}`, 'the thief has it again 5'));
    await expectTakenBack();
  });

  it('A second factor that is being added during the undo is removed with the rest', async () => {
    const secret = newTotpSecret();
    await whileTakenBack(async (trx) => {
      const { boxes, now } = context.foyer.deps;
      const thiefs = await findUser(trx, context.user.id);
      if (!thiefs || !(await lockUser(trx, thiefs))) throw new Error('no such member');
      await upsertTotp(trx, boxes.mfa, { userId: context.user.id, secret, lastStep: 1, createdAt: now() + 1 });
    });
    expect(
      await findTotp(context.foyer.deps.database.db, context.foyer.deps.boxes.mfa, context.user.id),
    ).toBeUndefined();
  });
});

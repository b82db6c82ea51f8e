import { fresh, moveTo, newPassword, rowOf, undo, undoPath, undoToken } from '../account/contact/steps.ts';
import { backends } from '../support/stores.ts';
import { setUpStolenAccount } from './email-undo-steps.ts';

/** `security.md`, rule 14: the owner of the old mailbox can undo the change once within 72 hours. */
describe.each(backends)('attack: a stolen account whose e-mail address was changed, on $name', (backend) => {
  const context = setUpStolenAccount(backend);
  const { expectTakenBack, expectGone } = context;

  it('Opening the undo link changes nothing, however often, because a mail service may open it first', async () => {
    const { email } = fresh();
    await moveTo(context.foyer, context.thief, email);
    const token = await undoToken(context.foyer, context.user.email);
    const before = await rowOf(context.foyer, context.user);
    const visitor = context.foyer.browser();
    for (const method of ['GET', 'HEAD']) {
      for (let n = 0; n < 3; n += 1) expect((await visitor.request(undoPath(token), { method })).status).toBe(200);
    }
    expect(await rowOf(context.foyer, context.user)).toEqual(before);
    expect((await context.thief.get('/settings')).status).toBe(200);
    expect((await undo(visitor, token)).status).toBe(303);
    await expectTakenBack();
  });

  it('A page of another site cannot send the undo form', async () => {
    await moveTo(context.foyer, context.thief, fresh().email);
    const token = await undoToken(context.foyer, context.user.email);
    const fields = { token, password: newPassword, confirm: newPassword };
    const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    expect((await context.foyer.browser().post('/undo-email-change', fields, foreign)).status).toBe(403);
    expect((await rowOf(context.foyer, context.user)).email).not.toBe(context.user.email);
  });

  it('The undo link works once, even when it is used twenty times at once', async () => {
    await moveTo(context.foyer, context.thief, fresh().email);
    const token = await undoToken(context.foyer, context.user.email);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => undo(context.foyer.browser(), token, `a walk in the rain ${n}`)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array.from({ length: 19 }, () => 404)]);
    expect((await rowOf(context.foyer, context.user)).passwordEpoch).toBe(1);
    await expectGone(await undo(context.foyer.browser(), token));
    await expectGone(await context.foyer.browser().get(undoPath(token)));
  });

  it('An undo token that is guessed, shortened, or of another change or kind undoes nothing', async () => {
    await moveTo(context.foyer, context.thief, fresh().email);
    const other = await context.foyer.addUser();
    await moveTo(context.foyer, await context.foyer.signedIn(other), fresh().email);
    const [token, others] = [
      await undoToken(context.foyer, context.user.email),
      await undoToken(context.foyer, other.email),
    ];
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
      await expectGone(await context.foyer.browser().get(undoPath(guess)));
      await expectGone(await undo(context.foyer.browser(), guess));
    }
    expect((await rowOf(context.foyer, context.user)).email).not.toBe(context.user.email);
  });

  it('The owner’s undo link survives further changes of address and voids the undo links of the thief', async () => {
    const [first, second] = [fresh().email, fresh().email];
    await moveTo(context.foyer, context.thief, first);
    const token = await undoToken(context.foyer, context.user.email);
    await moveTo(context.foyer, context.thief, second);
    const thiefsToken = await undoToken(context.foyer, first);
    expect((await undo(context.foyer.browser(), token)).status).toBe(303);
    await expectTakenBack();
    // The link to the thief's own address would give the account back to the thief.
    await expectGone(await undo(context.foyer.browser(), thiefsToken));
    await expectTakenBack();
    // Both addresses of the thief are free.
    for (const email of [first, second]) expect((await context.foyer.addUser({ email })).email).toBe(email);
  });

  it('An earlier change by the owner can still be undone from its older mailbox', async () => {
    const moved = fresh().email;
    await moveTo(context.foyer, context.thief, moved);
    const older = await undoToken(context.foyer, context.user.email);
    await moveTo(context.foyer, context.thief, fresh().email);
    expect((await undo(context.foyer.browser(), await undoToken(context.foyer, moved))).status).toBe(303);
    expect((await rowOf(context.foyer, context.user)).email).toBe(moved);
    expect((await undo(context.foyer.browser(), older)).status).toBe(303);
    await expectTakenBack();
  });

  it('The undo link expires after 72 hours', async () => {
    await moveTo(context.foyer, context.thief, fresh().email);
    const token = await undoToken(context.foyer, context.user.email);
    context.foyer.passTime(72 * 60 * 60_000 - 60_000);
    expect((await context.foyer.browser().get(undoPath(token))).status).toBe(200);
    context.foyer.passTime(60_000);
    await expectGone(await context.foyer.browser().get(undoPath(token)));
    await expectGone(await undo(context.foyer.browser(), token));
  });

  it('The undo token is in no store, no log and no listing', async () => {
    await moveTo(context.foyer, context.thief, fresh().email);
    const token = await undoToken(context.foyer, context.user.email);
    const secret = token.split('.')[1] ?? '';
    await context.foyer.browser().get(undoPath(token));
    await undo(context.foyer.browser(), token);
    await undo(context.foyer.browser(), token);
    expect(context.foyer.logged()).not.toContain(secret);
    const { db } = context.foyer.deps.database;
    const rows = [
      await db.selectFrom('emailChanges').selectAll().execute(),
      await db.selectFrom('outbox').selectAll().execute(),
    ];
    expect(JSON.stringify(rows)).not.toContain(secret);
  });
});

import { findGiftById } from '../../../server/billing/index.ts';
import { findUser, setDisabled, uploadFolder } from '../../../server/users/index.ts';
import { makeGift } from '../../billing/gift-steps.ts';
import { password, startFoyer, type TestFoyer } from '../../support/foyer.ts';
import { toUserId } from '../../support/ids.ts';
import { backends } from '../../support/stores.ts';
import { rowsEverywhere } from './rows-everywhere.ts';
import { askToLeave, dayMs, deletionOf, everyRow, leavingMember, marks } from './steps.ts';

describe.each(backends)('account deletion, on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  const templates = async (email: string) =>
    (await foyer.mails(email)).map(({ template }) => template).filter((template) => template !== 'new-device');
  const stillThere = async (id: string) => (await findUser(foyer.deps.database.db, toUserId(id))) !== undefined;
  const afterTwoWeeks = async () => {
    foyer.passTime(14 * dayMs);
    await foyer.app.deletion.work();
  };

  it('Deletion signs the user out everywhere, sends a mail with the date and opens a page that says how to stay', async () => {
    const user = await foyer.addUser({ locale: 'de' });
    const [browser, other] = [await foyer.signedIn(user), await foyer.signedIn(user)];
    const page = await (await browser.get('/settings/delete-account')).text();
    expect(page).toContain('Konto löschen');
    expect(page).toContain('14 Tage lang wird nichts gelöscht');
    const answer = await askToLeave(browser);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/account-deletion']);
    expect(await (await browser.get('/account-deletion')).text()).toContain('In 14 days, we erase everything stored');
    for (const one of [browser, other]) expect((await one.get('/settings')).status).toBe(303);
    const mail = (await foyer.mails(user.email)).find(({ template }) => template === 'deletion-asked');
    expect(mail).toMatchObject({ subject: 'Ihr Konto bei Foyer wird gelöscht' });
    expect(mail?.values.dueAtMs).toBe((await deletionOf(foyer, user))?.dueAt);
    expect(Number(mail?.values.dueAtMs) - Number(mail?.values.atMs)).toBe(14 * dayMs);
  });

  it('Deletion requires a ticked confirmation', async () => {
    const user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    const answer = await browser.post('/settings/delete-account', {});
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('Tick this box to delete your account.');
    expect(await deletionOf(foyer, user)).toBeUndefined();
    expect((await browser.get('/settings')).status).toBe(200);
  });

  it('Two requests at once give one date and one mail', async () => {
    const user = await foyer.addUser();
    const browsers = [await foyer.signedIn(user), await foyer.signedIn(user)];
    await Promise.all(browsers.map((browser) => askToLeave(browser)));
    expect(await templates(user.email)).toEqual(['deletion-asked']);
  });

  it('A user who signs in within two weeks keeps the account and is notified by mail, in the marketplace and in the settings', async () => {
    const user = await leavingMember(foyer);
    foyer.passTime(13 * dayMs);
    await foyer.app.deletion.work();
    const browser = await foyer.signedIn(user);
    expect(await deletionOf(foyer, user)).toBeUndefined();
    expect(await templates(user.email)).toEqual(expect.arrayContaining(['deletion-asked', 'deletion-cancelled']));
    const notes = await foyer.deps.database.db
      .selectFrom('notifications')
      .select(['title', 'category'])
      .where('userId', '=', user.id)
      // One sign-in sends both, in either order.
      .orderBy('title')
      .execute();
    expect(notes).toEqual([
      { title: 'Sign-in from a new device', category: 'account' },
      { title: 'Your account stays', category: 'account' },
    ]);
    expect(await (await browser.get('/settings')).text()).toContain('for your account to be deleted. Because you’ve');
    await afterTwoWeeks();
    expect(await stillThere(user.id)).toBe(true);
    // And can leave again.
    const again = await foyer.signedIn(user);
    expect((await askToLeave(again)).headers.get('location')).toBe('/account-deletion');
  });

  it('A right password without the second factor does not cancel the deletion', async () => {
    const user = await leavingMember(foyer, { phone: '+4915112340077', phoneVerified: true });
    const { database } = foyer.deps;
    await database.db.updateTable('users').set({ mfaPreference: 'sms' }).where('id', '=', user.id).execute();
    const browser = foyer.browser();
    const answer = await browser.post('/sign-in', { username: user.email, password });
    expect(answer.headers.get('location')).toMatch(/^\/second-factor/);
    expect(await deletionOf(foyer, user)).toMatchObject({ doneAt: null });
  });

  it('A user is erased from every table after two weeks, and no other user is', async () => {
    // Of the same first letter and house: in the outbox their masked addresses are the same.
    const user = await foyer.addUser({
      email: 'marked-member@example.org',
      phone: '+4915112345679',
      phoneVerified: true,
    });
    const other = await foyer.addUser({ email: 'mother@example.org', phone: '+4915112999979', phoneVerified: true });
    await askToLeave(await foyer.signedIn(user));
    // Asking has ended some of it: all of it comes after that. Nothing is delivered meanwhile.
    const tables = await rowsEverywhere(foyer, user);
    await rowsEverywhere(foyer, other);
    const before = await everyRow(foyer);
    const others = (rows: Map<string, string[]>) =>
      [...rows].flatMap(([table, texts]) =>
        texts.filter((text) => text.includes(other.id)).map((text) => [table, text]),
      );
    const holds = (rows: Map<string, string[]>, text: string) =>
      [...rows].filter(([, texts]) => texts.some((row) => row.includes(text))).map(([table]) => table);
    // The test would see what stayed.
    expect(holds(before, user.id)).toEqual(expect.arrayContaining([...tables]));
    await afterTwoWeeks();
    const after = await everyRow(foyer);
    expect(holds(after, user.id).sort()).toEqual(['account_deletions', 'terms_acceptances']);
    for (const text of [user.email, '+4915112345679', `${user.id}-${marks.old}`]) {
      expect([text, holds(after, text)]).toEqual([text, []]);
    }
    expect(after.get('terms_acceptances')?.find((row) => row.includes(user.id))).toEqual(
      expect.stringMatching(/"ip":null,"user_agent":null,"client_id":null/),
    );
    // The books stay, and that an address had its trial; Stripe is still to be told.
    const rows = (table: string) => (after.get(table) ?? []).map((row) => JSON.parse(row));
    expect(rows('orders').filter(({ user_id }) => user_id === null)).toMatchObject([
      { paid_cents: 9_900, plan_id: '10', card: null },
    ]);
    expect(rows('trial_claims').map(({ user_id }) => user_id)).toEqual(expect.arrayContaining(['', other.id]));
    const customer = before
      .get('memberships')
      ?.map((row) => JSON.parse(row))
      .find(({ user_id }) => user_id === user.id);
    expect(rows('billing_tasks').filter(({ user_id }) => user_id !== other.id)).toMatchObject([
      { kind: 'delete-customer', user_id: '', customer_id: customer.customer_id },
    ]);
    expect(others(after)).toEqual(others(before));
    expect(await deletionOf(foyer, user)).toMatchObject({ doneAt: expect.any(Number) });
    const messages = (await foyer.mails('mother@example.org')).map(({ template }) => template);
    expect(messages).toContain('password-changed');
    expect(await foyer.mails(user.email)).toEqual([]);
  });

  it('A picture of a user whom an earlier release has erased during an upgrade is not served, and is deleted', async () => {
    const user = await foyer.addUser({ email: 'pictured@example.org' });
    const { db } = foyer.deps.database;
    const name = 'abcdefghijklmnopqrstuv';
    const picture = { userId: user.id, name, type: 'image/png', content: 'iVBORw0KGgo=', createdAt: foyer.deps.now() };
    await db.insertInto('uploadedPictures').values(picture).execute();
    const address = `/media/${uploadFolder}/${name}`;
    const status = async () => (await foyer.browser().get(address)).status;
    const count = async () =>
      (await db.selectFrom('uploadedPictures').select('name').where('name', '=', name).execute()).length;
    expect(await status()).toBe(200);
    // That release does not know the table of pictures.
    await db.deleteFrom('users').where('id', '=', user.id).execute();
    expect([await status(), await count()]).toEqual([404, 1]);
    await afterTwoWeeks();
    expect(await count()).toBe(0);
  });

  it('The code of a gift forgets a user whom an earlier release has erased during an upgrade', async () => {
    const user = await foyer.addUser({ email: 'gifted@example.org' });
    const { db } = foyer.deps.database;
    const { id } = await makeGift({ foyer }, foyer.deps.now());
    await db.updateTable('gifts').set({ userId: user.id }).where('id', '=', id).execute();
    const owner = async () => (await findGiftById(db, id))?.userId;
    // That release does not know the table of gifts.
    await db.deleteFrom('users').where('id', '=', user.id).execute();
    expect(await owner()).toBe(user.id);
    await afterTwoWeeks();
    expect(await owner()).toBeNull();
  });

  it('Every table is known to hold no user data or is emptied of it', async () => {
    const ofNobody = [
      ...['clients', 'signing_keys', 'meta', 'leases', 'resource_servers', 'outbox_deduplication'],
      ...['account_deletions', 'schema_history'],
      // Rows stay, without the member: test/contract/audit.contract.test.ts and test/audit/events.test.ts.
      ...['audit_queue', 'audit_events', 'audit_marks'],
      // Stripe's ids alone; the customer is deleted there.
      'stripe_events',
      // The place of an unfinished comparison, by an id, until the next batch.
      'billing_progress',
    ];
    const user = await foyer.addUser({ phone: '+4915112345001', phoneVerified: true });
    const tables = await rowsEverywhere(foyer, user);
    const all = (await foyer.deps.database.db.introspection.getTables()).map(({ name }) => name);
    expect(all.filter((name) => !ofNobody.includes(name) && !tables.has(name))).toEqual([]);
  });

  it('A former user may sign up again with the same address as a new user', async () => {
    const user = await leavingMember(foyer, { email: 'comes-back@example.com' });
    await afterTwoWeeks();
    expect(await stillThere(user.id)).toBe(false);
    const answer = await foyer.browser().post('/sign-in', { username: user.email, password });
    expect(answer.status).toBe(400);
    expect((await foyer.addUser({ email: user.email })).id).not.toBe(user.id);
  });

  it('A user whom an operator has disabled is kept until that is settled', async () => {
    const user = await leavingMember(foyer);
    const { database, now } = foyer.deps;
    await setDisabled(database.db, user.id, { disabledAt: now(), nowMs: now() });
    await afterTwoWeeks();
    expect(await stillThere(user.id)).toBe(true);
    await setDisabled(database.db, user.id, { disabledAt: null, nowMs: now() });
    await foyer.app.deletion.work();
    expect(await stillThere(user.id)).toBe(false);
  });

  it('A user who cannot be erased does not delay the others', async () => {
    const [first, second] = [await leavingMember(foyer), await leavingMember(foyer)];
    const { db } = foyer.deps.database;
    const { transaction } = foyer.deps.database;
    let failed = false;
    foyer.deps.database.transaction = (act) =>
      transaction.call(foyer.deps.database, async (trx) => {
        const result = await act(trx);
        const done = await trx
          .selectFrom('accountDeletions')
          .select('userId')
          .where('userId', '=', first.id)
          .where('doneAt', 'is not', null)
          .executeTakeFirst();
        if (done) {
          failed = true;
          throw new Error('the disk is full');
        }
        return result;
      }) as never;
    await afterTwoWeeks();
    foyer.deps.database.transaction = transaction;
    expect(failed).toBe(true);
    expect([await stillThere(first.id), await stillThere(second.id)]).toEqual([true, false]);
    expect(await db.selectFrom('accountDeletions').select('doneAt').where('userId', '=', first.id).execute()).toEqual([
      { doneAt: null },
    ]);
    await foyer.app.deletion.work();
    expect(await stillThere(first.id)).toBe(false);
  });
});

import { hash as bcrypt } from '@node-rs/bcrypt';
import { changeEmail } from '../../server/users/index.ts';
import { codeFor, newPassword, submit } from '../password/steps.ts';
import { password } from '../support/foyer.ts';
import { toNormalisedEmail, toSha256, toUserId } from '../support/ids.ts';
import { backends } from '../support/stores.ts';
import { newSub, setUpImport } from './import-steps.ts';

const columns = 'sub,email,email_verified,given_name,phone_number,phone_number_verified,password_hash';

/** A file in which an attacker wrote a row, an earlier row, or everything. */
describe.each(backends)('an import of hostile files, on $name', (backend) => {
  const context = setUpImport(backend);
  const { importing, users, userOf, signIn } = context;

  describe('another user’s account', () => {
    it('An imported row takes no existing account by its address in any spelling, its id or its number', async () => {
      const phone = '+4915112345601';
      const victim = await context.foyer.addUser({ phone, phoneVerified: true });
      const hash = await bcrypt('the attacker knows 1', { cost: 4 });
      const before = await users();
      const [mine, other] = [newSub(), newSub()];
      const run = await importing(
        [
          columns,
          `${mine},${victim.email},true,Eve,,,${hash}`,
          `${other}, ${victim.email.toUpperCase()} ,true,Eve,,,${hash}`,
          `${victim.id},eve@example.net,true,Eve,,,${hash}`,
          `${victim.id},${victim.email},true,Eve,+4915112345602,true,${hash}`,
        ].join('\n'),
      );
      expect(run.out).toContain('0 added, 1 here already, 3 refused');
      expect(await users()).toEqual(before);
      expect((await signIn(victim.email, 'the attacker knows 1')).status).toBe(400);
      expect((await signIn(victim.email, password)).status).toBe(303);
      const thief = newSub();
      await importing(`${columns}\n${thief},thief@example.net,true,Eve,${phone},true,${hash}\n`);
      expect(await userOf(thief)).toMatchObject({ phone: null, phoneVerified: 0 });
      expect(await userOf(victim.id)).toMatchObject({ phone, phoneVerified: 1 });
    });

    it('An imported row with an unconfirmed address takes no account from the owner, wherever it stands in the file', async () => {
      const hash = await bcrypt('the attacker knows 2', { cost: 4 });
      const [eve, ada, bob] = [newSub(), newSub(), newSub()];
      const run = await importing(
        [
          columns,
          // Eve signed up with Ada's address and with Bob's, and confirmed neither.
          `${eve},ada.first@example.com,false,Eve,+4915112345603,true,${hash}`,
          `${ada},ada.first@example.com,true,Ada,,,`,
          `${bob},bob.alone@example.com,,Eve,+4915112345604,true,${hash}`,
        ].join('\n'),
      );
      expect(run.out).toContain('2 added');
      expect(await userOf(eve)).toBeUndefined();
      expect(await userOf(ada)).toMatchObject({ email: 'ada.first@example.com', givenName: 'Ada' });
      expect(await userOf(bob)).toMatchObject({
        passwordHash: null,
        phone: null,
        mfaPreference: 'none',
        emailVerified: 0,
      });
      for (const name of ['bob.alone@example.com', '+4915112345604']) {
        expect((await signIn(name, 'the attacker knows 2')).headers.get('set-cookie') ?? '').not.toContain(
          'foyer_session',
        );
      }
      // The reader of the mailbox gets the account, but no number or factor of another user.
      const browser = context.foyer.browser();
      await browser.post('/sign-in', { username: 'bob.alone@example.com', password: 'whatever it was 3' });
      await submit(browser, 'bob.alone@example.com', await codeFor(context.foyer, 'bob.alone@example.com'));
      expect((await signIn('bob.alone@example.com', newPassword)).status).toBe(303);
    });

    it('An import restores no erased account and takes no address that is reserved for a user', async () => {
      const { database } = context.foyer.stores;
      const gone = newSub();
      await database.db
        .insertInto('accountDeletions')
        .values({ userId: toUserId(gone), requestedAt: 1, dueAt: 2, doneAt: 3, membership: null })
        .execute();
      const mover = await context.foyer.addUser();
      const nowMs = context.foyer.deps.now();
      await database.transaction((trx) =>
        changeEmail(trx, mover, {
          email: toNormalisedEmail('moved.on@example.com'),
          undoHash: toSha256('x'),
          undoUntil: nowMs + 60_000,
          nowMs,
        }),
      );
      const run = await importing(
        `${columns}\n${gone},gone@example.com,true,,,,\n${newSub()},${mover.email},true,,,,\n`,
      );
      expect(run.out).toContain('0 added, 0 here already, 2 refused');
      expect(run.report()).toMatch(/had themselves erased/);
      expect(run.report()).toMatch(/kept for another one/);
    });

    it('An account with an unverified number loses the number to an imported account that has verified it', async () => {
      const phone = '+4915112345605';
      const said = await context.foyer.addUser({ phone, phoneVerified: false });
      const id = newSub();
      await importing(`${columns}\n${id},owner.of.it@example.com,true,,${phone},true,\n`);
      expect(await userOf(id)).toMatchObject({ phone, phoneVerified: 1 });
      expect(await userOf(said.id)).toMatchObject({ phone: null });
    });
  });
});

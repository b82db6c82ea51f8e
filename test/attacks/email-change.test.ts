import { AlreadyInUseError, insertUser } from '../../server/users/index.ts';
import {
  askForEmail,
  begunEmail,
  emailCode,
  fresh,
  leadsTo,
  moveTo,
  newPassword,
  rowOf,
  showEmailCode,
  signIn,
  templatesTo,
} from '../account/contact/steps.ts';
import { read } from '../password/steps.ts';
import * as signUp from '../sign-up/steps.ts';
import { password } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';
import { setUpContactChanges } from './contact-steps.ts';

describe.each(backends)('attack: another user’s address or number, on $name', (backend) => {
  const context = setUpContactChanges(backend);
  const { somebody } = context;

  it('A change to another user’s address shows the same page, sends no code and notifies the owner', async () => {
    const [mallory, victim] = [await somebody(), await somebody()];
    const free = fresh().email;
    const answers = [];
    for (const email of [free, victim.user.email]) {
      const asked = await askForEmail(mallory.browser, email);
      const page = await read(await mallory.browser.get('/settings/email/code'));
      answers.push([leadsTo(asked), page.replaceAll(email, '…'), [...asked.headers.keys()].sort()]);
    }
    expect(answers[1]).toEqual(answers[0]);
    expect(await templatesTo(context.foyer, victim.user.email)).toEqual(['account-exists']);
    // No existing code works, and the answers are those for any other address.
    const guess = await showEmailCode(mallory.browser, '000000');
    expect([guess.status, await read(guess)]).toEqual([400, expect.stringContaining('Invalid code')]);
    expect((await rowOf(context.foyer, mallory.user)).email).toBe(mallory.user.email);
    expect((await signIn(context.foyer.browser(), victim.user.email, password)).status).toBe(303);
  });

  it('A code that was sent to no mailbox changes nothing when it is guessed, and its answer is that of a wrong code', async () => {
    const [mallory, victim] = [await somebody(), await somebody()];
    const answers = [];
    for (const decoy of [false, true]) {
      const { id, code } = await begunEmail(context.foyer, mallory.user, victim.user.email, decoy);
      await mallory.browser.jar.setCookie(`foyer_new_email=${id}`, context.foyer.url);
      answers.push(await read(await showEmailCode(mallory.browser, code)));
    }
    // Only the reader of the mailbox learns the reason; a guess is a wrong code.
    expect(answers[0]).toContain('Another account has this address');
    expect(answers[1]).toContain('Invalid code');
  });

  it('A code of the mailbox does not take an address that another user got in the meantime', async () => {
    const mallory = await somebody();
    const { email } = fresh();
    await askForEmail(mallory.browser, email);
    const code = await emailCode(context.foyer, email);
    const victim = await context.foyer.addUser({ email });
    const answer = await showEmailCode(mallory.browser, code);
    expect([answer.status, await read(answer)]).toEqual([
      409,
      expect.stringContaining('Another account has this address'),
    ]);
    expect((await rowOf(context.foyer, mallory.user)).email).toBe(mallory.user.email);
    expect((await rowOf(context.foyer, victim)).email).toBe(email);
  });

  it('Of eight users who enter the codes of one address at once, one gets the address', async () => {
    const { email } = fresh();
    const members = [];
    for (let n = 0; n < 8; n += 1) {
      const member = await somebody();
      await askForEmail(member.browser, email);
      members.push({ ...member, code: await emailCode(context.foyer, email) });
    }
    const answers = await Promise.all(members.map(({ browser, code }) => showEmailCode(browser, code)));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array.from({ length: 7 }, () => 409)]);
    const rows = await Promise.all(members.map(({ user }) => rowOf(context.foyer, user)));
    expect(rows.filter((row) => row.email === email)).toHaveLength(1);
  });

  it('One code sent twenty times at once changes the address once', async () => {
    const member = await somebody();
    const { email } = fresh();
    await askForEmail(member.browser, email);
    const code = await emailCode(context.foyer, email);
    await Promise.all(Array.from({ length: 20 }, () => showEmailCode(member.browser, code)));
    expect((await rowOf(context.foyer, member.user)).email).toBe(email);
    const changes = context.foyer.deps.database.db
      .selectFrom('emailChanges')
      .selectAll()
      .where('userId', '=', member.user.id);
    expect(await changes.execute()).toHaveLength(1);
  });

  it('A recently released address is reserved: neither a sign-up nor another user’s change gets it', async () => {
    const [victim, mallory] = [await somebody(), await somebody()];
    await moveTo(context.foyer, victim.browser, fresh().email);
    const { database, now } = context.foyer.deps;
    const insert = database.transaction((trx) =>
      insertUser(trx, { email: victim.user.email, passwordHash: null }, now()),
    );
    await expect(insert).rejects.toThrow(AlreadyInUseError);
    // The new owner of the mailbox learns it after proving the mailbox.
    await askForEmail(mallory.browser, victim.user.email);
    const answer = await showEmailCode(mallory.browser, await emailCode(context.foyer, victim.user.email));
    expect([answer.status, await read(answer)]).toEqual([409, expect.stringContaining('or used it recently')]);
    // The former owner may take the address back.
    await moveTo(context.foyer, victim.browser, victim.user.email);
    expect((await rowOf(context.foyer, victim.user)).email).toBe(victim.user.email);
  });

  it('A released address is free for any user after 72 hours', async () => {
    const victim = await somebody();
    await moveTo(context.foyer, victim.browser, fresh().email);
    context.foyer.passTime(72 * 60 * 60_000 + 1);
    const { id } = await context.foyer.addUser({ email: victim.user.email });
    expect(id).not.toBe(victim.user.id);
  });

  it('An address that is released and signed up with at the same moment has one owner or is reserved', async () => {
    const victim = await somebody();
    const { email } = fresh();
    await askForEmail(victim.browser, email);
    const code = await emailCode(context.foyer, email);
    const { database, now } = context.foyer.deps;
    const insert = () =>
      database
        .transaction((trx) => insertUser(trx, { email: victim.user.email, passwordHash: null }, now()))
        .then(
          () => 'inserted',
          (error: Error) => error.name,
        );
    const [moved, ...inserted] = await Promise.all([
      showEmailCode(victim.browser, code),
      ...Array.from({ length: 10 }, insert),
    ]);
    expect(leadsTo(moved)).toBe('303 /settings#settings:email');
    expect(inserted).toEqual(inserted.map(() => 'Taken'));
  });

  it('A code of a sign-up or of a password reset does not confirm a change of address', async () => {
    const mallory = await somebody();
    const account = { email: fresh().email, password: signUp.newPassword, given_name: 'I', family_name: 'S' };
    await askForEmail(mallory.browser, account.email);
    await context.foyer.browser().postJson('/identity/signUp', account);
    const code = await signUp.codeFor(context.foyer, account.email);
    expect(await read(await showEmailCode(mallory.browser, code))).toContain('Invalid code');
    await context.foyer.browser().post('/forgot-password', { username: mallory.user.email });
    const reset = (await context.foyer.mails(mallory.user.email)).findLast(
      ({ template }) => template === 'password-reset',
    );
    expect(await read(await showEmailCode(mallory.browser, String(reset?.values.code)))).toContain('Invalid code');
    expect((await rowOf(context.foyer, mallory.user)).email).toBe(mallory.user.email);
  });

  it('A new password voids a pending change of address', async () => {
    const thief = await somebody();
    const { email } = fresh();
    await askForEmail(thief.browser, email);
    const code = await emailCode(context.foyer, email);
    // The owner does what the mail to the old address advises.
    const owner = await context.foyer.signedIn(thief.user);
    await owner.post('/settings/password', { old_password: password, new_password: newPassword });
    expect(leadsTo(await showEmailCode(thief.browser, code))).toMatch(/^303 \/\?redirect=/);
    const cookies = await thief.browser.cookies();
    await owner.jar.setCookie(`foyer_new_email=${cookies.foyer_new_email}`, context.foyer.url);
    expect(leadsTo(await showEmailCode(owner, code))).toBe('303 /settings/email#email:expired');
    expect((await rowOf(context.foyer, thief.user)).email).toBe(thief.user.email);
  });
});

import { formatNumber } from '../../server/messages/index.ts';
import { AlreadyInUseError, insertUser } from '../../server/users/index.ts';
import {
  askForEmail,
  askForPhone,
  begunEmail,
  begunPhone,
  emailCode,
  fresh,
  leadsTo,
  moveTo,
  newPassword,
  otherThan,
  phoneCode,
  phoneTo,
  rowOf,
  showEmailCode,
  showPhoneCode,
  signIn,
  templatesTo,
} from '../contact/steps.ts';
import { read } from '../password/steps.ts';
import * as signUp from '../sign-up/steps.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';

describe.each(backends)('attack: another user’s address or number, on $name', (backend) => {
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend, {
      GUESS_LIMIT_ADDRESS: '1000',
      SMS_LIMIT_ADDRESS: '1000',
      SIGN_UP_LIMIT_ADDRESS: '1000',
    });
  });
  afterAll(() => foyer?.close());

  /** All come from one address here, whose limits are tested at the end. */
  beforeEach(() =>
    foyer.deps.kv.delete(...['email', 'guess-email', 'guess-phone'].map((what) => `contact-${what}:address:127.0.0.1`)),
  );

  async function somebody(user?: Parameters<TestFoyer['addUser']>[0]) {
    const member = await foyer.addUser(user);
    return { user: member, browser: await foyer.signedIn(member) };
  }

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
    expect(await templatesTo(foyer, victim.user.email)).toEqual(['account-exists']);
    // All codes that there are open nothing, and say no more than of any other address.
    const guess = await showEmailCode(mallory.browser, '000000');
    expect([guess.status, await read(guess)]).toEqual([400, expect.stringContaining('Invalid code')]);
    expect((await rowOf(foyer, mallory.user)).email).toBe(mallory.user.email);
    expect((await signIn(foyer.browser(), victim.user.email, password)).status).toBe(303);
  });

  it('A code that was sent to no mailbox changes nothing when it is guessed, and its answer is that of a wrong code', async () => {
    const [mallory, victim] = [await somebody(), await somebody()];
    const answers = [];
    for (const decoy of [false, true]) {
      const { id, code } = await begunEmail(foyer, mallory.user, victim.user.email, decoy);
      await mallory.browser.jar.setCookie(`foyer_new_email=${id}`, foyer.url);
      answers.push(await read(await showEmailCode(mallory.browser, code)));
    }
    // Who reads the mailbox may know; a guess is a wrong code.
    expect(answers[0]).toContain('Another account has this address');
    expect(answers[1]).toContain('Invalid code');
  });

  it('A code of the mailbox does not take an address that another user got in the meantime', async () => {
    const mallory = await somebody();
    const { email } = fresh();
    await askForEmail(mallory.browser, email);
    const code = await emailCode(foyer, email);
    const victim = await foyer.addUser({ email });
    const answer = await showEmailCode(mallory.browser, code);
    expect([answer.status, await read(answer)]).toEqual([
      409,
      expect.stringContaining('Another account has this address'),
    ]);
    expect((await rowOf(foyer, mallory.user)).email).toBe(mallory.user.email);
    expect((await rowOf(foyer, victim)).email).toBe(email);
  });

  it('Of eight users who enter the codes of one address at once, one gets the address', async () => {
    const { email } = fresh();
    const members = [];
    for (let n = 0; n < 8; n += 1) {
      const member = await somebody();
      await askForEmail(member.browser, email);
      members.push({ ...member, code: await emailCode(foyer, email) });
    }
    const answers = await Promise.all(members.map(({ browser, code }) => showEmailCode(browser, code)));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array.from({ length: 7 }, () => 409)]);
    const rows = await Promise.all(members.map(({ user }) => rowOf(foyer, user)));
    expect(rows.filter((row) => row.email === email)).toHaveLength(1);
  });

  it('One code sent twenty times at once changes the address once', async () => {
    const member = await somebody();
    const { email } = fresh();
    await askForEmail(member.browser, email);
    const code = await emailCode(foyer, email);
    await Promise.all(Array.from({ length: 20 }, () => showEmailCode(member.browser, code)));
    expect((await rowOf(foyer, member.user)).email).toBe(email);
    const changes = foyer.deps.database.db
      .selectFrom('email_changes')
      .selectAll()
      .where('user_id', '=', member.user.id);
    expect(await changes.execute()).toHaveLength(1);
  });

  it('A recently released address is reserved: neither a sign-up nor another user’s change gets it', async () => {
    const [victim, mallory] = [await somebody(), await somebody()];
    await moveTo(foyer, victim.browser, fresh().email);
    const { database, now } = foyer.deps;
    const insert = database.transaction((trx) =>
      insertUser(trx, { email: victim.user.email, passwordHash: null }, now()),
    );
    await expect(insert).rejects.toThrow(AlreadyInUseError);
    // Whoever has the mailbox by now is told so, once they have shown that they have it.
    await askForEmail(mallory.browser, victim.user.email);
    const answer = await showEmailCode(mallory.browser, await emailCode(foyer, victim.user.email));
    expect([answer.status, await read(answer)]).toEqual([
      409,
      expect.stringContaining('kept for one that had it lately'),
    ]);
    // Its member may go back to it.
    await moveTo(foyer, victim.browser, victim.user.email);
    expect((await rowOf(foyer, victim.user)).email).toBe(victim.user.email);
  });

  it('A released address is free for any user after 72 hours', async () => {
    const victim = await somebody();
    await moveTo(foyer, victim.browser, fresh().email);
    foyer.passTime(72 * 60 * 60_000 + 1);
    const { id } = await foyer.addUser({ email: victim.user.email });
    expect(id).not.toBe(victim.user.id);
  });

  it('An address that is released and signed up with at the same moment has one owner or is reserved', async () => {
    const victim = await somebody();
    const { email } = fresh();
    await askForEmail(victim.browser, email);
    const code = await emailCode(foyer, email);
    const { database, now } = foyer.deps;
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
    expect(leadsTo(moved)).toBe('303 /settings?notice=email');
    expect(inserted).toEqual(inserted.map(() => 'Taken'));
  });

  it('A code of another flow, another purpose or another user changes nothing', async () => {
    const [ada, eve] = [await somebody(), await somebody()];
    const [adas, eves] = [fresh(), fresh()];
    await askForEmail(ada.browser, adas.email);
    await askForEmail(eve.browser, eves.email);
    await askForPhone(ada.browser, adas.phone);
    const codes = { email: await emailCode(foyer, adas.email), phone: await phoneCode(foyer, adas.phone) };
    // Another member's flow.
    expect(await read(await showEmailCode(eve.browser, codes.email))).toContain('Invalid code');
    // The code of the number does not prove the address, nor the other way round.
    expect(await read(await showEmailCode(ada.browser, codes.phone))).toContain('Invalid code');
    expect(await read(await showPhoneCode(ada.browser, codes.email))).toContain('Invalid code');
    // Another member in the same browser: the flow is the first one's.
    const cookies = await ada.browser.cookies();
    await eve.browser.jar.setCookie(`foyer_new_email=${cookies.foyer_new_email}`, foyer.url);
    expect(leadsTo(await showEmailCode(eve.browser, codes.email))).toBe('303 /settings/email?notice=gone');
    // A flow of a number, named as one of an address.
    await ada.browser.jar.setCookie(`foyer_new_email=${cookies.foyer_new_phone}`, foyer.url);
    expect(leadsTo(await showEmailCode(ada.browser, codes.phone))).toBe('303 /settings/email?notice=gone');
    for (const { user } of [ada, eve])
      expect(await rowOf(foyer, user)).toMatchObject({ email: user.email, phone: null });
  });

  it('A code of a sign-up or of a password reset does not confirm a change of address', async () => {
    const mallory = await somebody();
    const account = { email: fresh().email, password: signUp.newPassword, given_name: 'I', family_name: 'S' };
    await askForEmail(mallory.browser, account.email);
    await foyer.browser().postJson('/identity/signUp', account);
    const code = await signUp.codeFor(foyer, account.email);
    expect(await read(await showEmailCode(mallory.browser, code))).toContain('Invalid code');
    await foyer.browser().post('/forgot-password', { username: mallory.user.email });
    const reset = (await foyer.mails(mallory.user.email)).findLast(({ template }) => template === 'password-reset');
    expect(await read(await showEmailCode(mallory.browser, String(reset?.values.code)))).toContain('Invalid code');
    expect((await rowOf(foyer, mallory.user)).email).toBe(mallory.user.email);
  });

  it('An attacker who sends 50 codes at once gets five guesses, and the right code fails afterwards', async () => {
    const mallory = await somebody();
    const { email } = fresh();
    await askForEmail(mallory.browser, email);
    const code = await emailCode(foyer, email);
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => showEmailCode(mallory.browser, otherThan(code, n + 1))),
    );
    expect(answers.filter(({ status }) => status === 303)).toEqual([]);
    const texts = await Promise.all(answers.map(read));
    expect(texts.filter((text) => text.includes('Invalid code'))).toHaveLength(4);
    // A member has 25 guesses an hour at all their codes.
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(25);
    expect((await showEmailCode(mallory.browser, code)).status).not.toBe(303);
  });

  it('Only the reader of its messages learns that a number belongs to another user, who keeps it', async () => {
    const { phone } = fresh();
    const victim = await somebody({ phone, phoneVerified: true });
    const mallory = await somebody();
    const free = fresh().phone;
    const answers = [];
    for (const number of [free, phone]) {
      const asked = await askForPhone(mallory.browser, number);
      const shown = await formatNumber(number);
      answers.push([
        leadsTo(asked),
        (await read(await mallory.browser.get('/settings/phone/code'))).replaceAll(shown, ''),
      ]);
    }
    expect(answers[1]).toEqual(answers[0]);
    const answer = await showPhoneCode(mallory.browser, await phoneCode(foyer, phone));
    expect([answer.status, await read(answer)]).toEqual([
      409,
      expect.stringContaining('Another account has this number'),
    ]);
    expect(await rowOf(foyer, victim.user)).toMatchObject({ phone, phone_verified: 1 });
    expect((await rowOf(foyer, mallory.user)).phone).toBeNull();
  });

  it('Of two users who enter the codes of one number at once, one gets the number', async () => {
    const { phone } = fresh();
    const members = [];
    for (const member of [await somebody(), await somebody()]) {
      await askForPhone(member.browser, phone);
      members.push({ ...member, code: await phoneCode(foyer, phone) });
    }
    const answers = await Promise.all(members.map(({ browser, code }) => showPhoneCode(browser, code)));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 409]);
  });

  it('An unverified number in another account does not keep its owner from adding it', async () => {
    const { phone } = fresh();
    const squatter = await foyer.addUser({ phone });
    const owner = await somebody();
    await phoneTo(foyer, owner.browser, phone);
    expect((await rowOf(foyer, owner.user)).phone).toBe(phone);
    expect((await rowOf(foyer, squatter)).phone).toBeNull();
  });

  it('A new password voids a pending change of address', async () => {
    const thief = await somebody();
    const { email } = fresh();
    await askForEmail(thief.browser, email);
    const code = await emailCode(foyer, email);
    // What the mail to the old address tells its owner to do.
    const owner = await foyer.signedIn(thief.user);
    await owner.post('/settings/password', { old_password: password, new_password: newPassword });
    expect(leadsTo(await showEmailCode(thief.browser, code))).toMatch(/^303 \/\?redirect=/);
    const cookies = await thief.browser.cookies();
    await owner.jar.setCookie(`foyer_new_email=${cookies.foyer_new_email}`, foyer.url);
    expect(leadsTo(await showEmailCode(owner, code))).toBe('303 /settings/email?notice=gone');
    expect((await rowOf(foyer, thief.user)).email).toBe(thief.user.email);
  });

  it('A cross-site page and a stale session change no address or number by the JSON API', async () => {
    const { user, browser } = await somebody();
    const { email, phone } = fresh();
    const bodies = {
      '/identity/changeEmail': { email },
      '/identity/changePhone': { phone_number: phone },
      '/identity/verifyUserAttribute': { attribute: 'phone_number', ...(await begunPhone(foyer, user.id)) },
    };
    const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    for (const [path, body] of Object.entries(bodies)) {
      expect([path, (await browser.postJson(path, body, foreign)).status]).toEqual([path, 403]);
    }
    foyer.passTime(11 * 60_000);
    for (const [path, body] of Object.entries(bodies)) {
      const answer = await browser.postJson(path, body);
      expect([path, answer.status]).toEqual([path, 401]);
      expect(answer.headers.get('www-authenticate')).toContain('insufficient_user_authentication');
    }
    expect(await rowOf(foyer, user)).toMatchObject({ email: user.email, phone: null });
    expect(await foyer.mails(email)).toEqual([]);
  });

  it('A user can request five codes an hour and a network twenty, so that no mailbox is flooded', async () => {
    const mallory = await somebody();
    const statuses = [];
    for (let n = 0; n < 7; n += 1) statuses.push((await askForEmail(mallory.browser, fresh().email)).status);
    expect(statuses).toEqual([303, 303, 303, 303, 303, 429, 429]);
    const others = [];
    for (let member = 0; member < 4; member += 1) {
      const { browser } = await somebody();
      for (let n = 0; n < 4; n += 1) others.push((await askForEmail(browser, fresh().email)).status);
    }
    expect(others.filter((status) => status === 303)).toHaveLength(15);
  });
});

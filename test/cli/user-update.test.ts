import { findUser, setMfaPreference, type User } from '../../server/users/index.ts';
import { locationOf } from '../support/browser.ts';
import { type Cli, cliOf } from '../support/cli.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';

describe.each(backends)('foyer user update on $name', (backend) => {
  let foyer: TestFoyer;
  let cli: Cli;
  let user: User;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    cli = cliOf(foyer);
  });
  beforeEach(async () => {
    user = await foyer.addUser();
  });
  afterAll(() => foyer?.close());

  const update = (...options: string[]) => cli('user', 'update', user.email, ...options);
  const stored = async () => {
    const found = await findUser(foyer.deps.database.db, user.id);
    if (!found) throw new Error('the member is gone');
    return found;
  };
  const events = async () =>
    (await cli('audit', 'list', '--member', user.id, '--json'))
      .json<{ type: string; actor: { kind: string }; details: { change?: string; command?: string } }[]>()
      .map(({ type, actor, details }) => [type, actor.kind, details.change ?? details.command]);
  const notices = async (email: string = user.email) =>
    (await foyer.mails(email)).map(({ template, values }) => [template, values.change, values.operator]);

  it('Attributes of the profile are changed by the rules of the form, with one mail each for name and data', async () => {
    const changed = await update(
      '--set',
      'given_name=Grace',
      'custom:jobTitle=Admiral',
      'birthdate=1906-12-09',
      '--json',
    );
    expect(changed).toMatchObject({ code: 0, err: '' });
    expect(changed.json()).toMatchObject({ given_name: 'Grace', birthdate: '1906-12-09' });
    expect(await stored()).toMatchObject({ givenName: 'Grace', jobTitle: 'Admiral', birthdate: '1906-12-09' });
    expect((await notices()).toSorted()).toEqual([
      ['security-notice', 'name', true],
      ['security-notice', 'profile', true],
    ]);
    expect((await events()).toSorted()).toEqual([
      ['operator.command', 'operator', 'user update'],
      ['profile.changed', 'operator', 'name'],
      ['profile.changed', 'operator', 'profile'],
    ]);
    const [mail] = await foyer.mails(user.email);
    expect(mail?.text).toContain('Our team has changed this.');
    expect(mail?.text).not.toMatch(/^(?:Device|IP address)/m);
    // An empty value removes an optional attribute.
    await update('--set', 'custom:jobTitle=');
    expect((await stored()).jobTitle).toBeNull();
  });

  it('All faults are named together, and nothing is changed', async () => {
    const faulty = ['given_name=', 'birthdate=1906-02-30', 'colour=red', 'nickname=Amazing', 'gender=7'];
    const run = await update('--set', ...faulty, '--email', 'nobody', '--phone', '12');
    expect(run).toMatchObject({ code: 1, out: '' });
    for (const text of [
      'given_name: ',
      'birthdate: ',
      'gender: ',
      'colour: no such attribute; there are given_name',
      'nickname: PROFILE_FIELDS does not switch it on',
      'email nobody: is not an e-mail address',
      'phone 12: write +',
    ])
      expect(run.err).toContain(`  - ${text}`);
    expect(await update()).toMatchObject({ code: 2 });
    expect(await update('--set', 'given_name')).toMatchObject({ code: 2 });
    expect(await cli('user', 'update', 'no-one@example.com', '--no-phone')).toMatchObject({ code: 3 });
    expect(await stored()).toEqual(user);
    expect(await notices()).toEqual([]);
  });

  it('A new address is unproven: the member signs in with it and confirms it, and the former one gets a link to undo it', async () => {
    const email = `new-${user.email}`;
    expect(await update('--email', email.toUpperCase())).toMatchObject({ code: 0 });
    expect(await stored()).toMatchObject({ email, emailVerified: false });
    const browser = foyer.browser();
    const answer = await browser.post('/sign-in', { username: email, password });
    expect(locationOf(answer)).toMatch(/verif|confirm/);
    expect(await notices(email)).toContainEqual(['security-notice', 'email', true]);
    const mail = (await foyer.mails(user.email)).find(({ template }) => template === 'email-changed');
    expect(mail?.text).toContain('Our team has changed it');
    expect((await foyer.browser().get(String(mail?.values.undoUrl).replace(foyer.url, ''))).status).toBe(200);
    expect(await events()).toContainEqual(['contact.changed', 'operator', 'email']);
  });

  it('The options --email-verified and --phone-verified vouch for both, and a vouched number signs in', async () => {
    const [email, phone] = [`vouched-${user.email}`, '+4915112340301'];
    await update('--email', email, '--email-verified', '--phone', '+49 151 12340301', '--phone-verified');
    expect(await stored()).toMatchObject({ email, emailVerified: true, phone, phoneVerified: true });
    const answer = await foyer.browser().post('/sign-in', { username: phone, password });
    expect(answer.status).toBe(303);
    user = await stored();
    await update('--no-phone-verified', '--no-email-verified');
    expect(await stored()).toMatchObject({ emailVerified: false, phoneVerified: false });
    expect(await events()).toContainEqual(['contact.changed', 'operator', 'phone-unverified']);
    await update('--no-phone');
    expect(await stored()).toMatchObject({ phone: null, phoneVerified: false });
    expect(await notices()).toContainEqual(['security-notice', 'phone-removed', true]);
  });

  it("Attack: another member's or a reserved address, number and username are refused, and nothing else is changed", async () => {
    const other = await foyer.addUser({ phone: '+4915112340302', phoneVerified: true });
    await cli('user', 'update', other.email, '--set', 'preferred_username=grace');
    const refused = { code: 1, out: '', err: expect.stringContaining('another member has it already') };
    expect(await update('--set', 'given_name=Eve', '--email', other.email)).toMatchObject(refused);
    expect(await update('--set', 'given_name=Eve', '--phone', '+4915112340302', '--phone-verified')).toMatchObject(
      refused,
    );
    expect(await update('--set', 'given_name=Eve', '--phone', '+4915112340302')).toMatchObject(refused);
    expect(await update('--email', `free-${user.email}`, '--set', 'preferred_username=grace')).toMatchObject(refused);
    const email = `moved-${other.email}`;
    await cli('user', 'update', other.email, '--email', email);
    // The other member can undo the change for 72 hours.
    expect(await update('--email', other.email)).toMatchObject(refused);
    expect(await stored()).toEqual(user);
    expect(await notices()).toEqual([]);
  });

  it('A number that carries the second factor is neither removed nor made unverified', async () => {
    user = await foyer.addUser({ phone: '+4915112340303', phoneVerified: true });
    const { database } = foyer.deps;
    await database.transaction((trx) => setMfaPreference(trx, user.id, { preference: 'sms', nowMs: 0 }));
    const refused = { code: 1, err: expect.stringContaining('carries the second factor') };
    for (const options of [['--no-phone'], ['--no-phone-verified'], ['--phone', '+4915112340304']])
      expect(await update(...options)).toMatchObject(refused);
    expect(await update('--phone', '+4915112340304', '--phone-verified')).toMatchObject({ code: 0 });
    expect(await stored()).toMatchObject({ phone: '+4915112340304', mfaPreference: 'sms' });
  });
});

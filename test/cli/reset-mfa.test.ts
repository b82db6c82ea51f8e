import { hasTotp } from '../../server/mfa/index.ts';
import { findUser } from '../../server/users/index.ts';
import { operatorOf } from '../account/deletion/steps.ts';
import { giveRecoveryCodes, giveTotp, memberWithSms, memberWithTotp } from '../sign-in/factor-steps.ts';
import type { Cli } from '../support/cli.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { toUserId } from '../support/ids.ts';
import { backends } from '../support/stores.ts';

const hourMs = 60 * 60_000;

describe.each(backends)('foyer user reset-mfa on $name', (backend) => {
  let foyer: TestFoyer;
  let cli: Cli;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    cli = operatorOf(foyer);
  });
  afterAll(() => foyer?.close());

  const pass = async (hours: number) => {
    foyer.passTime(hours * hourMs);
    await foyer.app.deletion.work();
  };
  const preference = async (id: string) => (await findUser(foyer.deps.database.db, toUserId(id)))?.mfaPreference;
  const templates = async (email: string) => (await foyer.mails(email)).map(({ template }) => template);

  it('The reset removes the factor after 72 hours, ends all sessions, allows the password alone and sends a mail', async () => {
    const user = await foyer.addUser();
    const browser = await foyer.signedIn(user);
    await giveTotp(foyer, user);
    await giveRecoveryCodes(foyer, user);
    const run = await cli('user', 'reset-mfa', user.email, '--json');
    expect(run).toMatchObject({ code: 0, err: '' });
    const { sub, requested_at, due_at } = run.json<Record<string, number>>();
    expect({ sub, wait: Number(due_at) - Number(requested_at) }).toEqual({ sub: user.id, wait: 72 * 3600 });
    await pass(71);
    expect(await preference(user.id)).toBe('totp');
    await pass(1.1);
    expect(await preference(user.id)).toBe('none');
    expect(await hasTotp(foyer.deps.database.db, user.id)).toBe(false);
    expect((await browser.get('/settings')).status).toBe(303);
    expect(await templates(user.email)).toEqual(['factor-reset-asked', 'factor-reset-done']);
    const answer = await foyer.browser().post('/sign-in', { username: user.email, password });
    expect(answer.headers.get('location')).not.toMatch(/second-factor/);
  });

  it('The reset notifies the user at once, in the user’s language, by mail, text message and notification', async () => {
    const { user, phone } = await memberWithSms(foyer);
    await foyer.deps.database.db.updateTable('users').set({ locale: 'de' }).where('id', '=', user.id).execute();
    const run = await cli('user', 'reset-mfa', user.id);
    expect(run.out).toMatch(
      /^The second factor of \S+ is taken away on .* UTC, unless they say no\. They are told now\.\n$/,
    );
    const [mail] = await foyer.mails(user.email);
    expect(mail).toMatchObject({
      template: 'factor-reset-asked',
      subject: 'Die Zwei-Faktor-Anmeldung bei Foyer wird ausgeschaltet',
    });
    const url = String(mail?.values.cancelUrl);
    expect(url).toMatch(new RegExp(`^${foyer.url}/cancel-factor-reset\\?token=[0-9a-f-]{36}\\.[\\w-]{43}$`));
    expect((await foyer.texts(phone)).at(-1)).toMatch(/^Foyer: Ihre Zwei-Faktor-Anmeldung wird am .* ausgeschaltet\./);
    expect((await foyer.texts(phone)).at(-1)).toContain(url);
    const notes = await foyer.deps.database.db
      .selectFrom('notifications')
      .selectAll()
      .where('userId', '=', user.id)
      .execute();
    expect(notes).toEqual([
      expect.objectContaining({ title: 'Die Zwei-Faktor-Anmeldung wird ausgeschaltet', category: 'account' }),
    ]);
    // What lies open in the database carries no token.
    expect(JSON.stringify(notes)).not.toContain('token');
  });

  it('The reset waits as long as MFA_RESET_WAIT_HOURS says at the request', async () => {
    const { user } = await memberWithTotp(foyer);
    const quick = operatorOf(foyer, { MFA_RESET_WAIT_HOURS: '1' });
    await quick('user', 'reset-mfa', user.email);
    await pass(1.1);
    expect(await preference(user.id)).toBe('none');
    expect(await operatorOf(foyer, { MFA_RESET_WAIT_HOURS: '0' })('user', 'reset-mfa', user.email)).toMatchObject({
      code: 4,
      err: expect.stringContaining('MFA_RESET_WAIT_HOURS'),
    });
  });

  it('A reset is listed, and when the operator cancels it nothing happens and the user is notified', async () => {
    const { user } = await memberWithTotp(foyer);
    await cli('user', 'reset-mfa', user.email);
    expect((await cli('user', 'reset-mfa', '--list')).out).toMatch(new RegExp(`${user.email} .*${user.id}`));
    expect((await cli('user', 'reset-mfa', '--list', '--json')).json<object[]>()).toContainEqual({
      sub: user.id,
      requested_at: expect.any(Number),
      due_at: expect.any(Number),
    });
    expect((await cli('user', 'reset-mfa', user.email, '--cancel')).out).toBe(
      `The second factor of ${user.email} stays. They are told so by mail.\n`,
    );
    expect((await cli('user', 'reset-mfa', '--list')).out).not.toContain(user.email);
    await pass(73);
    expect(await preference(user.id)).toBe('totp');
    expect(await templates(user.email)).toEqual(['factor-reset-asked', 'factor-reset-cancelled']);
  });

  it('Requests that make no sense are refused with the exit codes 1, 2 and 3', async () => {
    const { user } = await memberWithTotp(foyer);
    const plain = await foyer.addUser();
    await cli('user', 'reset-mfa', user.email);
    const said = async (...argv: string[]) => {
      const { code, out, err } = await cli('user', 'reset-mfa', ...argv);
      return [code, out, err.trim().split('\n').at(-1)];
    };
    expect(await said(user.email)).toEqual([1, '', expect.stringMatching(/a reset waits already, and happens on/)]);
    expect(await said(plain.email)).toEqual([1, '', `  - ${plain.email}: has no second factor`]);
    expect(await said(plain.email, '--cancel')).toEqual([1, '', `  - ${plain.email}: no reset waits`]);
    expect(await said()).toEqual([2, '', "error: missing required argument 'member'"]);
    expect(await said('--list', '--cancel')).toEqual([2, '', 'error: --list stands alone']);
    expect(await said('unknown@example.com')).toEqual([3, '', 'There is no member unknown@example.com.']);
  });

  it('Showing a user names the factors and the reset that waits', async () => {
    const { user } = await memberWithTotp(foyer);
    await giveRecoveryCodes(foyer, user);
    await cli('user', 'reset-mfa', user.email);
    const { out } = await cli('user', 'show', user.email);
    expect(out).toMatch(/^Factor\s+authenticator app, 10 recovery codes left$/m);
    expect(out).toMatch(/^Passkeys\s+0$/m);
    expect(out).toMatch(/^Reset\s+the second step is taken away on .* UTC$/m);
    expect((await cli('user', 'show', user.email, '--json')).json()).toMatchObject({
      mfa: { preferred: 'totp', authenticator_app: true, recovery_codes_left: 10 },
      passkeys: 0,
      mfa_reset_due_at: expect.any(Number),
    });
  });
});

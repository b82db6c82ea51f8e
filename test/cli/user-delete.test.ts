import { findUser, setDisabled, type User } from '../../server/users/index.ts';
import { dayMs, deletionOf, operatorOf } from '../account/deletion/steps.ts';
import type { Cli } from '../support/cli.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { backends } from '../support/stores.ts';
import { sidOf, toldApp } from '../support/told-app.ts';

describe.each(backends)('foyer user delete on $name', (backend) => {
  let foyer: TestFoyer;
  let cli: Cli;
  let user: User;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
    cli = operatorOf(foyer);
  });
  beforeEach(async () => {
    user = await foyer.addUser();
  });
  afterAll(() => foyer?.close());

  const remove = (...options: string[]) => cli('user', 'delete', user.email, ...options);
  const isThere = async () => (await findUser(foyer.deps.database.db, user.id)) !== undefined;

  it('The member is signed out everywhere and told by mail, and erased after 14 days', async () => {
    const app = await toldApp(foyer);
    const browser = await foyer.signedIn(user);
    const tokens = await app.tokens(browser, user);
    const run = await remove('--json');
    const due = await deletionOf(foyer, user);
    expect(run.json()).toEqual({ sub: user.id, due_at: Math.floor((due?.dueAt ?? 0) / 1000), erased: false });
    expect((due?.dueAt ?? 0) - (due?.requestedAt ?? 0)).toBe(14 * dayMs);
    expect((await browser.get('/settings')).status).toBe(303);
    expect(await app.heard()).toEqual([sidOf(tokens)]);
    const mail = (await foyer.mails(user.email)).find(({ template }) => template === 'deletion-asked');
    expect(mail?.text).toContain('Our team was asked to delete your account');
    expect(mail?.text).not.toMatch(/^(?:Device|IP address)/m);
    // A second call changes nothing and sends no mail.
    expect((await remove('--json')).json()).toEqual(run.json());
    expect((await foyer.mails(user.email)).filter(({ template }) => template === 'deletion-asked')).toHaveLength(1);
    const types = (await cli('audit', 'list', '--member', user.id, '--json')).json<{ type: string; actor: object }[]>();
    expect(types).toContainEqual(
      expect.objectContaining({
        type: 'account.deletion-requested',
        actor: expect.objectContaining({ kind: 'operator' }),
      }),
    );
    foyer.passTime(14 * dayMs);
    await foyer.app.deletion.work();
    expect(await isThere()).toBe(false);
    await app.close();
  });

  it('A sign-in cancels it', async () => {
    await remove();
    await foyer.signedIn(user);
    expect(await deletionOf(foyer, user)).toBeUndefined();
  });

  it('The option --now erases after the address was typed, and not otherwise', async () => {
    const browser = await foyer.signedIn(user);
    for (const typed of ['', 'yes\n', `x${user.email}\n`]) {
      expect(await cli.withInput(typed, 'user', 'delete', user.email, '--now')).toMatchObject({
        code: 1,
        err: expect.stringContaining('not confirmed; nothing is changed'),
      });
    }
    expect((await browser.get('/settings')).status).toBe(200);
    expect(await deletionOf(foyer, user)).toBeUndefined();
    const typed = [`${user.email.toUpperCase()}\n`, 'more'];
    const run = await cli.withInput(typed, 'user', 'delete', user.id, '--now', '--json');
    expect(run.json()).toMatchObject({ sub: user.id, erased: true });
    expect(await isThere()).toBe(false);
    expect((await browser.get('/settings')).status).toBe(303);
    expect(await cli('user', 'show', user.email)).toMatchObject({ code: 3 });
    expect(await foyer.mails(user.email)).toEqual([]);
    expect(await cli('audit', 'verify')).toMatchObject({ code: 0 });
    // No event names the member any more, that of the command neither.
    const events = (await cli('audit', 'list', '--json', '--limit', '1000')).out;
    expect(events).toContain('account.erased');
    expect(events).not.toContain(user.id);
  });

  it('The options --now and --yes ask nothing, also when the deletion was requested before', async () => {
    await remove();
    expect((await remove('--now', '--yes')).out).toContain(`Member ${user.id} is erased.`);
    expect(await isThere()).toBe(false);
  });

  it('A disabled and an unknown member are refused', async () => {
    await setDisabled(foyer.deps.database.db, user.id, { disabledAt: 1, nowMs: 1 });
    expect(await remove('--now', '--yes')).toMatchObject({ code: 1, err: expect.stringContaining('is disabled') });
    expect(await isThere()).toBe(true);
    expect(await cli('user', 'delete', 'no-one@example.com')).toMatchObject({ code: 3 });
    expect(await remove('--membership', 'later')).toMatchObject({ code: 2 });
  });
});

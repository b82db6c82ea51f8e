import type { Page } from 'playwright-core';
import { findUser, type User } from '../../server/users/index.ts';
import { axeFindings, chromiumForTests } from '../support/chromium.ts';
import { password } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';
import { goOnAs } from './steps.ts';

describe('a refused form in a dialog of the settings', () => {
  const { newPage } = chromiumForTests({ profilesStay: true });
  let sandbox: Sandbox;
  let url: string;
  let user: User;
  beforeAll(async () => {
    sandbox = await startSandbox(anyBackend);
    url = sandbox.foyer.url;
  });
  beforeEach(async () => {
    user = await sandbox.foyer.addUser({ givenName: 'Vera', familyName: 'Lindqvist' });
  });
  afterAll(() => sandbox?.close());

  const stored = () => findUser(sandbox.foyer.deps.database.db, user.id);

  async function atSettings(): Promise<Page> {
    const page = await newPage();
    await goOnAs(page, await sandbox.foyer.signedIn(user), url);
    await page.goto(`${url}/settings`);
    return page;
  }

  const dialog = (page: Page) => page.getByRole('dialog');
  /** Opens the dialog of this page, which is linked by the settings or one of its lists. */
  async function openDialog(page: Page, path: string): Promise<void> {
    for (const at of ['/settings', '/settings?tab=user-data', '/settings?tab=mfa-data', '/settings/passkeys']) {
      await page.goto(url + at);
      const link = page.locator(`main [data-island="dialog"] a[href^="${path}"]`).first();
      if ((await link.count()) === 0 || !(await link.isVisible())) continue;
      await link.click();
      await page.locator('dialog[open] [data-lift]').waitFor();
      return;
    }
    throw new Error(`no dialog of ${path}`);
  }
  const submit = (page: Page) => page.locator('dialog form .actions button').first().click();
  const focusedField = (page: Page, name: string) =>
    page.waitForFunction((wanted) => document.activeElement?.getAttribute('name') === wanted, name);
  const invalid = (page: Page) =>
    page
      .locator('dialog [aria-invalid=true]')
      .evaluateAll((all) => all.map((field) => field.getAttribute('name')).sort());

  it.each<{ path: string; typed: Record<string, string>; errors: string[]; focus: string }>([
    {
      path: 'name',
      typed: { given_name: '', family_name: '' },
      errors: ['family_name', 'given_name'],
      focus: 'given_name',
    },
    { path: 'email', typed: { email: 'vera at example' }, errors: ['email'], focus: 'email' },
    { path: 'phone', typed: { phone_number: 'vera' }, errors: ['phone_number'], focus: 'phone_number' },
    {
      path: 'password',
      typed: { old_password: 'wrong 1', new_password: 'password1' },
      errors: ['new_password', 'old_password'],
      focus: 'old_password',
    },
    {
      path: 'profile',
      typed: { preferred_username: 'a b', birthdate: '2999-01-01', job_title: 'Restorer' },
      errors: ['birthdate', 'preferred_username'],
      focus: 'preferred_username',
    },
    { path: 'delete-account', typed: {}, errors: ['confirm'], focus: 'confirm' },
    { path: 'passkeys/rename', typed: { name: ' ' }, errors: ['name'], focus: 'name' },
  ])('The dialog of $path stays open with all its errors, what was typed, and the focus on the first', async (row) => {
    await sandbox.foyer.deps.database.db
      .insertInto('passkeys')
      .values({
        id: `key of ${user.id}`,
        userId: user.id,
        name: 'Red laptop',
        publicKey: '',
        counter: 0,
        transports: '',
        aaguid: '',
        backedUp: 0,
        createdAt: sandbox.foyer.deps.now(),
        lastUsedAt: null,
      })
      .execute();
    const page = await atSettings();
    await openDialog(page, `/settings/${row.path}`);
    const below = page.url();
    for (const [name, text] of Object.entries(row.typed)) await page.locator(`dialog [name="${name}"]`).fill(text);
    await submit(page);
    await page.locator('dialog [aria-invalid=true]').first().waitFor();
    await focusedField(page, row.focus);
    expect(await invalid(page)).toEqual(row.errors);
    expect(page.url()).toBe(below);
    for (const [name, text] of Object.entries(row.typed)) {
      const kept = await page.locator(`dialog [name="${name}"]`).inputValue();
      expect([name, kept.trim()]).toEqual([name, name.endsWith('password') ? '' : text.trim()]);
    }
    expect(await axeFindings(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await dialog(page).waitFor({ state: 'detached' });
    expect(await stored()).toMatchObject({ givenName: 'Vera', passwordEpoch: user.passwordEpoch });
  });

  it('A new password with an open rule is not sent: its field gets the focus', async () => {
    const page = await atSettings();
    const sent: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST') sent.push(request.url());
    });
    await openDialog(page, '/settings/password');
    await page.locator('dialog [name=old_password]').fill(password);
    await page.locator('dialog [name=new_password]').fill('short');
    await page.locator('dialog .strength .unmet').first().waitFor();
    await submit(page);
    await focusedField(page, 'new_password');
    expect(await page.locator('dialog [name=new_password]').inputValue()).toBe('short');
    expect(sent).toEqual([]);
  });

  it('The notice above the fields passes, the errors stay', async () => {
    const page = await atSettings();
    await openDialog(page, '/settings/password');
    await submit(page);
    const bar = dialog(page).getByText('Please enter both the old and the new password.');
    await bar.waitFor();
    await dialog(page).getByText('Enter your current password.').waitFor();
    await bar.waitFor({ state: 'hidden' });
    await dialog(page).getByText('Enter your current password.').waitFor();
  });

  it('The code of a new address is asked for in the dialog, can be wrong there, and leads back to the address', async () => {
    const page = await atSettings();
    await openDialog(page, '/settings/email');
    await page.locator('dialog [name=email]').fill('vera.new@example.com');
    await submit(page);
    const code = dialog(page).locator('[name=code]');
    await code.fill('000000');
    await code.press('Enter');
    await page.locator('dialog [aria-invalid=true][name=code]').waitFor();
    await focusedField(page, 'code');
    expect(await axeFindings(page)).toEqual([]);
    await dialog(page).locator('a[data-step]').click();
    await dialog(page).locator('[name=email]').waitFor();
    expect(new URL(page.url()).pathname).toBe('/settings');
  });

  it('A session that has ended leads to the sign-in, and from there to the page of the form', async () => {
    const page = await atSettings();
    await openDialog(page, '/settings/name');
    await page.context().clearCookies();
    await page.locator('dialog [name=given_name]').fill('Wilhelmina');
    await submit(page);
    await page.waitForURL(
      (address) => address.pathname === '/' && address.searchParams.get('redirect') === '/settings/name',
    );
  });
});

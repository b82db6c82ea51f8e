import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { findUser } from '../../server/users/index.ts';
import { dayMs, deletionOf, operatorOf } from '../account/deletion/steps.ts';
import { memberWithTotp } from '../sign-in/factor-steps.ts';
import { chromiumForTests } from '../support/chromium.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';
import { thorough } from '../support/thorough.ts';
import { goOnAs, submitSignIn } from './steps.ts';

const backend = anyBackend;

describe('account deletion and data export in a browser', () => {
  const { newPage } = chromiumForTests({ profilesStay: true });
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  /** By the tab of the settings to one of the acts in it: a dialog where scripts run. */
  async function toAct(page: Page, act: string, heading: string, javaScript: boolean) {
    await page
      .getByRole('link', { name: 'User data', exact: true })
      .or(page.getByRole('tab', { name: 'User data' }))
      .click();
    await page.locator(`a[href="/settings/${act}"]`).click();
    await page.getByRole('heading', { name: heading }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(javaScript ? 1 : 0);
  }

  it.each([true, false])(
    'A user exports the data, requests deletion and cancels it by signing in again (JavaScript: %s)',
    async (javaScript) => {
      const user = await foyer.addUser();
      const page = await newPage({ javaScript });
      await goOnAs(page, await foyer.signedIn(user), foyer.url);
      await page.goto(`${foyer.url}/settings`);
      await toAct(page, 'data', 'Download your data', javaScript);
      const button = page.getByRole('button', { name: 'Download', exact: true });
      const [file] = await Promise.all([page.waitForEvent('download'), button.click()]);
      expect(file.suggestedFilename()).toMatch(/^account-data-\d{4}-\d\d-\d\d\.json$/);
      expect(JSON.parse(await readFile(await file.path(), 'utf8'))).toMatchObject({ member: user.id });
      // The page stays, and so does its button.
      await page.waitForTimeout(300);
      expect(await button.getAttribute('aria-busy')).toBeNull();
      if (javaScript) {
        await page.keyboard.press('Escape');
        await page.getByRole('dialog').waitFor({ state: 'detached' });
      } else await page.goto(`${foyer.url}/settings`);

      await toAct(page, 'delete-account', 'Delete account', javaScript);
      await page.getByRole('button', { name: 'Delete account' }).click();
      await page.getByText('Tick this box to delete your account.').waitFor();
      await page.getByLabel('Yes, delete my account').check();
      await page.getByRole('button', { name: 'Delete account' }).click();
      await page.getByRole('heading', { name: 'Your account will be deleted' }).waitFor();
      expect(await deletionOf(foyer, user)).toMatchObject({ doneAt: null });
      await page.goto(`${foyer.url}/settings`);
      await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();

      await submitSignIn(page, { email: user.email, password });
      await page.getByRole('heading', { name: 'Security settings' }).waitFor();
      await page.getByText('Because you’ve signed in since, it stays').waitFor();
      expect(await deletionOf(foyer, user)).toBeUndefined();
    },
  );

  thorough.each([true, false])(
    'A user who did not request it stops the reset of the second factor by the link in the mail (JavaScript: %s)',
    async (javaScript) => {
      const { user } = await memberWithTotp(foyer);
      await operatorOf(foyer)('user', 'reset-mfa', user.email);
      await foyer.deps.outboxWorker.turn();
      const mails = await newPage({ javaScript });
      await mails.goto(`${foyer.url}/sandbox/mailbox?${new URLSearchParams({ to: user.email })}`);
      await mails.getByRole('link', { name: 'Two-step verification at Foyer will be turned off' }).click();
      const [page] = await Promise.all([
        mails.context().waitForEvent('page'),
        mails.frameLocator('iframe').getByRole('link', { name: 'Stop this' }).click(),
      ]);
      await page.getByRole('heading', { name: 'Keep two-step verification?' }).waitFor();
      await page.getByRole('button', { name: 'Keep two-step verification' }).click();
      await page.getByRole('heading', { name: 'Two-step verification stays on' }).waitFor();
      await page.getByRole('link', { name: 'Set a new password' }).click();
      await page.getByRole('heading', { name: 'Password request' }).waitFor();
      foyer.passTime(4 * dayMs);
      await foyer.app.deletion.work();
      expect((await findUser(foyer.deps.database.db, user.id))?.mfaPreference).toBe('totp');
    },
  );
});

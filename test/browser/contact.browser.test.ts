import type { Page } from 'playwright-core';
import { translator } from '../../sandbox/texts.ts';
import { fullName, type User } from '../../server/users/index.ts';
import { emailCode, fresh, newPassword, phoneCode, rowOf } from '../account/contact/steps.ts';
import { isSignedIn } from '../sign-in/factor-steps.ts';
import { chromiumForTests } from '../support/chromium.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';
import { andLoad, goOnAs, sendCode, submitSignIn } from './steps.ts';

const backend = anyBackend;

/** What follows is a page, or is shown in the dialog. */
const submitAct = (page: Page) => page.locator('.dialog-card form').first().locator('button.primary').click();

describe('address and number in a browser', () => {
  const { newPage } = chromiumForTests({ profilesStay: true });
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(backend);
  });
  afterAll(() => foyer?.close());

  /** The mailbox of one recipient, in a tab of its own, once everything has arrived. */
  async function mailbox(page: Page, to: string): Promise<Page> {
    await foyer.deps.outboxWorker.turn();
    const tab = await page.context().newPage();
    await tab.goto(`${foyer.url}/sandbox/mailbox?${new URLSearchParams({ to })}`);
    return tab;
  }
  /** From the settings by their Edit, in a dialog where scripts run, to the page that asks for the code. */
  async function edit(page: Page, what: 'email' | 'phone', text: string, javaScript: boolean) {
    await page.locator(`a[href="/settings/${what}"]`).first().click();
    const heading = what === 'email' ? 'Edit email' : 'Edit phone';
    await page.getByRole('heading', { name: heading }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(javaScript ? 1 : 0);
    await page.getByLabel(what === 'email' ? 'New email address' : 'Phone number', { exact: true }).fill(text);
    await submitAct(page);
    await page.getByRole('heading', { name: 'Verify code' }).waitFor();
    await sendCode(page, await (what === 'email' ? emailCode : phoneCode)(foyer, text));
    // The notice of the change before may still be there.
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.getByText('Your data has been saved.').waitFor();
  }

  it.each([true, false])(
    'A user changes both with codes and restores the account from the old mailbox (JavaScript: %s)',
    async (javaScript) => {
      const user: User = await foyer.addUser();
      const { email, phone } = fresh();
      const page = await newPage({ javaScript });
      await goOnAs(page, await foyer.signedIn(user), foyer.url);
      await page.goto(`${foyer.url}/settings`);
      await page.getByRole('heading', { name: 'Security settings' }).waitFor();
      await edit(page, 'email', email, javaScript);
      await page.locator('#panel-sign-in').getByText(email).waitFor();
      await edit(page, 'phone', phone, javaScript);
      expect(await rowOf(foyer, user)).toMatchObject({ email, phone, phoneVerified: 1 });

      // Somebody who finds the mail and was not asked.
      const mails = await mailbox(await newPage({ javaScript }), user.email);
      await mails.getByRole('link', { name: 'Your email address at Foyer has been changed' }).click();
      const [undo] = await Promise.all([
        mails.context().waitForEvent('page'),
        mails.frameLocator('iframe').getByRole('link', { name: 'Undo the change' }).click(),
      ]);
      await undo.getByRole('heading', { name: 'Get your account back' }).waitFor();
      await undo.getByLabel('New password', { exact: true }).fill(newPassword);
      await undo.getByLabel('Confirm password').fill(newPassword);
      await undo.getByRole('button', { name: 'Undo the change' }).click();
      await undo.getByRole('heading', { name: 'You’ve got your account back' }).waitFor();
      await undo.getByRole('link', { name: 'Sign in' }).click();
      if (javaScript) {
        await submitSignIn(undo, { email: user.email, password: newPassword });
        await undo.getByText(translator('en')('sandbox.search.greeting', { name: fullName(user) })).waitFor();
      } else {
        await undo.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
        const browser = foyer.browser();
        await browser.post('/sign-in', { username: user.email, password: newPassword });
        expect(await isSignedIn(browser)).toBe(true);
      }
      expect(await rowOf(foyer, user)).toMatchObject({ email: user.email, phone: null });
      // The other browser is signed out.
      await andLoad(page, () => page.reload());
      await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
    },
  );
});

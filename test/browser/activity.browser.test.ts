import type { Page } from 'playwright-core';
import { recordEntry } from '../../server/audit/index.ts';
import type { User } from '../../server/users/index.ts';
import { axeFindings, chromiumForTests } from '../support/chromium.ts';
import { password } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';
import { submitSignIn } from './steps.ts';

describe('the account activity in a browser', () => {
  const { newPage } = chromiumForTests();
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await startSandbox(anyBackend);
  });
  afterAll(() => sandbox?.close());

  /** More payments than one page has, before all other events. */
  async function pay(user: User, times: number): Promise<void> {
    const { deps, app } = sandbox.foyer;
    for (let n = 1; n <= times; n += 1) {
      const details = { invoice: `in_${n}`, amountCents: n * 100, currency: 'usd', plan: '10' };
      await recordEntry(deps.database.db, { type: 'payment.made', details, subject: user.id, atMs: n });
    }
    await app.audit.seal();
  }

  async function signIn(page: Page, user: User, typed: string): Promise<void> {
    await page.goto(`${sandbox.foyer.url}/?redirect=/settings`);
    await submitSignIn(page, { email: user.email, password: typed });
  }

  it.each([true, false])(
    'A member finds a refused attempt, a sign-out and older events from the list of devices; JavaScript %s',
    async (javaScript) => {
      const user = await sandbox.foyer.addUser();
      await pay(user, 30);
      const page = await newPage({ javaScript });
      await signIn(page, user, 'not the password');
      await page.locator('.notice.error').waitFor();
      await submitSignIn(page, { email: user.email, password });
      await page.locator('details.menu > summary').click();
      await page.getByRole('button', { name: 'Sign out', exact: true }).click();
      await signIn(page, user, password);
      await page.locator('details.menu > summary').waitFor();
      await sandbox.foyer.app.audit.seal();

      await page.goto(`${sandbox.foyer.url}/settings?tab=device-data`);
      await page.locator('a[href="/settings/activity"]').click();
      await page.getByRole('heading', { level: 1, name: 'Account activity' }).waitFor();
      const rows = page.locator('.items > li');
      const labels = await rows.locator('.item-label').allTextContents();
      expect(labels).toHaveLength(25);
      expect(labels.slice(0, 4).toSorted()).toEqual([
        '1 refused attempt to sign in',
        'You signed in',
        'You signed in',
        'You signed out',
      ]);
      expect(await rows.first().locator('.item-value').textContent()).toMatch(
        /UTC +Chrome · Linux, (127\.0\.0\.1|::1) *$/,
      );
      if (javaScript) expect(await axeFindings(page)).toEqual([]);

      await page.getByRole('link', { name: 'Older activity' }).click();
      await page.getByRole('link', { name: 'Newest activity' }).waitFor();
      expect(await rows.locator('.item-label').allTextContents()).toEqual(
        Array.from({ length: 9 }, (_, n) => `Payment: $${9 - n}.00`),
      );
      await page.getByRole('link', { name: 'Newest activity' }).click();
      await page.getByText('You signed out').waitFor();
      await page.getByRole('link', { name: 'Back to your devices' }).click();
      await page.getByRole('heading', { level: 2, name: 'Your devices' }).waitFor();
    },
  );
});

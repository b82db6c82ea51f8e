import type { Page } from 'playwright-core';
import { submitSignIn } from '../browser/steps.ts';
import { chromiumForTests } from '../support/chromium.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';
import type { ForeignApp } from './foreign-app.ts';
import { pages, startPageApp } from './page-app.ts';

const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

/** Signs in from the app's page; returns the subject that the page shows, or its error. */
async function signIn(page: Page, app: ForeignApp, user: { email: string }): Promise<string | null> {
  await page.goto(app.url);
  await press(page, 'Sign in');
  await submitSignIn(page, { email: user.email, password });
  return page.locator('#subject, #error').textContent();
}

describe('libraries of pages in Chromium', () => {
  const { newPage } = chromiumForTests();
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
  });
  afterAll(() => foyer?.close());

  describe.each(pages.filter((page) => page !== 'keycloak-js'))('%s', (library) => {
    let app: ForeignApp;
    beforeAll(async () => {
      app = await startPageApp(foyer, library);
    }, 120_000);
    afterAll(() => app?.stop());

    it('The page signs a member in, refreshes its tokens and signs out', async () => {
      const user = await foyer.addUser();
      const page = await newPage();
      await page.goto(app.url);
      await press(page, 'Sign in');
      await submitSignIn(page, { email: user.email, password });
      await page.locator('#subject').or(page.locator('#error')).waitFor();
      expect(await page.locator('#subject').textContent()).toBe(user.id);
      expect(await page.locator('#email').textContent()).toBe(user.email);

      const refreshed = page.waitForResponse(
        (response) => response.url().endsWith('/oauth2/token') && response.request().method() === 'POST',
      );
      await press(page, 'Refresh');
      const answer = await refreshed;
      expect([answer.status(), answer.request().postData()]).toEqual([
        200,
        expect.stringContaining('grant_type=refresh_token'),
      ]);

      expect(await page.locator('#refreshed').textContent()).toBe('true');
      await press(page, 'Sign out');
      await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
      await page.goto(foyer.url);
      await page.getByLabel('Email or phone').waitFor();
    });
  });

  it('The library keycloak-js takes no access token that is not a JWT, as the guide says', async () => {
    const app = await startPageApp(foyer, 'keycloak-js');
    const shown = await signIn(await newPage(), app, await foyer.addUser()).finally(() => app.stop());
    expect(shown).toContain('Unable to decode token');
  });
});

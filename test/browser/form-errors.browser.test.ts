import type { Page } from 'playwright-core';
import { chromiumForTests } from '../support/chromium.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';
import { andLoad } from './steps.ts';

describe('what was typed', () => {
  const { newPage } = chromiumForTests({ profilesStay: true });
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
  });
  afterAll(() => foyer?.close());

  const speakDutch = (page: Page) => andLoad(page, () => page.getByRole('button', { name: 'Nederlands' }).click());
  const typedIn = (page: Page, name: string) => page.locator(`main [name="${name}"]`).inputValue();

  it('The address of the link stays in the field in another language, and leads to the sign-in with it', async () => {
    const page = await newPage({ javaScript: false });
    await page.goto(`${foyer.url}/signup?email=ida%40example.com`);
    await speakDutch(page);
    expect(await typedIn(page, 'email')).toBe('ida@example.com');
    await andLoad(page, () => page.locator('.panel-ways a').last().click());
    expect(await typedIn(page, 'username')).toBe('ida@example.com');
  });
});

describe('a form that was refused for several fields', () => {
  const { newPage } = chromiumForTests({ profilesStay: true });
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
  });
  afterAll(() => foyer?.close());

  it.each([true, false])(
    'The focus is on their summary, whose links lead to the fields: scripts %s',
    async (javaScript) => {
      const page = await newPage({ javaScript });
      await page.goto(`${foyer.url}/signup`);
      await page.locator('main [name="given_name"]').fill('Ida');
      await andLoad(page, () => page.locator('main form.form button.primary').click());
      const summary = page.locator('.error-summary');
      expect(await summary.locator('a').allTextContents()).toEqual(['Last name', 'Email', 'Password']);
      // Playwright's own scripts run without those of the page.
      expect(await page.evaluate(() => document.activeElement?.className)).toBe('form-errors');
      await summary.getByRole('link', { name: 'Email' }).press('Enter');
      expect(await page.evaluate(() => location.hash)).toBe('#field-email');
      await page.locator('main [name="family_name"]').fill('Núñez');
      await page.locator('main [name="email"]').fill('ida@example.com');
      await andLoad(page, () => page.locator('main form.form button.primary').click());
      // One error has the focus in its own field.
      expect(await summary.count()).toBe(0);
      expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('password');
    },
  );
});

import type { Page } from 'playwright-core';
import { chromiumForTests } from '../support/chromium.ts';
import { password, startFoyer, type TestFoyer } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';
import { andLoad } from './steps.ts';

describe('what was typed, in another language', () => {
  const { newPage } = chromiumForTests({ profilesStay: true });
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
  });
  afterAll(() => foyer?.close());

  const speakDutch = (page: Page) => andLoad(page, () => page.getByRole('button', { name: 'Nederlands' }).click());
  const input = (page: Page, name: string) => page.locator(`main [name="${name}"]:not([type="hidden"])`);
  const langOf = (page: Page) => page.locator('html').getAttribute('lang');

  it('The address of the link stays in the field in another language, and leads to the sign-in with it', async () => {
    const page = await newPage({ javaScript: false });
    await page.goto(`${foyer.url}/signup?email=ida%40example.com`);
    await speakDutch(page);
    expect(await input(page, 'email').inputValue()).toBe('ida@example.com');
    await andLoad(page, () => page.locator('.panel-ways a').last().click());
    expect(await input(page, 'username').inputValue()).toBe('ida@example.com');
  });

  it.each([true, false])(
    'Names and address of the sign-up stay, the password does not: scripts %s',
    async (javaScript) => {
      const page = await newPage({ javaScript });
      await page.goto(`${foyer.url}/signup`);
      await input(page, 'given_name').fill('Ida');
      await input(page, 'family_name').fill('Núñez & Søn');
      await input(page, 'email').fill('not an address');
      await input(page, 'password').fill('a typed secret 9');
      await speakDutch(page);
      expect([await langOf(page), new URL(page.url()).pathname]).toEqual(['nl', '/signup']);
      expect(await input(page, 'given_name').inputValue()).toBe('Ida');
      expect(await input(page, 'family_name').inputValue()).toBe('Núñez & Søn');
      expect(await input(page, 'email').inputValue()).toBe('not an address');
      expect(await input(page, 'password').inputValue()).toBe('');
      expect(await page.locator('[aria-invalid="true"]').count()).toBe(0);
    },
  );

  it.each([true, false])(
    'Address and choice of the sign-in stay, and Enter still signs in: scripts %s',
    async (javaScript) => {
      const user = await foyer.addUser();
      const page = await newPage({ javaScript });
      await page.goto(`${foyer.url}/`);
      await input(page, 'username').fill(user.email);
      await input(page, 'remember').check();
      await input(page, 'password').fill('a typed secret 9');
      await speakDutch(page);
      expect(await input(page, 'username').inputValue()).toBe(user.email);
      expect(await input(page, 'remember').isChecked()).toBe(true);
      expect(await input(page, 'password').inputValue()).toBe('');
      await input(page, 'password').fill(password);
      await andLoad(page, () => input(page, 'password').press('Enter'));
      expect(new URL(page.url()).pathname).not.toBe('/language');
      await page.goto(`${foyer.url}/settings/name`);
      expect(new URL(page.url()).pathname).toBe('/settings/name');
    },
  );

  it.each([true, false])(
    'A name in the settings stays, in another language and after a sign-out elsewhere: scripts %s',
    async (javaScript) => {
      const user = await foyer.addUser();
      const page = await newPage({ javaScript });
      await page.goto(`${foyer.url}/?redirect=/settings/name`);
      await input(page, 'username').fill(user.email);
      await input(page, 'password').fill(password);
      await andLoad(page, () => input(page, 'password').press('Enter'));
      await input(page, 'given_name').fill('Verena');
      await speakDutch(page);
      expect(await input(page, 'given_name').inputValue()).toBe('Verena');
      await (await foyer.signedIn(user)).post('/settings/devices/sign-out-others');
      await andLoad(page, () => input(page, 'given_name').press('Enter'));
      await input(page, 'username').fill(user.email);
      await input(page, 'password').fill(password);
      await andLoad(page, () => input(page, 'password').press('Enter'));
      expect(new URL(page.url()).pathname).toBe('/settings/name');
      expect(await input(page, 'given_name').inputValue()).toBe('Verena');
    },
  );
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

import type { Page } from 'playwright-core';
import { chromiumForTests } from '../support/chromium.ts';
import { anyBackend } from '../support/stores.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';
import { andLoad, goOnAs } from './steps.ts';

describe.each([true, false])('Another language keeps the input of a form; JavaScript %s', (javaScript) => {
  const { newPage } = chromiumForTests();
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await startSandbox(anyBackend);
  });
  afterAll(() => sandbox?.close());

  const toGerman = (page: Page) => andLoad(page, () => page.getByRole('button', { name: 'Deutsch' }).click());
  async function atSettings(path: string): Promise<Page> {
    const page = await newPage({ javaScript });
    const { foyer } = sandbox;
    await goOnAs(page, await foyer.signedIn(await foyer.addUser()), foyer.url);
    await page.goto(foyer.url + path);
    return page;
  }

  it('The name of a new passkey stays, and no passkey is created', async () => {
    const page = await atSettings('/settings/passkeys/add');
    await page.locator('[name=name]').fill('Key of the workshop');
    await page.locator('[name=endOthers]').uncheck();
    await toGerman(page);
    expect(await page.locator('html').getAttribute('lang')).toBe('de');
    expect(await page.locator('[name=name]').inputValue()).toBe('Key of the workshop');
    expect(await page.locator('[name=endOthers]').isChecked()).toBe(false);
  });

  it('The choice of a second factor stays', async () => {
    const page = await atSettings('/settings/mfa');
    await page.locator('[name=enabled]').check({ force: true });
    await page.locator('[name=endOthers]').uncheck({ force: true });
    await toGerman(page);
    expect(await page.locator('html').getAttribute('lang')).toBe('de');
    expect(await page.locator('[name=enabled]').isChecked()).toBe(true);
    expect(await page.locator('[name=endOthers]').isChecked()).toBe(false);
  });

  it('A sign-up with a password that breaks a rule changes the language, and keeps everything but the password', async () => {
    const page = await newPage({ javaScript });
    await page.goto(`${sandbox.foyer.url}/signup`);
    await page.getByLabel('First name').fill('Vera');
    await page.getByLabel('Password', { exact: true }).fill('short');
    await toGerman(page);
    expect(await page.locator('html').getAttribute('lang')).toBe('de');
    expect(await page.getByLabel('Vorname').inputValue()).toBe('Vera');
    expect(await page.getByLabel('Passwort', { exact: true }).inputValue()).toBe('');
  });
});

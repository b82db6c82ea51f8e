import type { Page } from 'playwright-core';
import { axeFindings, chromiumForTests } from '../support/chromium.ts';
import { device } from '../support/devices.ts';
import { anyBackend } from '../support/stores.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';
import { andLoad, goOnAs } from './steps.ts';

describe('the field for the code of a device', () => {
  const { newPage } = chromiumForTests();
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await startSandbox(anyBackend);
  });
  afterAll(() => sandbox?.close());

  const field = (page: Page) => page.getByLabel('Code', { exact: true });
  async function open(javaScript = true): Promise<Page> {
    const page = await newPage({ javaScript });
    const { foyer } = sandbox;
    await goOnAs(page, await foyer.signedIn(await foyer.addUser()), foyer.url);
    await page.goto(`${foyer.url}/device`);
    return page;
  }
  const paste = (page: Page, text: string) =>
    page.evaluate((pasted) => document.execCommand('insertText', false, pasted), text);

  it('It has the focus, shows capitals and the dash however the code is typed, and keeps the caret', async () => {
    const page = await open();
    expect(await field(page).evaluate((input) => input === document.activeElement)).toBe(true);
    await page.keyboard.type('bcdf');
    expect(await field(page).inputValue()).toBe('BCDF');
    await page.keyboard.type(' ghjkl9');
    expect(await field(page).inputValue()).toBe('BCDF-GHJK');
    await field(page).evaluate((input: HTMLInputElement) => input.setSelectionRange(1, 2));
    await page.keyboard.type('x');
    expect(await field(page).inputValue()).toBe('BXDF-GHJK');
    expect(await field(page).evaluate((input: HTMLInputElement) => input.selectionStart)).toBe(2);
    for (let at = 0; at < 9; at += 1) await page.keyboard.press('End').then(() => page.keyboard.press('Backspace'));
    expect(await field(page).inputValue()).toBe('');
    expect(await axeFindings(page)).toEqual([]);
  });

  it.each(['bcdfghjk', 'BCDF-GHJK', ' bcdf ghjk\t', 'BCDF–GHJK'])('A pasted %j is one code', async (text) => {
    const page = await open();
    await paste(page, text);
    expect(await field(page).inputValue()).toBe('BCDF-GHJK');
  });

  it('Each character is in a cell of its own at 320 px, and nothing scrolls sideways', async () => {
    const page = await open();
    await page.setViewportSize({ width: 320, height: 568 });
    await paste(page, 'wwwwwwww');
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
    const [frame, input] = await Promise.all([page.locator('.device-frame').boundingBox(), field(page).boundingBox()]);
    // The tenth cell is for the caret alone.
    expect((input?.width ?? 0) / ((frame?.width ?? 0) - 2)).toBeCloseTo(10 / 9, 1);
    expect(await field(page).evaluate((element) => element.scrollLeft)).toBe(0);
  });

  it.each([true, false])(
    'A code in lower case leads to the page that names the app and shows the code again; JavaScript %s',
    async (javaScript) => {
      const radio = await device(sandbox.foyer, { name: 'Harbour Radio' });
      const { user_code: code } = await radio.ask();
      const page = await open(javaScript);
      await page.getByText('No one sent you the code.').waitFor();
      await field(page).fill(code.toLowerCase().replace('-', ''));
      await andLoad(page, () => page.getByRole('button', { name: 'Continue' }).click());
      await page.getByRole('heading', { level: 1, name: 'Sign in to Harbour Radio on your device?' }).waitFor();
      const shown = page.locator('.device-code');
      expect(await shown.textContent()).toBe(code);
      expect(await shown.evaluate((element) => getComputedStyle(element).fontSize)).toBe('32px');
    },
  );
});

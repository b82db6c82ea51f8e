import type { Page } from 'playwright-core';
import { chromiumForTests } from '../support/chromium.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';
import { goOnAs } from './steps.ts';

/** What distinguishes a control when the system has taken its colors away. */
const lookOf = (page: Page, selector: string) =>
  page
    .locator(selector)
    .filter({ visible: true })
    .first()
    .evaluate((element) => {
      const { backgroundColor, color, borderBottomColor, borderInlineStartWidth } = getComputedStyle(element);
      return { backgroundColor, color, borderBottomColor, borderInlineStartWidth };
    });

describe('forced colors', () => {
  const { newPage } = chromiumForTests({ profilesStay: true });
  let foyer: TestFoyer;
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
  });
  afterAll(() => foyer?.close());

  const newForced = async (colorScheme: 'light' | 'dark') => {
    const page = await newPage({ colorScheme });
    await page.emulateMedia({ forcedColors: 'active', colorScheme });
    return page;
  };

  describe.each(['light', 'dark'] as const)('%s', (scheme) => {
    it('The main button of the sign-in is filled, the others are not', async () => {
      const page = await newForced(scheme);
      await page.goto(foyer.url);
      const main = await lookOf(page, '#sign-in .button.primary');
      const other = await lookOf(page, '.button.quiet, .button.link');
      expect(main.backgroundColor).not.toBe(other.backgroundColor);
      expect(main.color).not.toBe(main.backgroundColor);
    });

    it('The current tab and menu item of the settings differ from the others by more than a hue', async () => {
      const page = await newForced(scheme);
      await goOnAs(page, await foyer.signedIn(await foyer.addUser()), foyer.url);
      await page.goto(`${foyer.url}/settings`);
      const current = await lookOf(page, '.tabs a:is([aria-current], [aria-selected=true])');
      const other = await lookOf(page, '.tabs a:not([aria-current], [aria-selected=true])');
      const canvas = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      expect(other.borderBottomColor).toBe(canvas);
      expect(current.borderBottomColor).not.toBe(canvas);
      const item = await lookOf(page, '.side-menu a[aria-current]');
      expect([
        item.borderInlineStartWidth,
        (await lookOf(page, '.side-menu a:not([aria-current])')).borderInlineStartWidth,
      ]).toEqual(['3px', '0px']);
    });
  });
});

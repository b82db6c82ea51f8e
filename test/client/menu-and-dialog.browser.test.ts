import type { Page } from 'playwright-core';
import { focused, visitsForTests } from './visit.ts';

describe('menu and dialog', () => {
  const { newPage, at, open } = visitsForTests();

  describe('the profile menu', () => {
    const isOpen = (page: Page) => page.locator('details').evaluate((menu) => (menu as HTMLDetailsElement).open);
    const becomes = (page: Page, open: boolean) =>
      page.locator(open ? 'details[open]' : 'details:not([open])').waitFor();

    it('The profile menu opens on hover, stays on a click, and closes on the next click and when the mouse leaves', async () => {
      const page = await open('profile menu');
      await page.locator('summary').hover();
      await becomes(page, true);
      await page.locator('summary').click();
      expect(await isOpen(page)).toBe(true);
      await page.locator('summary').click();
      await becomes(page, false);
      await page.mouse.move(600, 700);
      await page.locator('summary').hover();
      await becomes(page, true);
      // Over the gap into the list, which does not close it.
      await page.getByRole('link', { name: 'Wallet' }).hover();
      await page.waitForTimeout(500);
      expect(await isOpen(page)).toBe(true);
      await page.mouse.move(600, 700);
      await becomes(page, false);
    });

    it('The profile menu opens at the first tap and closes at a tap elsewhere', async () => {
      const phone = await newPage({ touch: true, widthPx: 375 });
      await phone.goto(at('profile menu'));
      await phone.locator('summary').tap();
      await becomes(phone, true);
      await phone.waitForLoadState('networkidle');
      expect(await isOpen(phone)).toBe(true);
      await phone.getByRole('button', { name: 'Elsewhere' }).tap({ force: true });
      await becomes(phone, false);
    });

    it('The profile menu works by keyboard: arrows open and cycle, Escape returns the focus, Tab leaves', async () => {
      const page = await open('profile menu');
      await page.keyboard.press('Tab');
      await page.waitForLoadState('networkidle');
      await page.keyboard.press('ArrowDown');
      await becomes(page, true);
      expect(await focused(page)).toBe('Dashboard');
      await page.keyboard.press('ArrowDown');
      expect(await focused(page)).toBe('Search');
      await page.keyboard.press('ArrowUp');
      await page.keyboard.press('ArrowUp');
      expect(await focused(page)).toBe('Sign out');
      await page.keyboard.press('Home');
      expect(await focused(page)).toBe('Dashboard');
      await page.keyboard.press('End');
      expect(await focused(page)).toBe('Sign out');
      await page.keyboard.press('Escape');
      expect(await isOpen(page)).toBe(false);
      expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('SUMMARY');
      await page.keyboard.press('Enter');
      await becomes(page, true);
      await page.keyboard.press('Shift+Tab');
      await page.keyboard.press('Tab');
      await page.keyboard.press('ArrowUp');
      expect(await focused(page)).toBe('Sign out');
      await page.keyboard.press('Tab');
      await becomes(page, false);
      expect(await focused(page)).toBe('Elsewhere');
    });
  });

  describe('the dialog', () => {
    const dialog = (page: Page) => page.getByRole('dialog', { name: 'Edit your name' });

    it('The dialog opens at the first click, traps the focus, and returns it on Escape, button and Cancel', async () => {
      const page = await open('dialog');
      const link = page.getByRole('link', { name: 'Edit name' });
      const closings = [
        () => page.keyboard.press('Escape'),
        () => page.getByRole('button', { name: 'Close' }).click(),
        () => page.getByRole('link', { name: 'Cancel' }).click(),
      ];
      for (const close of closings) {
        await link.click();
        await dialog(page).waitFor();
        expect(await page.getByLabel('Given name').evaluate((input) => input === document.activeElement)).toBe(true);
        for (let presses = 0; presses < 8; presses += 1) {
          await page.keyboard.press('Tab');
          // Between the last and the first control the focus is the browser's own, nowhere on the page.
          const inside = await page.evaluate(
            () => document.activeElement === document.body || document.activeElement?.closest('dialog') !== null,
          );
          expect(inside).toBe(true);
        }
        await close();
        await dialog(page).waitFor({ state: 'detached' });
        expect(await link.evaluate((element) => element === document.activeElement)).toBe(true);
      }
    });

    it('The link opens a page when there is no dialog, and a click with a modifier key opens a tab', async () => {
      const page = await open('dialog that has gone');
      await page.getByRole('link').click();
      await page.getByText('A page without a dialog').waitFor();
      await page.goto(at('dialog'));
      const [tab] = await Promise.all([
        page.context().waitForEvent('page'),
        page.getByRole('link', { name: 'Edit name' }).click({ modifiers: ['ControlOrMeta'] }),
      ]);
      await tab.waitForURL(/edit-name/);
      expect(await dialog(page).count()).toBe(0);
    });
  });
});

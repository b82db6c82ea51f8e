import type { Page } from 'playwright-core';
import type { TestFoyer } from '../support/foyer.ts';
import { imported } from '../support/imported.ts';
import type { Stop } from './tour.ts';

/** Whoever came from another service without a password sets a first one. */
export const importedStops = ({ foyer }: { foyer: () => TestFoyer }): Stop[] => [
  {
    name: 'reset password, the first one',
    async open(page: Page) {
      const { email } = await imported(foyer());
      await page.goto(foyer().url);
      await page.locator('input[name=username]').fill(email);
      await page.locator('input[name=password]').fill('as it was there 5');
      await page.locator('form[action^="/sign-in"] button[type=submit]').first().click();
      await page.waitForURL('**/reset-password?**');
    },
  },
];

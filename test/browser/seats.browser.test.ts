import type { Page } from 'playwright-core';
import { openShop, type Shop } from '../billing/checkout/shop.ts';
import { plansWithSeats } from '../billing/seats-steps.ts';
import { axeFindings, chromiumForTests } from '../support/chromium.ts';
import { andLoad, goOnAs } from './steps.ts';

describe('a plan that is sold by the seat in a browser', () => {
  const { newPage, takeFaults } = chromiumForTests({ profilesStay: true });
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop({ PLANS_FILE: plansWithSeats() });
  });
  afterAll(() => shop?.close());

  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
  const seats = (page: Page) => page.getByLabel('Seats', { exact: true });

  it.each([true, false])(
    'A member buys five seats, adds three at once and gives two back for later (JavaScript: %s)',
    async (javaScript) => {
      const user = await shop.foyer.addUser();
      await shop.saveCard(user);
      const page = await newPage({ javaScript, widthPx: javaScript ? 1366 : 375 });
      await goOnAs(page, await shop.foyer.signedIn(user), shop.foyer.url);
      await page.goto(`${shop.foyer.url}/plan-purchase/10`);
      await button(page, 'Pay $99.00').waitFor();
      if (javaScript) expect(await axeFindings(page)).toEqual([]);

      await seats(page).fill('51');
      await button(page, 'Update').click();
      await page.getByText('Enter a whole number from 1 to 50.').waitFor();
      expect(await seats(page).inputValue()).toBe('51');
      if (javaScript) {
        expect(await axeFindings(page)).toEqual([]);
        // The refused form.
        takeFaults();
      }
      await seats(page).fill('5');
      await button(page, 'Update').click();
      await andLoad(page, () => button(page, 'Pay $495.00').click());

      await page.goto(`${shop.foyer.url}/settings/membership`);
      await page.getByText('Starter, monthly, 5 seats').first().waitFor();
      await page.getByRole('link', { name: 'Change seats' }).click();
      await seats(page).fill('8');
      await button(page, 'Show the amount').click();
      await page.waitForURL(/\/plan-purchase\/10$/);
      // The whole period is left: three more for all of it.
      await andLoad(page, () => button(page, 'Pay $297.00').click());

      await page.goto(`${shop.foyer.url}/settings/membership/seats`);
      await seats(page).fill('6');
      await button(page, 'Show the amount').click();
      await page.waitForURL(/\/plan-purchase\/10$/);
      await andLoad(page, () => button(page, /^Pay \$594\.00 a month from/).click());
      await page.goto(`${shop.foyer.url}/settings/membership`);
      await page
        .getByText(/After that you have Starter, monthly, 6 seats/)
        .first()
        .waitFor();
      await page.getByText('Starter, monthly, 8 seats').first().waitFor();
      if (javaScript) expect(await axeFindings(page)).toEqual([]);
      expect((await shop.foyer.app.membership.getMembership(user.id))?.seats).toBe(8);
    },
  );
});

import type { Page } from 'playwright-core';
import type { Shop } from '../billing/checkout/shop.ts';
import { andLoad } from './steps.ts';
import type { Stop } from './tour.ts';
import type { ShopTour } from './tour-membership.ts';

const path = '/plan-purchase/13/addPayment';

/** The pages on which cards are entered and banks ask. */
export function paymentStops({ shop, become }: ShopTour): Stop[] {
  async function visit(page: Page, at: string, card?: string): Promise<Shop> {
    const house = await shop();
    const user = await house.foyer.addUser({ givenName: 'Vera', familyName: 'Lindqvist' });
    await house.customerOf(user);
    if (card) await house.saveCard(user, card);
    await become(page, await house.foyer.signedIn(user), house.foyer.url);
    await page.goto(house.foyer.url + at);
    return house;
  }
  const pay = (page: Page) => page.locator('form.needs-script button').click();
  const ready = (page: Page) => page.locator('form.needs-script button:enabled').waitFor();
  return [
    {
      name: 'payment, another card',
      async open(page) {
        await visit(page, path, 'pm_card_visa');
        await page.locator('.fold > summary').click();
        await ready(page);
      },
    },
    {
      name: 'payment, a saved card',
      async open(page) {
        await visit(page, path, 'pm_card_visa');
        await page.locator('#field-number iframe, #field-number input').first().waitFor({ state: 'attached' });
      },
    },
    {
      name: 'payment, without scripts',
      async open(page) {
        // Axe is a script itself: so none of the page's own comes, and what is for them has no place, as without any.
        await page.route(/\.js$/, (route) => route.fulfill({ contentType: 'text/javascript', body: '' }));
        await page.route(/\/addPayment$/, async (route) => {
          const response = await route.fetch();
          const html = await response.text();
          await route.fulfill({ response, body: html.replaceAll(/class="[^"]*needs-script/g, 'hidden="" $&') });
        });
        await visit(page, path, 'pm_card_visa');
      },
    },
    {
      name: 'payment, nothing entered',
      async open(page) {
        await visit(page, path);
        await ready(page);
        await pay(page);
        await page.locator('.field-error').first().waitFor();
      },
    },
    {
      name: 'payment, the saved card is refused',
      async open(page) {
        await visit(page, path, 'pm_card_chargeCustomerFail');
        await andLoad(page, () => page.locator('main form:not(.needs-script) button').click());
        await page.locator('.notice.error').waitFor();
        await ready(page);
      },
    },
    {
      name: 'payment, the bank asks',
      async open(page) {
        await visit(page, path, 'pm_card_authenticationRequired');
        await page.locator('main form:not(.needs-script) button').click();
        await page.getByRole('dialog').frameLocator('iframe').getByRole('button', { name: 'Fail' }).waitFor();
      },
    },
    {
      name: 'payment, the bank was told no',
      async open(page) {
        await visit(page, path, 'pm_card_authenticationRequired');
        await page.locator('main form:not(.needs-script) button').click();
        await page.getByRole('dialog').frameLocator('iframe').getByRole('button', { name: 'Fail' }).click();
        await page.locator('.notice.error').waitFor();
      },
    },
    {
      name: 'payment, billing details are refused',
      async open(page) {
        await visit(page, '/plan-purchase/13/billingDetails');
        await page.locator('[name=country]').selectOption('DE');
        await page.locator('[name=vat_id]').fill('DE12');
        await andLoad(page, () => page.locator('main form button').click());
        await page.locator('.field-error').first().waitFor();
      },
    },
    {
      name: 'membership, change card',
      async open(page) {
        await visit(page, '/settings/membership/card', 'pm_card_visa');
        await ready(page);
      },
    },
  ];
}

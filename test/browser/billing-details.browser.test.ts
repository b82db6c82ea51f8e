import type { User } from '../../server/users/index.ts';
import { openShop, type Shop } from '../billing/checkout/shop.ts';
import { axeFindings, chromiumForTests } from '../support/chromium.ts';
import { plansWith } from '../support/plans.ts';
import { layoutFaults } from './layout.ts';
import { goOnAs } from './steps.ts';

describe('billing details in a browser', () => {
  const { newPage } = chromiumForTests({ profilesStay: true });
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop({ PLANS_FILE: plansWith({ consumers: { withdrawalDays: 14 } }) });
  });
  afterAll(() => shop?.close());

  const vatIds = async (user: User) => {
    const customer = await shop.customerOf(user);
    return (await shop.stripe.customers.listTaxIds(customer)).data.map(({ value }) => value);
  };

  it.each([true, false])('The checkout asks for them before the total, JavaScript %s', async (javaScript) => {
    const user = await shop.foyer.addUser({ givenName: 'Vera', familyName: 'Lindqvist' });
    const page = await newPage({ javaScript, widthPx: 375 });
    await goOnAs(page, await shop.foyer.signedIn(user), shop.foyer.url);
    await page.goto(`${shop.foyer.url}/plan-purchase/10`);
    expect(await page.getByText('Due today').count()).toBe(0);
    await page.locator('main a[href$="/billingDetails"]').first().click();
    await page.getByRole('heading', { level: 1, name: 'Billing details' }).waitFor();
    expect(await layoutFaults(page)).toEqual([]);
    if (javaScript) expect(await axeFindings(page)).toEqual([]);
    await page.getByLabel('Company').fill('Lindqvist GmbH');
    await page.getByLabel('Country').selectOption({ label: 'Germany' });
    await page.getByLabel('Postal code').fill('10115');
    await page.getByLabel('VAT ID').fill('DE12');
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('This isn’t a valid VAT ID of this country. Example: DE123456789.').waitFor();
    expect(await page.getByLabel('Company').inputValue()).toBe('Lindqvist GmbH');
    expect(await page.getByLabel('Country').inputValue()).toBe('DE');
    expect(await vatIds(user)).toEqual([]);
    await page.getByLabel('VAT ID').fill('DE123456789');
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('Due today').first().waitFor();
    expect(await vatIds(user)).toEqual(['DE123456789']);
  });

  it.each([true, false])('A member changes them in the settings, JavaScript %s', async (javaScript) => {
    const user = await shop.foyer.addUser({ givenName: 'Vera', familyName: 'Lindqvist' });
    await shop.customerOf(user);
    const page = await newPage({ javaScript });
    await goOnAs(page, await shop.foyer.signedIn(user), shop.foyer.url);
    await page.goto(`${shop.foyer.url}/settings/membership`);
    await page.locator('main a[href="/settings/membership/details"]').click();
    await page.getByLabel('Country').selectOption({ label: 'France' });
    await page.getByLabel('Postal code').fill('75001');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Your billing details have been saved.').waitFor();
    await page.getByText('75001, France').waitFor();
  });
});

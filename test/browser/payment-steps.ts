import type { Locator, Page, Request } from 'playwright-core';
import type { User } from '../../server/users/index.ts';

export const path = '/plan-purchase/10/addPayment';

/** A visitor of the payment page, with what they see of it. */
export interface Visit {
  page: Page;
  user: User;
  /** Everything that the browser has posted to Foyer. */
  posted: Request[];
  name: Locator;
  zip: Locator;
  number: Locator;
  expiry: Locator;
  cvc: Locator;
  save: Locator;
}

/** The payment page of a signed-in user. @param url of Foyer */
export async function openPayment(page: Page, user: User, url: string): Promise<Visit> {
  const posted: Request[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().startsWith(url)) posted.push(request);
  });
  await page.goto(url + path);
  const field = (name: string) => page.locator(`#field-${name}`);
  return {
    page,
    user,
    posted,
    name: field('name'),
    zip: field('zip'),
    number: field('number').locator('input'),
    expiry: field('expiry').locator('input'),
    cvc: field('cvc').locator('input'),
    save: page.locator('form.needs-script button'),
  };
}

/** Types as a member does, and presses Save. */
export async function enter({ number, expiry, cvc, name, zip, save }: Visit, card: string): Promise<void> {
  await name.fill('Vera Lindqvist');
  await number.fill(card);
  await expiry.fill('12 / 34');
  await cvc.fill('123');
  await zip.fill('10115');
  await save.click();
}

/** The page of the bank. */
export const bank = ({ page }: Visit) => page.getByRole('dialog').frameLocator('iframe');

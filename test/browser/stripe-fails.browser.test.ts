import type { Page } from 'playwright-core';
import { openShop, type Shop } from '../billing/checkout/shop.ts';
import { chromiumForTests } from '../support/chromium.ts';
import { listenOnFreePort } from '../support/foyer.ts';
import { goOnAs } from './steps.ts';

describe('a purchase in a browser while Stripe fails', () => {
  const { newPage, takeFaults } = chromiumForTests({ profilesStay: true });
  let shop: Shop;
  let close: () => void;
  let [fails, refused] = [false, 0];
  beforeAll(async () => {
    const { server, port } = await listenOnFreePort();
    // Between Foyer and Stripe: while it fails, each request is answered 503.
    server.on('request', (req, res) => {
      if (!fails) return shop.standIn.listener(req, res, () => res.writeHead(404).end());
      refused += 1;
      const error = { type: 'api_error', message: 'An unknown error occurred' };
      res.writeHead(503, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
    });
    close = () => {
      server.closeAllConnections();
      server.close();
    };
    shop = await openShop({ STRIPE_API_URL: `http://127.0.0.1:${port}` });
    await shop.promotion('COMEBACK10', { percent_off: 10, duration: 'once' });
  });
  afterAll(async () => {
    await shop?.close();
    close?.();
  });

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  /** An act during which each request to Stripe is answered 503: the page has no button to pay, and says what to do. */
  async function failing(page: Page, act: () => Promise<void>): Promise<void> {
    [fails, refused] = [true, 0];
    await act();
    const alert = page.getByRole('alert');
    await alert.getByText('You haven’t been charged. Please try again in a moment.').waitFor();
    fails = false;
    expect(refused).toBeGreaterThan(0);
    expect(await page.getByRole('button', { name: /^Pay/ }).count()).toBe(0);
    expect(await page.getByText('Try again', { exact: true }).count()).toBe(1);
    expect(takeFaults().join()).toMatch(/^answered 503: [^,]*$/);
  }

  it.each([true, false])(
    'The page says what to do, the typed code stays, and the second try buys once (JavaScript: %s)',
    async (javaScript) => {
      const user = await shop.foyer.addUser();
      await shop.saveCard(user);
      const paid = async () => (await shop.paidInvoices()).map(({ amount_paid: cents }) => cents);
      const before = await paid();
      const page = await newPage({ javaScript });
      await goOnAs(page, await shop.foyer.signedIn(user), shop.foyer.url);
      await page.goto(`${shop.foyer.url}/plan-purchase/10`);
      await page.getByText('Have a code?').click();
      await page.getByLabel('Promo code').fill('COMEBACK10');
      await failing(page, () => button(page, 'Apply').click());
      expect(await page.getByLabel('Promo code').inputValue()).toBe('COMEBACK10');
      await button(page, 'Apply').click();
      await page.getByText('−$9.90').waitFor();
      await failing(page, () => button(page, 'Pay $89.10').click());
      await page.getByText('Promo code COMEBACK10').waitFor();
      expect(await paid()).toEqual(before);
      await page.getByText('Try again', { exact: true }).click();
      await button(page, 'Pay $89.10').click();
      await page.waitForURL(/\/signup\/completed\/m-99$|\/sandbox\/search/);
      expect(await paid()).toEqual([8_910, ...before]);
      expect(await shop.planOf(user)).toBe('10');
      // What was written down for the first try is not charged by the minute job either.
      await shop.foyer.app.membership.work();
      expect(await paid()).toEqual([8_910, ...before]);
    },
  );
});

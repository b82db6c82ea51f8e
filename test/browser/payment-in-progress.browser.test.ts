import { openProxiedShop, type ProxiedShop } from '../billing/checkout/shop.ts';
import { chromiumForTests } from '../support/chromium.ts';
import { layoutFaults } from './layout.ts';
import { goOnAs } from './steps.ts';

describe('a payment that takes longer than its request', () => {
  const { newPage } = chromiumForTests();
  let shop: ProxiedShop;
  beforeAll(async () => {
    shop = await openProxiedShop();
  });
  afterAll(() => shop?.close());

  it('Without JavaScript, the page that follows the payment leads to its result by itself', async () => {
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    const page = await newPage({ javaScript: false, widthPx: 375 });
    await goOnAs(page, await shop.foyer.signedIn(user), shop.foyer.url);
    await page.goto(`${shop.foyer.url}/plan-purchase/12`);
    shop.proxy.delay(8_000);
    await page.getByRole('button', { name: 'Pay $499.00' }).click();
    await page.getByRole('heading', { name: 'Your payment is being completed' }).waitFor();
    expect(await page.getByRole('button', { name: /Pay/ }).count()).toBe(0);
    expect(await layoutFaults(page)).toEqual([]);
    shop.proxy.delay(0);
    await page.waitForURL(/\/signup\/completed\/m-499$/);
    await page.getByText('Payment received.').waitFor();
    expect((await shop.paidInvoices()).map(({ amount_paid: cents }) => cents)).toEqual([49_900]);
  }, 120_000);
});

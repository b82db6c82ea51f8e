import type { Page } from 'playwright-core';
import { openShop, type Shop } from '../billing/checkout/shop.ts';
import { begin, codeFor, newAddress, newPassword } from '../sign-up/steps.ts';
import { locationOf } from '../support/browser.ts';
import { axeFindings, chromiumForTests } from '../support/chromium.ts';
import { layoutFaults } from './layout.ts';
import { andLoad, fillProfile, goOnAs, sendCode } from './steps.ts';

describe('the step PLAN in a browser', () => {
  const { newPage, takeFaults } = chromiumForTests({ profilesStay: true });
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop();
  });
  afterAll(() => shop?.close());

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

  it.each([true, false])(
    'A user signs up, chooses a free plan and reaches the search app (JavaScript: %s)',
    async (javaScript) => {
      const [page, email] = [await newPage({ javaScript, widthPx: 390 }), newAddress()];
      if (javaScript) {
        // The forms alone: purchase.browser.test.ts goes through their pages.
        const browser = shop.foyer.browser();
        const code = await begin(shop.foyer, browser, email);
        const confirmed = await browser.post('/signup/emailCaptured', { code });
        await goOnAs(page, browser, shop.foyer.url);
        await page.goto(locationOf(confirmed));
      } else {
        await page.goto(`${shop.foyer.url}/signup`);
        await fillProfile(page, { email, password: newPassword });
        await page.getByLabel('Security code').waitFor();
        await sendCode(page, await codeFor(shop.foyer, email));
      }
      await page.getByText('Successfully confirmed!').waitFor();
      await page.getByRole('link', { name: 'Continue with my free trial' }).waitFor();
      await page.getByRole('link', { name: 'Choose a plan' }).click();
      await page.getByRole('link', { name: 'Annual' }).click();
      await page.getByRole('radio', { name: /^Free/ }).check();
      await button(page, 'Next').click();
      await page.getByText('This plan is free.').waitFor();
      await button(page, 'Confirm').click();
      await page.getByRole('heading', { name: 'Just a moment...' }).waitFor();
      // By itself after two seconds; without scripts by its link.
      if (!javaScript) await page.getByRole('link', { name: 'Continue' }).click();
      await page.waitForURL(`${shop.foyer.url}/sandbox/search`);
    },
  );

  it.each([true, false])(
    'After the code one click goes on with the free trial, and no paid price was shown (JavaScript: %s)',
    async (javaScript) => {
      const page = await newPage({ javaScript, widthPx: 375 });
      const browser = shop.foyer.browser();
      const code = await begin(shop.foyer, browser, newAddress());
      const confirmed = await browser.post('/signup/emailCaptured', { code });
      await goOnAs(page, browser, shop.foyer.url);
      await page.goto(locationOf(confirmed));
      // A screen reader begins at the heading, and the title names the step. Browsers give the focus with the next frame,
      // which can be after the page has loaded (HTML, "flush autofocus candidates").
      await page.locator('h1:focus').waitFor();
      expect(await page.title()).toContain('step 3 of 3');
      expect(((await page.locator('main').textContent()) ?? '').match(/\$[\d,.]+/g)).toEqual(['$0.00']);
      if (javaScript) expect(await axeFindings(page)).toEqual([]);
      await page.getByRole('link', { name: 'Continue with my free trial' }).click();
      await page.waitForURL(`${shop.foyer.url}/sandbox/search`);
    },
  );

  it('The plans can be compared on every screen: columns, and on phones a list of the chosen one’s features; arrow keys choose', async () => {
    const user = await shop.foyer.addUser();
    await shop.customerOf(user);
    const page = await newPage({ widthPx: 1366 });
    await goOnAs(page, await shop.foyer.signedIn(user), shop.foyer.url);
    await page.goto(`${shop.foyer.url}/plan-purchase?type=2`);
    const cards = page.locator('.plan-card');
    const boxes = async () =>
      (await cards.all()).reduce<Promise<{ x: number; y: number }[]>>(
        async (all, card) => [...(await all), (await card.boundingBox()) ?? { x: -1, y: -1 }],
        Promise.resolve([]),
      );
    const wide = await boxes();
    expect(new Set(wide.map(({ y }) => y)).size).toBe(1);
    expect(new Set(wide.map(({ x }) => x)).size).toBe(4);
    await page.getByText('Priority support', { exact: true }).waitFor();
    await page.getByText('$75 a month, billed yearly').waitFor();
    await page.getByText('Save 24%', { exact: true }).waitFor();
    expect(await page.getByText('Most chosen').count()).toBe(1);
    expect(await axeFindings(page)).toEqual([]);
    await page.getByRole('radio', { name: /^Free/ }).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    expect(await page.getByRole('radio', { name: /^Growth/ }).isChecked()).toBe(true);
    await page.setViewportSize({ width: 768, height: 1024 });
    expect(await layoutFaults(page, 768)).toEqual([]);
    await page.setViewportSize({ width: 375, height: 667 });
    expect(new Set((await boxes()).map(({ x }) => x)).size).toBe(1);
    const ticked = async () => (await page.locator('.plan-card .ticks .icon').all()).map((one) => one.isVisible());
    const shown = async () => (await Promise.all(await ticked())).filter((isShown) => isShown).length;
    expect(await shown()).toBe(4);
    await page.locator('.plan-card', { hasText: 'Scale' }).click();
    expect(await shown()).toBe(6);
    for (const feature of ['Priority support', 'Team of ten', 'Profile in the directory', 'One showcase page']) {
      expect(await page.getByText(feature, { exact: true }).isVisible()).toBe(true);
    }
    await page.setViewportSize({ width: 320, height: 667 });
    expect(await layoutFaults(page)).toEqual([]);
    await page.setViewportSize({ width: 375, height: 667 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(375);
    expect(await axeFindings(page)).toEqual([]);
    await button(page, 'Next').click();
    await page.waitForURL(/\/plan-purchase\/15$/);
  });

  it('A promotion code is applied and removed without a reload, and a refusal is shown at its field', async () => {
    await shop.promotion('WELCOME20', { percent_off: 20, duration: 'once' });
    const user = await shop.foyer.addUser();
    await shop.saveCard(user);
    const page = await newPage();
    await goOnAs(page, await shop.foyer.signedIn(user), shop.foyer.url);
    await page.goto(`${shop.foyer.url}/plan-purchase/13`);
    await page.getByText('Due today').waitFor();
    expect(await axeFindings(page)).toEqual([]);
    let loads = 0;
    page.on('load', () => {
      loads += 1;
    });
    const promo = page.getByLabel('Promo code');
    const fold = page.getByText('Have a code?');
    expect(await promo.isVisible()).toBe(false);
    await fold.press('Enter');
    await promo.fill('nonsense');
    await promo.press('Enter');
    await page.getByText('Enter a valid promo code').waitFor();
    expect(await promo.inputValue()).toBe('nonsense');
    expect(await promo.evaluate((field) => field === document.activeElement)).toBe(true);
    // The answer says that it is a refusal.
    expect(takeFaults()).toEqual([`answered 400: ${shop.foyer.url}/plan-purchase/13`]);
    expect(await axeFindings(page)).toEqual([]);
    await promo.fill('welcome20');
    await button(page, 'Apply').click();
    await page.getByText('Coupon applied').waitFor();
    await page.getByText('$4,000.00', { exact: true }).waitFor();
    await button(page, 'Remove WELCOME20').click();
    await fold.and(page.locator(':focus')).press('Enter');
    await promo.fill('WELCOME20');
    await button(page, 'Apply').click();
    await page.getByText('$4,000.00', { exact: true }).waitFor();
    expect(loads).toBe(0);
    await andLoad(page, () => button(page, 'Pay $4,000.00').click());
    await page.waitForURL(`${shop.foyer.url}/sandbox/search`);
    expect((await shop.paidInvoices())[0]?.amount_paid).toBe(400_000);
  });
});

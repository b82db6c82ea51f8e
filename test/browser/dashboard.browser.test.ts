import type { Page } from 'playwright-core';
import { openShop, type Shop } from '../billing/checkout/shop.ts';
import { chromiumForTests, heightPx } from '../support/chromium.ts';
import { toClientId, toPlanId } from '../support/ids.ts';

const picture = (width: number) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48" width="${width}" height="48"><circle cx="24" cy="24" r="6"/></svg>`;

describe('the dashboard in a browser', () => {
  const chromium = chromiumForTests({ profilesStay: true });
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop();
    const { foyer } = shop;
    for (let at = 1; at <= 12; at += 1) {
      await foyer.addClient({
        id: `app-${at}`,
        name: `App ${at}`,
        logbackUri: `${foyer.url}/imprint?app=${at}`,
        ...(at === 1 && { logo: `${foyer.url}/loads.svg` }),
        ...(at === 2 && { logo: `${foyer.url}/does-not-load.svg` }),
        ...(at === 3 && { requiredPlans: ['1'] }),
      });
    }
  });
  afterAll(() => shop?.close());

  async function open(javaScript: boolean): Promise<Page> {
    const { foyer } = shop;
    const page = await chromium.newPage({ javaScript });
    const browser = await foyer.signedIn(await foyer.addUser({ planId: toPlanId('10') }));
    const cookies = await browser.jar.getCookies(foyer.url);
    await page
      .context()
      .addCookies(cookies.map(({ key, value }) => ({ name: key, value, domain: 'localhost', path: '/' })));
    await page.route(/\/loads\.svg/, (route) => route.fulfill({ contentType: 'image/svg+xml', body: picture(48) }));
    // An answer that is no picture: nothing that the log of the test calls a fault.
    await page.route(/\/does-not-load\.svg/, (route) => route.fulfill({ contentType: 'image/svg+xml', body: 'no' }));
    await page.goto(`${foyer.url}/dashboard`);
    return page;
  }
  const tile = (page: Page, name: string) => page.locator('.app-tile', { has: page.getByText(name, { exact: true }) });

  it('The grid has one column per 350 px of the window, at least one, without scripts', async () => {
    const page = await open(false);
    for (const width of [320, 350, 699, 700, 1049, 1050, 1366, 1399, 1400, 1750, 2100, 2449, 2450, 2800, 3840]) {
      await page.setViewportSize({ width, height: heightPx });
      const columns = await page
        .locator('.app-tiles')
        .evaluate((list) => getComputedStyle(list).gridTemplateColumns.split(' ').length);
      expect([width, columns]).toEqual([width, Math.max(1, Math.floor(width / 350))]);
    }
  });

  it('Up to three columns begin where the other pages begin, beyond it the header is as wide as the tiles', async () => {
    const page = await open(false);
    const startsOf = () =>
      page.evaluate(() =>
        ['.header .brand', 'h1', '.app-tile'].map((one) => document.querySelector(one)?.getBoundingClientRect().left),
      );
    await page.setViewportSize({ width: 1366, height: heightPx });
    expect(await startsOf()).toEqual([155, 155, 155]);
    await page.setViewportSize({ width: 1400, height: heightPx });
    expect(await startsOf()).toEqual([40, 40, 40]);
  });

  it('At 1920 px header, second row and content begin at one line, and are as wide, on all pages of a member', async () => {
    const page = await open(false);
    await page.setViewportSize({ width: 1920, height: heightPx });
    for (const path of ['/settings', '/settings/membership']) {
      await page.goto(shop.foyer.url + path);
      const starts = await page.evaluate(() =>
        ['.header .brand', '.sub-header a', 'h1'].map(
          (one) => document.querySelector(one)?.getBoundingClientRect().left,
        ),
      );
      expect([path, ...starts]).toEqual([path, 432, 432, 432]);
      expect(await page.locator('main h1').evaluate((heading) => heading.getBoundingClientRect().right)).toBe(1488);
    }
  });

  it('A logo that does not load is replaced by the initial of the app, and only that one', async () => {
    const page = await open(true);
    const sign = (name: string) => tile(page, name).locator('.app-initial');
    await sign('App 1').waitFor({ state: 'detached' });
    expect(await sign('App 2').isVisible()).toBe(true);
    expect(await sign('App 4').isVisible()).toBe(true);
    const broken = tile(page, 'App 2').locator('img');
    // With a width and a height of its own the browser would draw its own sign.
    expect(await broken.evaluate((img: HTMLImageElement) => [img.naturalWidth, img.complete])).toEqual([0, true]);
  });

  it('The dashboard can be searched and its apps opened by keyboard alone, without scripts', async () => {
    const page = await open(false);
    await page.getByRole('searchbox').fill('APP 7');
    await page.keyboard.press('Enter');
    await page.getByRole('status').waitFor();
    expect(await page.locator('.app-name').allTextContents()).toEqual(['App 7']);
    await page.getByRole('link', { name: 'Open App 7' }).press('Enter');
    await page.waitForURL(`${shop.foyer.url}/imprint?app=7&iss=**`);
    await page.goBack();
    await page.getByRole('link', { name: 'Show all' }).click();
    await page.getByRole('link', { name: 'How to get it App 3' }).press('Enter');
    await page.getByRole('heading', { level: 1, name: 'App 3 isn’t in your plan' }).waitFor();
    await page.getByRole('link', { name: 'Choose Free, monthly' }).press('Enter');
    await page.waitForURL(`${shop.foyer.url}/plan-purchase/1?redirect=**`);
  });

  it('The middle of a tile opens its app, and typing filters the tiles without leaving the page', async () => {
    const page = await open(true);
    const names = () => page.locator('.app-tile:visible .app-name').allTextContents();
    const search = page.getByRole('searchbox');
    await search.fill('app 1');
    await page.waitForFunction(() => document.querySelectorAll('.app-tile[hidden]').length > 0);
    expect((await names()).every((name) => name.includes('1'))).toBe(true);
    expect(await page.getByRole('status').textContent()).toBe(`${(await names()).length} apps shown`);
    await search.fill('app 7');
    await page.waitForFunction(() => document.querySelectorAll('.app-tile:not([hidden])').length === 1);
    expect(new URL(page.url()).search).toBe('');
    const box = await tile(page, 'App 7').boundingBox();
    if (!box) throw new Error('no tile');
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
    await page.waitForURL(`${shop.foyer.url}/imprint?app=7&iss=**`);
  });

  it('A message that the apps could not be loaded is shown for three seconds', async () => {
    const { db } = shop.foyer.deps.database;
    const { metadata } = await db
      .selectFrom('clients')
      .select('metadata')
      .where('id', '=', toClientId('app-9'))
      .executeTakeFirstOrThrow();
    const write = (text: string) =>
      db.updateTable('clients').set({ metadata: text }).where('id', '=', toClientId('app-9')).execute();
    const page = await open(true);
    await write('{');
    try {
      await page.route(`${shop.foyer.url}/dashboard`, async (route) =>
        route.fulfill({ response: await route.fetch(), status: 200 }),
      );
      await page.reload();
      const notice = page.getByRole('alert');
      await notice.waitFor();
      expect(await notice.textContent()).toBe('An error has occurred');
      await notice.waitFor({ state: 'hidden', timeout: 8_000 });
      expect(await page.getByRole('link', { name: 'Try again' }).isVisible()).toBe(true);
    } finally {
      await write(metadata);
    }
  });
});

import type { Page } from 'playwright-core';
import { chromiumForTests } from '../support/chromium.ts';
import { password } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';
import { layoutFaults } from './layout.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';
import { fillProfile, goOnAs } from './steps.ts';
import { type FederatedHouse, openFederatedHouse } from './tour-federation.ts';

/** The smallest windows of common phones, with the browser's bars: width and height. */
const phones = [
  [320, 568],
  [375, 667],
  [390, 664],
  [393, 852],
] as const;

/** The top and bottom of the first element that is shown. */
const boxOf = async (page: Page, selector: string) => {
  const box = await page.locator(selector).locator('visible=true').first().boundingBox();
  if (!box) throw new Error(`no ${selector}`);
  return { ...box, bottom: box.y + box.height };
};

describe('phones', () => {
  const { newPage } = chromiumForTests();
  let house: FederatedHouse;
  let sandbox: Sandbox;
  beforeAll(async () => {
    [house, sandbox] = await Promise.all([openFederatedHouse(), startSandbox(anyBackend)]);
  });
  afterAll(() => Promise.all([house?.close(), sandbox?.close()]));

  it.each(phones)(
    'At %i × %i the sign-in page has its whole picture box and nothing to scroll sideways',
    async (width, height) => {
      const page = await newPage();
      await page.setViewportSize({ width, height });
      await page.goto(house.foyer.url);
      expect((await boxOf(page, '.auth-side')).height).toBeGreaterThanOrEqual(96);
      // The picture is cropped, never drawn small.
      expect((await boxOf(page, '.arches')).width).toBeGreaterThanOrEqual(220);
      expect(await layoutFaults(page, width)).toEqual([]);
      // Below 400 px the links are in the footer.
      const header = page.locator('.auth-top .public-nav');
      const footer = page.locator('.footer').getByRole('link', { name: 'Sign up' });
      expect([await header.isVisible(), await footer.isVisible()]).toEqual([false, true]);
    },
  );

  it.each([
    [390, 664],
    [393, 852],
  ])(
    'At %i × %i the providers share one row, and they and the button that signs in are in view',
    async (width, height) => {
      const page = await newPage();
      await page.setViewportSize({ width, height });
      await page.goto(house.foyer.url);
      const names = ['Continue with Amazon', 'Continue with Google', 'Continue with Facebook'];
      const rows = await Promise.all(
        names.map(async (name) => (await page.getByRole('button', { name, exact: true }).boundingBox())?.y),
      );
      expect(new Set(rows).size).toBe(1);
      expect((await boxOf(page, '#sign-in .button.primary')).bottom).toBeLessThanOrEqual(height);
    },
  );

  it('On a phone that lies on its side the focus leaves the heading and the first provider in view', async () => {
    const page = await newPage();
    await page.setViewportSize({ width: 844, height: 390 });
    await page.goto(house.foyer.url);
    expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('username');
    expect((await boxOf(page, 'h1')).y).toBeGreaterThanOrEqual(0);
    const first = await page.getByRole('button', { name: 'Continue with Amazon', exact: true }).boundingBox();
    expect(first?.y).toBeGreaterThanOrEqual(0);
    expect((first?.y ?? 0) + (first?.height ?? 0)).toBeLessThanOrEqual(390);
  });

  it('At 375 × 667 the button of the first step of the sign-up is in view', async () => {
    const page = await newPage();
    await page.setViewportSize({ width: 375, height: 667 });
    await page.goto(`${sandbox.foyer.url}/signup`);
    // Without the banner of the sandbox.
    const { height: banner } = await boxOf(page, '.ribbon');
    expect((await boxOf(page, '#sign-up .button.primary')).bottom - banner).toBeLessThanOrEqual(667);
    expect(await layoutFaults(page, 375)).toEqual([]);
  });

  it('The rows of the header and of the tabs begin at 16 px and fade out where they continue', async () => {
    const page = await newPage();
    const { foyer } = sandbox;
    await goOnAs(page, await foyer.signedIn(await foyer.addUser()), foyer.url);
    await page.goto(`${foyer.url}/settings`);
    for (const [row, item, width] of [
      ['.sub-header ul', '.sub-header li', 320],
      ['.tabs', '.tabs a', 375],
    ] as const) {
      await page.setViewportSize({ width, height: 667 });
      expect((await boxOf(page, item)).x).toBe(16);
      const mask = () => page.locator(row).evaluate((list) => getComputedStyle(list).maskPosition);
      expect(await mask()).toBe('-48px 50%');
      await page.locator(row).evaluate((list) => list.scrollTo(list.scrollWidth, 0));
      await page.waitForFunction((one) => {
        const list = document.querySelector(one);
        return list && getComputedStyle(list).maskPosition.startsWith('0');
      }, row);
    }
    // Where the rows fit they have no fade.
    await page.setViewportSize({ width: 760, height: 667 });
    await page.reload();
    for (const row of ['.sub-header ul', '.tabs']) {
      expect(await page.locator(row).evaluate((list) => getComputedStyle(list).maskImage)).toBe('none');
    }
  });

  it.each(['de', 'en'])('At 375 px all main pages of the second header row are in view, in %s', async (lang) => {
    const page = await newPage();
    await page.setViewportSize({ width: 375, height: 667 });
    const { foyer } = sandbox;
    await goOnAs(page, await foyer.signedIn(await foyer.addUser()), foyer.url);
    await page.context().addCookies([{ name: 'foyer_lang', value: lang, url: foyer.url }]);
    await page.goto(`${foyer.url}/settings`);
    expect(await page.getAttribute('html', 'lang')).toBe(lang);
    for (const link of await page.locator('.sub-header a').all()) {
      const { x = 375, width = 0 } = (await link.boundingBox()) ?? {};
      expect(x + width).toBeLessThanOrEqual(375);
    }
    const back = page.getByRole('link', { name: lang === 'de' ? 'Zurück' : 'Back', exact: true });
    expect((await back.boundingBox())?.width).toBeGreaterThanOrEqual(24);
  });

  it('At 375 × 667 the first setting of a member with a long name is above 420 px', async () => {
    const page = await newPage();
    await page.setViewportSize({ width: 375, height: 667 });
    const names = { givenName: 'Maximiliane-Wilhelmina', familyName: 'Oppenheimer-Castel' };
    const { foyer } = sandbox;
    await goOnAs(page, await foyer.signedIn(await foyer.addUser(names)), foyer.url);
    await page.goto(`${foyer.url}/settings`);
    // Without the banner of the sandbox.
    const { height: banner } = await boxOf(page, '.ribbon');
    expect((await boxOf(page, '.name-card a')).bottom - banner).toBeLessThan(420);
    expect((await boxOf(page, '#panel-sign-in .items')).y - banner).toBeLessThan(420);
    expect(await layoutFaults(page, 375)).toEqual([]);
  });

  it.each([320, 375])('At %i px an address of 60 characters breaks, and no page scrolls sideways', async (width) => {
    const { foyer } = sandbox;
    const address = (name: string) => `${name.padEnd(48, 'a')}@example.com`;
    const faults: string[] = [];
    const check = async (page: Page, path: string) => {
      expect([path, (await page.goto(`${foyer.url}${path}`))?.status()]).toEqual([path, 200]);
      const isWider = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
      if (isWider || (await layoutFaults(page, width)).length > 0) faults.push(path);
    };
    const newPhone = async () => {
      const page = await newPage();
      await page.setViewportSize({ width, height: 667 });
      return page;
    };
    const visitor = await newPhone();
    await visitor.goto(`${foyer.url}/signup`);
    await fillProfile(visitor, { email: address(`visitor${width}`), password });
    await visitor.getByRole('heading', { name: 'Enter security code' }).waitFor();
    for (const path of ['/signup/emailCaptured', '/signup']) await check(visitor, path);
    const member = await newPhone();
    const user = await foyer.addUser({ email: address(`member${width}`) });
    await goOnAs(member, await foyer.signedIn(user), foyer.url);
    const pages = ['/settings', '/settings/email', '/logout', '/verify-code', '/settings/delete-account'];
    for (const path of pages) await check(member, path);
    expect(faults).toEqual([]);
  });

  it('On a phone the menu of the settings opens without a script, and pages of one action have none', async () => {
    const page = await newPage({ javaScript: false });
    await page.setViewportSize({ width: 375, height: 667 });
    const { foyer } = sandbox;
    await goOnAs(page, await foyer.signedIn(await foyer.addUser()), foyer.url);
    await page.goto(`${foyer.url}/settings`);
    const link = page.locator('.side-menu').getByRole('link', { name: 'Notifications' });
    expect(await link.isVisible()).toBe(false);
    await page.locator('.side-menu summary').click();
    expect(await link.isVisible()).toBe(true);
    await page.goto(`${foyer.url}/settings/name`);
    expect(await page.locator('.side-menu').isVisible()).toBe(false);
    await page.setViewportSize({ width: 1366, height: 768 });
    expect(await page.locator('.side-menu').getByRole('link', { name: 'Notifications' }).isVisible()).toBe(true);
  });

  it('On a phone tabs and the second row of the header are one row each, with the present tab in view', async () => {
    const page = await newPage();
    await page.setViewportSize({ width: 375, height: 667 });
    const { foyer } = sandbox;
    await goOnAs(page, await foyer.signedIn(await foyer.addUser()), foyer.url);
    await page.goto(`${foyer.url}/settings?tab=user-data`);
    for (const row of ['.tabs a', '.sub-header a']) {
      const tops = await page
        .locator(row)
        .evaluateAll((links) => links.map((link) => link.getBoundingClientRect().top));
      expect([row, new Set(tops).size]).toEqual([row, 1]);
    }
    const current = await boxOf(page, '.tabs [aria-current]');
    expect(current.x + current.width).toBeLessThanOrEqual(375);
  });
});

import type { Page } from 'playwright-core';
import { chromiumForTests } from '../support/chromium.ts';
import { startFoyer, type TestFoyer } from '../support/foyer.ts';
import { anyBackend } from '../support/stores.ts';
import { compareLooks, parseLooks, writeLooks } from './baseline.ts';
import { columns, type Look, readLooks, toColumnName } from './looks.ts';

/** Each changes the page as a fault of a stylesheet or a template would. They run in the browser. */
const mutations: [string, (button: HTMLElement) => void][] = [
  ['a button that has moved by 8 px', (button) => button.style.setProperty('margin-top', '8px')],
  ['a button that lies 4 px beside its place', (button) => button.style.setProperty('transform', 'translateX(4px)')],
  ['a button that is 6 px lower', (button) => button.style.setProperty('min-height', `${button.offsetHeight + 6}px`)],
  ['a lost color', (button) => button.style.setProperty('background-color', 'transparent')],
  ['a lost color of the letters', (button) => button.style.setProperty('color', 'rgb(0, 0, 0)')],
  ['another font', (button) => button.style.setProperty('font-family', 'serif')],
  ['smaller letters', (button) => button.style.setProperty('font-size', '12px')],
  ['another corner', (button) => button.style.setProperty('border-radius', '0')],
  ['a button that is gone', (button) => button.remove()],
  ['a hidden button', (button) => button.style.setProperty('visibility', 'hidden')],
  ['a second button', (button) => button.after(button.cloneNode(true))],
];

describe('the comparison of looks', () => {
  const { newPage } = chromiumForTests();
  let foyer: TestFoyer;
  let page: Page;
  let known: Look[];
  beforeAll(async () => {
    foyer = await startFoyer(anyBackend);
  });
  beforeEach(async () => {
    page = await newPage();
    await page.goto(foyer.url);
    await page.evaluate(() => document.fonts.ready.then(() => undefined));
    known = await readLooks(page);
  });
  afterAll(() => foyer?.close());

  const mutate = (mutation: (button: HTMLElement) => void) => page.locator('#sign-in button.block').evaluate(mutation);

  it.each(mutations)('The comparison finds %s', async (_name, mutation) => {
    await mutate(mutation);
    expect(compareLooks(known, await readLooks(page)).length).toBeGreaterThan(0);
  });

  it('The comparison finds nothing on an equal page, one px beside it, or with another number', async () => {
    await page.reload();
    expect(compareLooks(known, await readLooks(page))).toEqual([]);
    await mutate((button) => button.style.setProperty('transform', 'translateX(1px)'));
    expect(compareLooks(known, await readLooks(page))).toEqual([]);
    await page.locator('h1').evaluate((heading) => {
      heading.textContent = 'Sent at 14:02 on May 3, 2026';
    });
    const before = await readLooks(page);
    await page.locator('h1').evaluate((heading) => {
      heading.textContent = 'Sent at 9:11 on November 21, 2027';
    });
    expect(compareLooks(before, await readLooks(page))).toEqual([]);
    expect(await page.locator('h1').textContent()).toContain('November 21');
  });

  it('A written baseline reads as what it was written from', async () => {
    const dark = known.map((look) => ({ ...look, style: `${look.style} dark` }));
    const looks = new Map<string, readonly Look[]>(
      columns.map((column) => [toColumnName(column), column.colorScheme === 'dark' ? dark : known]),
    );
    looks.set('375 de light', known.slice(1));
    const text = writeLooks(looks);
    expect(parseLooks(text)).toEqual(looks);
    expect(text.length).toBeLessThan(JSON.stringify([...looks]).length / 2);
  });
});

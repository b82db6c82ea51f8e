import { apiReferencePath } from '../../server/http/index.ts';
import { axeFindings, chromiumForTests, layOut } from '../support/chromium.ts';
import { anyBackend } from '../support/stores.ts';
import { layoutFaults } from './layout.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';

describe('the page of the JSON API in a browser', () => {
  const { newPage } = chromiumForTests();
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await startSandbox(anyBackend);
  });
  afterAll(() => sandbox?.close());

  it.each([true, false])(
    'A developer finds a call, its schema and a problem, and nothing comes from another origin; JavaScript %s',
    async (javaScript) => {
      const page = await newPage({ javaScript, locale: 'de' });
      const requested: string[] = [];
      page.on('request', (request) => requested.push(request.url()));
      await page.goto(`${sandbox.foyer.url}/sandbox/refusals`);
      await page.locator(`a[href="${apiReferencePath}"]`).click();
      await page.getByRole('heading', { level: 1, name: 'Foyer API' }).waitFor();
      const contents = page.getByRole('navigation', { name: 'Contents' });
      await contents.getByRole('link', { name: 'List the notifications of a member' }).click();
      const call = page.locator('#call-listMessages');
      await call.getByRole('link', { name: 'ListedNotification' }).click();
      expect(new URL(page.url()).hash).toBe('#schema-ListedNotification');
      await call.getByRole('link', { name: 'unknownMember' }).click();
      expect(await page.locator(':target').textContent()).toContain('the member may have been deleted');
      const origin = new URL(sandbox.foyer.url).origin;
      expect(requested.filter((url) => new URL(url).origin !== origin)).toEqual([]);
      expect(await page.locator('html').getAttribute('lang')).toBe('en');
    },
  );

  it.each([320, 375, 768, 1366])('The page fits into a window of %s px', async (width) => {
    const page = await newPage();
    await page.goto(sandbox.foyer.url + apiReferencePath);
    await layOut(page, width);
    expect(await layoutFaults(page, width)).toEqual([]);
  });

  it.each([
    [1366, 'light', 'all'],
    [375, 'dark', 'colours'],
  ] as const)(
    'The page has no finding of axe at %s px in %s colors',
    async (widthPx, colorScheme, rules) => {
      const page = await newPage({ widthPx, colorScheme });
      await page.goto(sandbox.foyer.url + apiReferencePath);
      expect(await axeFindings(page, rules)).toEqual([]);
      // Thousands of elements.
    },
    240_000,
  );

  it('In print there are the calls without contents and footer', async () => {
    const page = await newPage({ widthPx: 768 });
    await page.goto(sandbox.foyer.url + apiReferencePath);
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('#call-listMessages').isVisible()).toBe(true);
    for (const part of ['.api-contents', '.api-index', '.footer', '.ribbon'])
      expect([part, await page.locator(part).first().isVisible()]).toEqual([part, false]);
  });
});

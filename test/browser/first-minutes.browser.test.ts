import { demoMember } from '../../sandbox/index.ts';
import { translator } from '../../sandbox/texts.ts';
import { axeFindings, chromiumForTests } from '../support/chromium.ts';
import { anyBackend } from '../support/stores.ts';
import { layoutFaults } from './layout.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';

const t = translator('en');
const name = `${demoMember.givenName} ${demoMember.familyName}`;

describe('the first minutes in the sandbox', () => {
  const { newPage } = chromiumForTests({ profilesStay: true });
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await startSandbox(anyBackend);
  });
  afterAll(() => sandbox?.close());

  it.each([{ javaScript: true }, { javaScript: false }])(
    'From / into the demo app by clicks alone, JavaScript $javaScript',
    async ({ javaScript }) => {
      const page = await newPage({ javaScript });
      await page.goto(sandbox.foyer.url);
      await page.getByRole('link', { name: t('sandbox.demoPanel.fill') }).click();
      await page.getByRole('button', { name: t('signIn.submit'), exact: true }).click();
      await page.getByRole('link', { name: t('sandbox.overview.link') }).click();
      await page.getByRole('heading', { level: 1, name: t('sandbox.overview.title') }).waitFor();
      await page.getByRole('link', { name: t('sandbox.places.demoApp.name'), exact: true }).click();
      await page.getByRole('link', { name: t('sandbox.demo.signIn', { brand: 'Foyer' }) }).click();
      await page.getByRole('heading', { name: t('sandbox.demo.signedInTitle', { name }) }).waitFor();
      expect(page.url()).toBe(`${sandbox.demoUrl}/`);
    },
  );

  it('Every link of the page of the sandbox answers 200', async () => {
    const page = await newPage();
    await page.goto(`${sandbox.foyer.url}/sandbox`);
    const addresses = await page
      .locator('main a')
      .evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).href));
    expect(addresses.length).toBeGreaterThan(10);
    for (const address of new Set(addresses)) {
      const { status } = await fetch(address);
      expect({ address, status }).toEqual({ address, status: 200 });
    }
  });

  it.each([1366, 320])('The page of the sandbox fits at %i px, and axe finds nothing', async (widthPx) => {
    const page = await newPage({ widthPx });
    for (const path of ['/sandbox', '/', '/sandbox/help']) {
      await page.goto(sandbox.foyer.url + path);
      expect(await layoutFaults(page)).toEqual([]);
      expect(await axeFindings(page)).toEqual([]);
    }
  });

  it('Frames of mails are as high as their content', async () => {
    const page = await newPage();
    await page.goto(`${sandbox.foyer.url}/sandbox/mails?mails=de`);
    // Each link of the list shows its mail, and hides the one before.
    const links = await page.locator('.mail-list a').all();
    expect(links.length).toBeGreaterThan(20);
    const heights: { title: string; content: number; frame: number }[] = [];
    for (const link of links) {
      await link.click();
      const frame = page.locator('iframe:visible');
      const title = (await frame.getAttribute('title')) ?? '';
      const box = await frame.boundingBox();
      const content = await frame
        .contentFrame()
        .locator('body')
        .evaluate((body) => body.scrollHeight);
      heights.push({ title, content, frame: Math.round(box?.height ?? 0) });
    }
    expect(heights.filter(({ content, frame }) => content > frame || frame > content * 1.5)).toEqual([]);
  });
});

import type { Page } from 'playwright-core';
import { type Language, languages } from '../../server/http/index.ts';
import { axeFindings, chromiumForTests, heightPx } from '../support/chromium.ts';
import { backends } from '../support/stores.ts';
import { layoutFaults } from './layout.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';
import { prepareTour, type Stop, type TourGuide, tour } from './tour.ts';

const widthsPx = [320, 375, 768, 1366];
/** Where axe looks: at the shortest texts and the longest on a desk too. */
const axeWidthsPx: Record<Language, number[]> = { en: [375, 1366], de: [375, 1366], fr: [375], nl: [375] };

/** As good as a new profile whose owner has chosen a language, and much quicker to have. */
export async function beNewAgain(page: Page, lang: Language): Promise<void> {
  await page.goto('about:blank');
  await page.unrouteAll();
  await page.emulateMedia({ colorScheme: 'light' });
  const context = page.context();
  await context.clearCookies();
  await context.addCookies(
    ['localhost', '127.0.0.1'].map((domain) => ({ name: 'foyer_lang', value: lang, domain, path: '/' })),
  );
}

/** Looks at every page in every language; the file that calls it says which part of them, so that two processes share the work. */
export function lookAtEveryPage(mine: (stop: Stop, index: number) => boolean): void {
  const [backend] = backends;
  if (!backend) throw new Error('there is no backend to run on');
  const { newPage } = chromiumForTests({ pagesStay: true });
  let page: Page;
  let sandbox: Sandbox;
  let guide: TourGuide;
  beforeAll(async () => {
    sandbox = await startSandbox(backend);
    guide = await prepareTour(sandbox);
    page = await newPage();
  });
  afterAll(() => sandbox?.close());

  it.each(tour(() => guide).filter(mine))(
    '$name',
    async (stop) => {
      const findings: string[] = [];
      for (const lang of languages) {
        await beNewAgain(page, lang);
        await stop.open(page, lang);
        await page.waitForLoadState('load');
        expect(await page.locator('html').getAttribute('lang')).toBe(lang);
        await page.evaluate(() => document.fonts.ready);
        for (const width of widthsPx) {
          await page.setViewportSize({ width, height: heightPx });
          const faults = await layoutFaults(page);
          findings.push(...faults.map((fault) => `${lang} ${width}: ${fault}`));
          if (!axeWidthsPx[lang].includes(width)) continue;
          for (const colorScheme of ['light', 'dark'] as const) {
            await page.emulateMedia({ colorScheme });
            // What is the same in the dark has been found in the light.
            const violations = await axeFindings(page, colorScheme === 'light' ? 'all' : 'colours');
            findings.push(...violations.map((violation) => `${lang} ${width} ${colorScheme}: ${violation}`));
          }
        }
      }
      expect(findings).toEqual([]);
      // Four languages, four widths, and axe twelve times.
    },
    120_000,
  );
}

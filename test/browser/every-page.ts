import type { Page, Response } from 'playwright-core';
import { type Language, languages } from '../../server/http/index.ts';
import { type AxeRules, axeFindings, chromiumForTests, layOut } from '../support/chromium.ts';
import { backends } from '../support/stores.ts';
import { layoutFaults } from './layout.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';
import { structureOf } from './structure.ts';
import { prepareTour, type Stop, type TourGuide, tour } from './tour.ts';

/** From the width at which pages are opened, and back: the next language begins where the one before has ended. */
const widthsPx = [1366, 768, 375, 320] as const;
const acrossPx = [widthsPx, widthsPx.toReversed()] as const;
const phonePx = 375;
const deskPx = 1366;

/**
 * Which rules axe holds a page to: those on names, roles and order in every language (unless another has shown the same page
 * already); those on colours, which no language changes, on a phone by day and night, and on a desk. All of the latter in one
 * language: each page that is loaded anew needs axe anew.
 */
function looksOfAxe(lang: Language, widthPx: number): { colorScheme: 'light' | 'dark'; rules: AxeRules }[] {
  if (widthPx !== phonePx && widthPx !== deskPx) return [];
  if (lang !== 'en') return [{ colorScheme: 'light', rules: 'but colours' }];
  const byDay = { colorScheme: 'light', rules: 'all' } as const;
  return widthPx === phonePx ? [byDay, { colorScheme: 'dark', rules: 'colours' }] : [byDay];
}

/** Of what a page is made, whatever its language. */
const shapeOf = (page: Page): Promise<string> =>
  page.evaluate(() =>
    [...document.querySelectorAll('h1, h2, form, input, select, button, dialog, [role], [aria-current], main *[id]')]
      .map(({ tagName, id }) => `${tagName}#${id.replace(/[\d:«»]+/g, '')}`)
      .join(),
  );

/**
 * The same page in another language: where a reload shows it (a form's answer too: the form goes off once more), nobody need go
 * the whole way again. What is shown once, or was drawn by a script, is reached anew.
 */
async function openIn(page: Page, stop: Stop, lang: Language, widthPx: number, before?: Shown): Promise<Shown> {
  if (before?.again) {
    await speak(page, lang);
    await page.emulateMedia({ colorScheme: 'light' });
    const answer = await page.reload({ waitUntil: 'load' });
    if (answer?.status() === before.status && (await shapeOf(page)) === before.shape) return before;
  }
  await beNewAgain(page, lang);
  await layOut(page, widthPx);
  let status: number | undefined;
  const note = (answer: Response) => {
    if (answer.request().isNavigationRequest() && answer.frame() === page.mainFrame()) status = answer.status();
  };
  page.on('response', note);
  await stop.open(page, lang);
  page.off('response', note);
  await page.waitForLoadState('load');
  return { status, shape: await shapeOf(page), again: before === undefined };
}

interface Shown {
  /** Of the last thing that the browser has asked for to be here. */
  status: number | undefined;
  shape: string;
  /** Whether a reload may show it again: of a stop of which it has not, no other language is tried so. */
  again: boolean;
}

/** Chooses a language as its button does. */
const speak = (page: Page, lang: Language) =>
  page
    .context()
    .addCookies(['localhost', '127.0.0.1'].map((domain) => ({ name: 'foyer_lang', value: lang, domain, path: '/' })));

/** As good as a new profile whose owner has chosen a language, and much quicker to have. */
export async function beNewAgain(page: Page, lang: Language): Promise<void> {
  await page.goto('about:blank');
  await page.unrouteAll();
  await page.emulateMedia({ colorScheme: 'light' });
  await page.context().clearCookies();
  await speak(page, lang);
}

/** Looks at every page in every language; the file that calls it says which part of them, so that two processes share the work. */
export function lookAtEveryPage(mine: (stop: Stop, index: number) => boolean): void {
  const [backend] = backends;
  if (!backend) throw new Error('there is no backend to run on');
  const { newPage } = chromiumForTests({ pagesStay: true });
  let page: Page;
  let sandbox: Sandbox;
  let guide: TourGuide;
  /** The structures that axe has been over, whatever page, language or width it was: only colours are looked at again. */
  const judged = new Set<string>();
  beforeAll(async () => {
    sandbox = await startSandbox(backend);
    guide = await prepareTour(sandbox);
    page = await newPage();
  });
  afterAll(() => guide?.close() ?? sandbox?.close());

  it.each(
    tour(() => guide)
      .filter(({ otherWords }) => !otherWords)
      .filter(mine),
  )(
    '$name',
    async (stop) => {
      const findings: string[] = [];
      let shown: Shown | undefined;
      for (const [turn, lang] of languages.entries()) {
        const widths = acrossPx[turn % 2] ?? widthsPx;
        shown = await openIn(page, stop, lang, widths[0], shown);
        // No locator: for the first in a document the browser reads a long script.
        expect(await page.evaluate(() => document.fonts.ready.then(() => document.documentElement.lang))).toBe(lang);
        for (const width of widths) {
          await layOut(page, width);
          const faults = await layoutFaults(page, width);
          findings.push(...faults.map((fault) => `${lang} ${width}: ${fault}`));
          const looks = looksOfAxe(lang, width);
          if (looks.length === 0) continue;
          const structure = await structureOf(page);
          const known = judged.has(structure);
          for (const { colorScheme, rules } of looks) {
            if (known && rules === 'but colours') continue;
            await page.emulateMedia({ colorScheme });
            const violations = await axeFindings(page, known ? 'colours' : rules);
            findings.push(...violations.map((violation) => `${lang} ${width} ${colorScheme}: ${violation}`));
          }
          judged.add(structure);
        }
      }
      expect(findings).toEqual([]);
      // Four languages, four widths, and axe six times.
    },
    120_000,
  );
}

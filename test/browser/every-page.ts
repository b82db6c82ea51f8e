import type { Page } from 'playwright-core';
import { type Language, languages } from '../../server/http/index.ts';
import { type AxeRules, axeFindings, chromiumForTests, layOut } from '../support/chromium.ts';
import { anyBackend } from '../support/stores.ts';
import { checkBaseline } from './baseline.ts';
import { moreLanguages, openNew, reloadedIn, turnTo } from './in-languages.ts';
import { layoutFaults } from './layout.ts';
import { columns, type Look, readLooks, toColumnName } from './looks.ts';
import { type Sandbox, startSandbox } from './sandbox.ts';
import { hurryCountdowns, keepNotices } from './settle.ts';
import { structureOf } from './structure.ts';
import { touchFaults } from './touch.ts';
import { prepareTour, type Stop, type TourGuide, tour } from './tour.ts';

/** From the width at which pages are opened. */
const widthsPx = [1366, 768, 375, 320] as const;
const narrowestPx = 320;
const phonePx = 375;
const deskPx = 1366;

/** `update` and `compare` only write or compare how the pages look: no axe, no languages and widths besides. */
const onlyLooks = process.env.FOYER_BASELINE !== undefined;
const shownLanguages = languages.filter((lang) => !onlyLooks || lang === 'en' || lang === 'de');

/** English and the language with the longest words at all widths, the others at the narrowest and the widest. */
function widthsIn(lang: Language): readonly number[] {
  if (onlyLooks) return [deskPx, phonePx];
  return lang === 'en' || lang === 'de' ? widthsPx : [deskPx, narrowestPx];
}

/**
 * The rules that axe holds a page to: those on names, roles and order unless another page of the same structure has passed them;
 * those on colours on a phone, light and dark, and on a desk. In one language: no structure, role or colour changes with the
 * language, and test/views/locales.test.ts shows that each language has all texts.
 */
function looksOfAxe(lang: Language, widthPx: number): { colorScheme: 'light' | 'dark'; rules: AxeRules }[] {
  if (lang !== 'en') return [];
  const light = { colorScheme: 'light', rules: 'all' } as const;
  if (widthPx === phonePx) return [light, { colorScheme: 'dark', rules: 'colours' }];
  return widthPx === deskPx ? [light] : [];
}

/** The language that the page says it is in, once its letters are there. No locator: for the first in a document the browser reads a long script. */
const spoken = (page: Page): Promise<string> =>
  page.evaluate(() => document.fonts.ready.then(() => document.documentElement.lang));

/** Looks at every page in every language; the file that calls it says which part of them, so that two processes share the work. */
export function lookAtEveryPage(mine: (stop: Stop, index: number) => boolean): void {
  const backend = anyBackend;
  const { newPage } = chromiumForTests({ pagesStay: true });
  let page: Page;
  let sandbox: Sandbox;
  let guide: TourGuide;
  /** The structures that axe has been over, whatever page, language or width it was: only colours are looked at again. */
  const judged = new Set<string>();
  /** Number of stops so far. */
  let looked = 0;
  beforeAll(async () => {
    sandbox = await startSandbox(backend);
    guide = await prepareTour(sandbox);
    page = await newPage();
    await keepNotices(page);
    await hurryCountdowns(page);
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
      const seen = new Map<string, readonly Look[]>();
      const look = async (lang: Language, width: number) => {
        for (const column of columns.filter((each) => each.lang === lang && each.widthPx === width)) {
          await page.emulateMedia({ colorScheme: column.colorScheme });
          seen.set(toColumnName(column), await readLooks(page));
        }
        await page.emulateMedia({ colorScheme: 'light' });
        if (onlyLooks) return;
        const faults = await layoutFaults(page, width);
        findings.push(...faults.map((fault) => `${lang} ${width}: ${fault}`));
        if (width === narrowestPx && (lang === 'en' || lang === 'de')) {
          findings.push(...(await touchFaults(page)).map((fault) => `${lang}: ${fault}`));
        }
        const looks = looksOfAxe(lang, width);
        if (looks.length === 0) return;
        const structure = await structureOf(page);
        const known = judged.has(structure);
        for (const { colorScheme, rules } of looks) {
          await page.emulateMedia({ colorScheme });
          const violations = await axeFindings(page, known ? 'colours' : rules);
          findings.push(...violations.map((violation) => `${lang} ${width} ${colorScheme}: ${violation}`));
        }
        judged.add(structure);
      };
      const [first = 'en', ...others] = shownLanguages;
      looked += 1;
      const skipped = looked % 2 === 0 ? 'fr' : 'nl';
      const shown = await openNew(page, stop, first, widthsPx[0]);
      expect(await spoken(page)).toBe(first);
      const turning = await moreLanguages(page, shown, others);
      for (const width of widthsIn(first)) {
        await layOut(page, width);
        for (const lang of [first, ...turning].filter((each) => widthsIn(each).includes(width))) {
          if (turning.length > 0) await turnTo(page, lang);
          await look(lang, width);
        }
      }
      let again = true;
      for (const lang of others.filter((other) => !turning.includes(other))) {
        // To reach a page anew costs more than all that is looked at: in French or Dutch, by turns, besides German.
        if (!again && lang === skipped) continue;
        await layOut(page, widthsPx[0]);
        again = again && (await reloadedIn(page, lang, shown));
        // What is shown once, or was drawn by a script, is reached anew.
        if (!again) await openNew(page, stop, lang, widthsPx[0]);
        expect(await spoken(page)).toBe(lang);
        for (const width of widthsIn(lang)) {
          await layOut(page, width);
          await look(lang, width);
        }
      }
      const inOrder = columns.map(toColumnName).flatMap((name) => {
        const found = seen.get(name);
        return found === undefined ? [] : [[name, found] as const];
      });
      findings.push(...checkBaseline(stop.name, new Map(inOrder)));
      expect(findings).toEqual([]);
      // Four languages, up to four widths, and axe three times.
    },
    120_000,
  );
}

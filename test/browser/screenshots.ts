/**
 * Pictures of every page at three widths, light and dark, in every language, to be looked at by people; what does not fit is named:
 *
 *     npm run build && CHROMIUM_PATH=/usr/bin/chromium npm exec -- node test/browser/screenshots.ts FOLDER [NAME [LANGUAGES [WIDTHS]]]
 *
 * NAME is a part of a stop's name (`tour.ts`), for those pictures alone, or several (`plan|payment`); LANGUAGES as in `de,nl`,
 * WIDTHS as in `375,1366`.
 */
import { globSync, mkdirSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { transformWithOxc } from 'vite';

const allWidthsPx = [375, 768, 1366];
const colorSchemes = ['light', 'dark'] as const;

/** Node takes the types off .ts by itself, but knows no .tsx. */
async function readTsx(): Promise<void> {
  const root = join(import.meta.dirname, '..', '..');
  const files = globSync('{views,server,client,sandbox,test}/**/*.tsx', { cwd: root }).map((file) => join(root, file));
  const read = files.map(async (file): Promise<[string, string]> => {
    const jsx = { runtime: 'automatic', development: false } as const;
    const { code } = await transformWithOxc(readFileSync(file, 'utf8'), file, { jsx });
    return [pathToFileURL(file).href, code];
  });
  const codes = new Map(await Promise.all(read));
  registerHooks({
    load(url, context, next) {
      const source = codes.get(url);
      return source === undefined ? next(url, context) : { format: 'module', source, shortCircuit: true };
    },
  });
}

interface Wanted {
  languages: string | undefined;
  widths: string | undefined;
}

/** A text with commas that names some of these; undefined: all. */
const choose = <T extends string | number>(known: readonly T[], named: string | undefined): T[] =>
  known.filter((one) => named === undefined || named.split(',').includes(String(one)));

async function takeAll(folder: string, part: string, wanted: Wanted): Promise<void> {
  const { anyBackend } = await import('../support/stores.ts');
  const { heightPx, launchChromium } = await import('../support/chromium.ts');
  const { startSandbox } = await import('./sandbox.ts');
  const { languages } = await import('../../server/http/index.ts');
  const { prepareTour, tour } = await import('./tour.ts');
  const { beNewAgain } = await import('./in-languages.ts');
  const { layoutFaults } = await import('./layout.ts');
  const shownLanguages = choose(languages, wanted.languages);
  const widthsPx = choose(allWidthsPx, wanted.widths);
  mkdirSync(folder, { recursive: true });
  const sandbox = await startSandbox(anyBackend);
  const chromium = await launchChromium();
  const guide = await prepareTour(sandbox);
  const page = await chromium.newPage();
  const parts = part.split('|');
  for (const stop of tour(() => guide).filter(({ name }) => parts.some((one) => name.includes(one)))) {
    for (const lang of shownLanguages) {
      await beNewAgain(page, lang);
      await stop.open(page, lang);
      await page.waitForLoadState('load');
      for (const width of widthsPx) {
        await page.setViewportSize({ width, height: heightPx });
        for (const fault of await layoutFaults(page, width)) console.log(`${stop.name}, ${lang} ${width}: ${fault}`);
        for (const colorScheme of colorSchemes) {
          await page.emulateMedia({ colorScheme });
          const name = `${stop.name.replaceAll(' ', '-')}-${width}-${colorScheme}-${lang}.png`;
          await page.screenshot({ path: join(folder, name), fullPage: true, animations: 'disabled' });
        }
      }
    }
    console.log(stop.name);
  }
  await chromium.close();
  await guide.close();
}

const [folder, part = '', languages, widths] = process.argv.slice(2);
if (folder === undefined) throw new Error('Say into which folder: node test/browser/screenshots.ts FOLDER [NAME]');
await readTsx();
await takeAll(folder, part, { languages, widths });

import type { Page } from 'playwright-core';
import { type Chromium, chromiumForTests, type Visitor } from '../support/chromium.ts';
import { builtClientDir } from './build.ts';
import { type Gallery, openGallery } from './gallery.tsx';

export interface Visits extends Pick<Chromium, 'newPage' | 'takeFaults'> {
  /** Address of a page with this sample alone. */
  at(sample: string): string;
  /** A new browser at that page, whose loader of islands runs (if scripts do). */
  open(sample: string, visitor?: Visitor): Promise<Page>;
}

/** Waits until the loader of islands runs. */
export async function scripted(page: Page): Promise<void> {
  await page.waitForFunction(() => document.documentElement.classList.contains('scripted'));
}

/** For a describe block: the gallery on the built client, and a Chromium to look at it. */
export function visitsForTests(): Visits {
  const { newPage, takeFaults } = chromiumForTests();
  let gallery: Gallery | undefined;
  beforeAll(async () => {
    gallery = await openGallery(builtClientDir);
  });
  afterAll(() => gallery?.close());
  const at = (sample: string): string => {
    if (!gallery) throw new Error('the gallery is open within tests only');
    return gallery.at(sample);
  };
  return {
    newPage,
    takeFaults,
    at,
    async open(sample, visitor) {
      const page = await newPage(visitor);
      await page.goto(at(sample));
      if (visitor?.javaScript !== false) await scripted(page);
      return page;
    },
  };
}

/** The text of the focused element. */
export const focused = (page: Page): Promise<string | undefined> =>
  page.evaluate(() => document.activeElement?.textContent?.trim());

/** What the gallery was sent, on the page that says so. */
export async function echo(page: Page): Promise<unknown> {
  return JSON.parse((await page.locator('#echo').textContent()) ?? '');
}

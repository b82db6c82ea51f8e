import type { Page } from 'playwright-core';
import { type Chromium, chromiumForTests, type Visitor } from '../support/chromium.ts';
import { builtClientDir } from './build.ts';
import { type Gallery, openGallery } from './gallery.tsx';

export interface Visits extends Pick<Chromium, 'newPage' | 'takeFaults'> {
  /** Address of a page with this sample alone. */
  at(sample: string): string;
  /** Address of a page of the product, as a sample. */
  atPage(name: string): string;
  /** A new page at that sample, whose loader of islands runs (if scripts do). */
  open(sample: string, visitor?: Visitor): Promise<Page>;
}

/** Waits until the loader of islands runs. */
export async function scripted(page: Page): Promise<void> {
  await page.waitForFunction(() => document.documentElement.classList.contains('scripted'));
}

/** For a describe block: the gallery on the built client, and a Chromium to look at it. */
export function visitsForTests(): Visits {
  // The samples keep nothing in the browser, and ask for their scripts each time, be it out of its cache.
  const { newPage, takeFaults } = chromiumForTests({ profilesStay: true });
  let gallery: Gallery | undefined;
  beforeAll(async () => {
    gallery = await openGallery(builtClientDir);
  });
  afterAll(() => gallery?.close());
  const opened = (): Gallery => {
    if (!gallery) throw new Error('the gallery is open within tests only');
    return gallery;
  };
  const at = (sample: string) => opened().at(sample);
  return {
    newPage,
    takeFaults,
    at,
    atPage: (name) => opened().page(name),
    async open(sample, visitor) {
      const page = await newPage(visitor);
      await page.goto(at(sample));
      if (visitor?.javaScript !== false) await scripted(page);
      return page;
    },
  };
}

/** No island that can be woken takes this long. */
const patienceMs = 10_000;

/**
 * Touches every island of the page and waits until each is hydrated, by React later than by Preact. The page waits itself:
 * `waitForFunction` would have it read a long script first.
 */
export const wakeAll = (page: Page): Promise<number> =>
  page.evaluate(async (patience) => {
    const until = performance.now() + patience;
    const wait = async (what: string, done: () => boolean) => {
      while (!done()) {
        if (performance.now() > until) throw new Error(`waited in vain: ${what}`);
        await new Promise((resolve) => requestAnimationFrame(resolve));
      }
    };
    const has = (element: Element | null, mark: string) =>
      Object.keys(element ?? {}).some((key) => key.startsWith(mark));
    await wait('scripts', () => document.documentElement.classList.contains('scripted'));
    const islands = [...document.querySelectorAll('[data-island]')];
    for (const { firstElementChild } of islands) {
      firstElementChild?.dispatchEvent(new PointerEvent('pointerover', { bubbles: true }));
    }
    await wait('islands', () =>
      [...document.querySelectorAll<HTMLElement>('[data-island]')].every(
        (island) =>
          'awake' in island.dataset &&
          (!has(island, '__reactContainer') || has(island.firstElementChild, '__reactProps')),
      ),
    );
    return islands.length;
  }, patienceMs);

/** What has a policy of its own, and may ask for more than its page lives for. */
const needsLoad = '[data-island=card-form], [data-island=payment-action], iframe';

/**
 * Puts another page of the gallery in the place of the one that is shown, as the browser's parser reads it, asleep: its loader
 * runs already, and to load styles, fonts and scripts for each takes the browser much longer.
 */
export async function turnTo(page: Page, address: string): Promise<void> {
  const turned =
    page.url().startsWith('http') &&
    (await page.evaluate(
      async ([from, needsLoad]) => {
        if (document.querySelector(needsLoad)) return false;
        const answer = await fetch(from);
        const { body } = new DOMParser().parseFromString(await answer.text(), 'text/html');
        if (!answer.ok || body.querySelector(needsLoad)) return false;
        document.body.replaceWith(document.adoptNode(body));
        return true;
      },
      [address, needsLoad] as const,
    ));
  if (turned) return;
  await page.goto(address);
  await scripted(page);
}

/** The text of the focused element. */
export const focused = (page: Page): Promise<string | undefined> =>
  page.evaluate(() => document.activeElement?.textContent?.trim());

/** What the gallery was sent, on the page that says so. */
export async function echo(page: Page): Promise<unknown> {
  return JSON.parse((await page.locator('#echo').textContent()) ?? '');
}

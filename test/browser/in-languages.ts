import type { Page, Response } from 'playwright-core';
import type { Language } from '../../server/http/index.ts';
import { layOut } from '../support/chromium.ts';
import type { Stop } from './tour.ts';

/*
 * One page in several languages. To load it for each costs the processor more than all that is looked at, so the languages take
 * turns in one document where they can: the answer's body, as the browser's own parser reads it.
 */

/** A page that is open: what answered, and of what it is made. */
export interface Shown {
  /** Of the last thing that the browser has asked for to be here. */
  status: number | undefined;
  /** Whether that was a question, and no form. */
  asked: boolean;
  shape: string;
}

declare global {
  interface Window {
    /** By language; the one that was opened is the one that scripts have touched. */
    bodies?: Map<string, HTMLElement>;
  }
}

/** Of what a page is made, whatever its language. Runs in the browser. */
function shapeHere(text: string | null): string {
  const root = text === null ? document : new DOMParser().parseFromString(text, 'text/html');
  return [...root.querySelectorAll('h1, h2, form, input, select, button, dialog, [role], [aria-current], main *[id]')]
    .map(({ tagName, id }) => `${tagName}#${id.replace(/[\d:«»]+/g, '')}`)
    .join();
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

/** Opens a stop in a browser that has been nowhere yet. */
export async function openNew(page: Page, stop: Stop, lang: Language, widthPx: number): Promise<Shown> {
  await beNewAgain(page, lang);
  await layOut(page, widthPx);
  let last: Response | undefined;
  const note = (answer: Response) => {
    if (answer.request().isNavigationRequest() && answer.frame() === page.mainFrame()) last = answer;
  };
  page.on('response', note);
  await stop.open(page, lang);
  page.off('response', note);
  await page.waitForLoadState('load');
  const asked = last?.request().method() === 'GET' && last.url() === page.url();
  return { status: last?.status(), asked, shape: await page.evaluate(shapeHere, null) };
}

/** Loads the page once more in another language (a form's answer too: the form goes off again). @returns whether it is the same page */
export async function reloadedIn(page: Page, lang: Language, before: Shown): Promise<boolean> {
  await speak(page, lang);
  await page.emulateMedia({ colorScheme: 'light' });
  const answer = await page.reload({ waitUntil: 'load' });
  return answer?.status() === before.status && (await page.evaluate(shapeHere, null)) === before.shape;
}

/** What scripts draw by themselves, and what loads a page of its own: there it must be a page that was loaded. */
const drawn = '[data-load=idle], iframe, meta[http-equiv=refresh]';

/**
 * Gets the page that is open in more languages, which then take turns in it (`turnTo`).
 * @returns those in which it is the same page: not what is shown once, answered a form, or was drawn by a script
 */
export async function moreLanguages(page: Page, before: Shown, wanted: readonly Language[]): Promise<Language[]> {
  if (!before.asked || (await page.evaluate((some) => document.querySelector(some) !== null, drawn))) return [];
  const texts: [Language, string][] = [];
  for (const lang of wanted) {
    await speak(page, lang);
    const answer = await page.context().request.get(page.url(), {
      headers: { accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'none' },
      maxRedirects: 0,
    });
    const text = await answer.text();
    // The next ones would be no better.
    if (answer.status() !== before.status || (await page.evaluate(shapeHere, text)) !== before.shape) return [];
    texts.push([lang, text]);
  }
  await page.evaluate((all) => {
    window.bodies = new Map([[document.documentElement.lang, document.body]]);
    for (const [lang, text] of all) {
      const other = new DOMParser().parseFromString(text, 'text/html');
      if (other.documentElement.lang !== lang)
        throw new Error(`the page in ${lang} says that it is in another language`);
      window.bodies.set(lang, document.adoptNode(other.body));
    }
  }, texts);
  return [...wanted];
}

/** Shows the page that is open in one of its languages. */
export const turnTo = (page: Page, lang: Language): Promise<void> =>
  page.evaluate(async (lang) => {
    const body = window.bodies?.get(lang);
    if (!body) throw new Error(`the page is not there in ${lang}`);
    document.body.replaceWith(body);
    document.documentElement.lang = lang;
    scrollTo(0, 0);
    await document.fonts.ready;
  }, lang);

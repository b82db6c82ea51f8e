import type { Page } from 'playwright-core';
import { languages } from '../../server/http/index.ts';

/**
 * The page without its words: of each, whether there is one. Names that must not be the same (of landmarks, frames and tables, of
 * pictures and the links around them) are told by where the same name stood first. Runs in the browser.
 */
function structureHere(known: readonly string[]): string {
  const worded =
    /^(aria-(label|description|roledescription|valuetext)|alt|title|placeholder|value|label|content|srcdoc)$/;
  const names = new Map<string, number>();
  const place = (name: string): number => {
    const key = name.trim().toLowerCase();
    if (!names.has(key)) names.set(key, names.size);
    return names.get(key) ?? 0;
  };
  function attribute({ name, value, ownerElement }: Attr): string {
    // Where a link or a script comes from changes with every visit; that a link stays on the page matters.
    if (/^(href|src|action|formaction|nonce)$/.test(name) && !value.startsWith('#')) return `${name} ${value !== ''}`;
    // For scripts alone.
    if (name.startsWith('data-')) return name;
    if (name === 'lang' && known.includes(value)) return name;
    const toBrowser = ownerElement?.matches('meta[http-equiv], meta[name=viewport]');
    return worded.test(name) && !toBrowser ? `${name} ${value.trim() !== ''}` : `${name}=${value}`;
  }
  function nameOf(element: Element): number[] {
    if (!element.matches('[role], nav, main, section, aside, form, header, footer, iframe, table, img')) return [];
    const labels = (element.getAttribute('aria-labelledby') ?? '').split(' ').map((id) => document.getElementById(id));
    const own = ['aria-label', 'title', 'alt', 'summary'].map((name) => element.getAttribute(name) ?? '');
    const around = element.matches('img') ? element.closest('a, button') : element.querySelector(':scope > caption');
    return [labels.map((label) => label?.textContent ?? '').join(' '), ...own, around?.textContent ?? ''].map(place);
  }
  const told: unknown[] = [];
  for (const element of document.querySelectorAll('*')) {
    const { overflowX, overflowY } = getComputedStyle(element);
    const pushed =
      /auto|scroll/.test(overflowX + overflowY) &&
      (element.scrollWidth > element.clientWidth || element.scrollHeight > element.clientHeight);
    const texts = [...element.childNodes].map(({ nodeType, nodeValue }) =>
      nodeType === Node.TEXT_NODE ? nodeValue?.trim() !== '' : nodeType,
    );
    // In the choice of languages another one is the chosen.
    const attributes = [...element.attributes].filter(
      ({ name }) => !(name === 'aria-current' && element.matches('[name=lang]')),
    );
    const shown = element.checkVisibility({ visibilityProperty: true });
    told.push([element.tagName, shown, pushed, texts, attributes.map(attribute).toSorted(), nameOf(element)]);
  }
  return JSON.stringify(told);
}

/** Pages of one structure differ in nothing but their words: colours aside, axe finds the same on all of them. */
export const structureOf = (page: Page): Promise<string> => page.evaluate(structureHere, languages);

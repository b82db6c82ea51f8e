import type { Page } from 'playwright-core';
import { settle } from './settle.ts';

/** How one element of a page looks: its box at each width and language, and its styles in light and dark. */
export interface Look {
  /** Tag and classes. */
  element: string;
  /** Its words, without what changes with each run. For readers: words have tests of their own. */
  words: string;
  box: readonly [x: number, y: number, width: number, height: number];
  style: string;
}

/** Masks what differs between two runs, measures, and puts the texts back. Runs in the browser. */
function looksHere(): Look[] {
  const months =
    /\b(?:Jan(?:uary|uar)?|Feb(?:ruary|ruar)?|Mar(?:ch)?|März|Apr(?:il)?|May|Mai|June?|Juni|July?|Juli|Aug(?:ust)?|Sep(?:t(?:ember)?)?|Oct(?:ober)?|Okt(?:ober)?|Nov(?:ember)?|Dec(?:ember)?|Dez(?:ember)?)\b\.?/g;
  const masked = (text: string) =>
    text
      .replace(/[\w.+-]+@[\w.-]+\w/g, 'member@example.com')
      .replace(/\b[B-Z]{4}-[B-Z]{4}\b/g, 'CODE-CODE')
      .replace(/\b(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w-]{8,}\b/g, 'id')
      .replace(months, 'May')
      .replace(/\b[AP]M\b/g, 'AM')
      .replace(/\d+/g, '0');
  const texts: [Text, string][] = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  /** Keys and codes of letters alone: each letter is as wide as any other in the fonts of code only. */
  const maskedIn = (node: Node, text: string) =>
    node.parentElement?.closest('.secret-text, .recovery-codes') ? text.replace(/\S/g, '0') : masked(text);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const text = node.nodeValue ?? '';
    if (maskedIn(node, text) !== text) texts.push([node as Text, text]);
  }
  for (const [node, text] of texts) node.nodeValue = maskedIn(node, text);
  // The system's own letters differ between machines.
  const root = document.documentElement;
  root.style.setProperty('--mono', getComputedStyle(document.body).fontFamily);
  for (const animation of document.getAnimations()) {
    try {
      animation.finish();
    } catch {
      // One that never ends.
      animation.cancel();
    }
  }
  const hex = (color: string) => {
    const [r = '0', g = '0', b = '0', alpha = '1'] = color.match(/[\d.]+/g) ?? [];
    if (!color.startsWith('rgb')) return color.replaceAll(' ', '');
    if (Number(alpha) === 0) return '-';
    const digits = [r, g, b].map((part) => Math.round(Number(part)).toString(16).padStart(2, '0')).join('');
    return `#${digits}${alpha === '1' ? '' : `/${alpha}`}`;
  };
  const selector =
    'header, main, footer, nav, aside, dialog, h1, h2, h3, label, input:not([type=hidden]), select, textarea, button, a[href], summary, table, iframe, img, .card, .chip, .notice, .tile, .mark';
  const looks = [...document.body.querySelectorAll<HTMLElement>(selector)].flatMap((element): Look[] => {
    const style = getComputedStyle(element);
    const { x, y, width, height } = element.getBoundingClientRect();
    const isShown = element.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true });
    if (!isShown || width === 0 || style.clipPath === 'inset(50%)' || element.closest('.skip, svg, footer *'))
      return [];
    const classes = [...element.classList].filter((name) => !/\d/.test(name));
    const own =
      (element.textContent ?? '').trim() !== '' ||
      element.matches('textarea, input:not([type=checkbox], [type=radio])');
    // The system's font of a control without letters differs between machines.
    const font = own ? style.fontFamily.split(',')[0]?.replaceAll('"', '').replaceAll(' ', '_') : '-';
    const border = Number.parseFloat(style.borderTopWidth) > 0 ? hex(style.borderTopColor) : '-';
    const written = [hex(style.color), hex(style.backgroundColor), border, font, style.fontSize, style.fontWeight];
    return [
      {
        element: [element.tagName.toLowerCase(), ...classes].join('.'),
        words: masked(
          (element.textContent || element.getAttribute('aria-label') || '').trim().replace(/\s+/g, ' '),
        ).slice(0, 30),
        box: [x + scrollX, y + scrollY, width, height].map(Math.round) as unknown as Look['box'],
        style: `${written.join(' ')} ${style.borderTopLeftRadius}`,
      },
    ];
  });
  for (const [node, text] of texts) node.nodeValue = text;
  root.style.removeProperty('--mono');
  return looks;
}

/** What of a page can be seen, in the order of its document. */
export async function readLooks(page: Page): Promise<Look[]> {
  await settle(page);
  return page.evaluate(looksHere);
}

/** The columns of a baseline, each a width, language and theme. */
export const columns = [
  { widthPx: 1366, lang: 'en', colorScheme: 'light' },
  { widthPx: 1366, lang: 'en', colorScheme: 'dark' },
  { widthPx: 1366, lang: 'de', colorScheme: 'light' },
  { widthPx: 375, lang: 'en', colorScheme: 'light' },
  { widthPx: 375, lang: 'en', colorScheme: 'dark' },
  { widthPx: 375, lang: 'de', colorScheme: 'light' },
  { widthPx: 1366, lang: 'de', colorScheme: 'dark' },
  { widthPx: 375, lang: 'de', colorScheme: 'dark' },
] as const;
export type Column = (typeof columns)[number];
export const toColumnName = ({ widthPx, lang, colorScheme }: Column): string => `${widthPx} ${lang} ${colorScheme}`;

/** The looks of one page, by column. */
export type PageLooks = ReadonlyMap<string, readonly Look[]>;

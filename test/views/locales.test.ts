import { type Language, languages } from '../../locales/index.ts';
import { texts } from '../../sandbox/texts.ts';
import { flattenTexts } from './flatten-texts.ts';

const PLURAL = /_(zero|one|two|few|many|other)$/;
const flat = new Map(languages.map((lang) => [lang, flattenTexts(texts[lang])]));
const textsOf = (lang: Language) => flat.get(lang) ?? new Map<string, string>();
const keysOf = (lang: Language) => [...new Set([...textsOf(lang).keys()].map((key) => key.replace(PLURAL, '')))].sort();
const placeholders = (text: string) => [...text.matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map(([, name]) => name).sort();

describe.each(languages)('the texts in %s', (lang) => {
  it('The texts have the same keys as English, no more and no fewer', () => {
    expect(keysOf(lang)).toEqual(keysOf('en'));
  });

  it('The texts have the same placeholders as English', () => {
    const english = textsOf('en');
    for (const [key, text] of textsOf(lang)) {
      const reference = english.get(key) ?? english.get(key.replace(PLURAL, '_other'));
      expect({ key, placeholders: placeholders(text) }).toEqual({ key, placeholders: placeholders(reference ?? '') });
    }
  });

  it('The texts have exactly the plural forms of the language', () => {
    const forms = [...new Intl.PluralRules(lang).resolvedOptions().pluralCategories].sort();
    const found = new Map<string, string[]>();
    for (const key of textsOf(lang).keys()) {
      const form = PLURAL.exec(key)?.[1];
      const base = key.replace(PLURAL, '');
      if (form !== undefined) found.set(base, [...(found.get(base) ?? []), form].sort());
    }
    expect(found.size).toBeGreaterThan(0);
    for (const [key, has] of found) expect({ key, has }).toEqual({ key, has: forms });
  });

  it('The texts are not empty, are trimmed and have no bare double braces', () => {
    for (const [key, text] of textsOf(lang)) {
      expect({ key, fine: text.trim() === text && text.length > 0 }).toEqual({ key, fine: true });
      expect(text.replaceAll(/\{\{\w+\}\}/g, '')).not.toMatch(/[{}]/);
    }
  });
});

it('Other languages are translations, so no long text is the same as in English', () => {
  for (const lang of languages.filter((other) => other !== 'en')) {
    const same = [...textsOf(lang)].filter(([key, text]) => text.length > 20 && textsOf('en').get(key) === text);
    expect({ lang, same }).toEqual({ lang, same: [] });
  }
});

it('No heading of a page breaks at the hyphen of the word for email', () => {
  for (const lang of languages) {
    const headings = [...textsOf(lang)].filter(([key]) => /(?<!^mail\..*)\.(?:title|heading)$/.test(key));
    expect(headings.length).toBeGreaterThan(50);
    // A mail's title is its subject too.
    expect({ lang, broken: headings.filter(([, text]) => /\be-mail\b.*\s|\s.*\be-mail/i.test(text)) }).toEqual({
      lang,
      broken: [],
    });
  }
});

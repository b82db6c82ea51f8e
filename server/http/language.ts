/** Which language a page speaks, and its texts. */
import { createInstance } from 'i18next';
import { type Language, languages, type T, texts } from '../../locales/index.ts';

export { type Language, languageNames, languages, type T } from '../../locales/index.ts';

const isLanguage = (value: string | undefined): value is Language =>
  value !== undefined && (languages as readonly string[]).includes(value);

/** The language of a tag such as `fr-CH` (RFC 5646, section 2.1), where Foyer has it. */
export function supportedLanguage(tag: string | undefined): Language | undefined {
  const primary = tag?.split('-', 1)[0]?.toLowerCase();
  return isLanguage(primary) ? primary : undefined;
}

/** The most preferred tag of an Accept-Language header (RFC 9110, 12.5.4), or undefined: highest q, then the first named. */
function preferredTag(acceptLanguage: string): string | undefined {
  let best: { tag: string; quality: number } | undefined;
  for (const part of acceptLanguage.slice(0, 500).split(',')) {
    const [tag = '', ...parameters] = part.split(';').map((piece) => piece.trim());
    const weight = parameters.find((parameter) => /^q\s*=/i.test(parameter));
    const quality = weight === undefined ? 1 : Number(weight.slice(weight.indexOf('=') + 1));
    if (tag !== '' && quality > 0 && quality <= 1 && (best === undefined || quality > best.quality)) {
      best = { tag, quality };
    }
  }
  return best?.tag;
}

/**
 * The language is the first two letters of the browser's language, otherwise English (specification, section 1).
 * @param remembered what the member chose before (cookie or account); it wins when it is one of ours
 */
export function languageOf(acceptLanguage: string | undefined, remembered?: string): Language {
  if (isLanguage(remembered)) return remembered;
  const letters = preferredTag(acceptLanguage ?? '')
    ?.slice(0, 2)
    .toLowerCase();
  return isLanguage(letters) ? letters : 'en';
}

const i18n = createInstance();
// All texts are at hand, so nothing is waited for: a module that waits makes everything that imports it load asynchronously.
void i18n.init({
  initAsync: false,
  resources: Object.fromEntries(languages.map((lang) => [lang, { translation: texts[lang] }])),
  lng: 'en',
  fallbackLng: 'en',
  supportedLngs: [...languages],
  nsSeparator: false,
  // React escapes; and a member's or client's name is never read as a reference to another text.
  interpolation: { escapeValue: false, skipOnVariables: true },
});

const translators = new Map<Language, T>(
  languages.map((lang) => {
    const fixed = i18n.getFixedT(lang);
    return [lang, (key, values) => fixed(key, { ...values })];
  }),
);

/** The typed texts of one language: `translator('de')('signIn.title')`. A key that does not exist is a type error. */
export function translator(lang: Language): T {
  const t = translators.get(lang);
  if (t === undefined) throw new Error(`No texts for the language ${lang}`);
  return t;
}

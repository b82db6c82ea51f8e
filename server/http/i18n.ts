/** The one instance of i18next, with the texts of all languages. */
import { createInstance } from 'i18next';
import { type Language, languages, texts } from '../../locales/index.ts';

export const isLanguage = (value: unknown): value is Language =>
  typeof value === 'string' && (languages as readonly string[]).includes(value);

export const fallbackLanguage: Language = 'en';

export const i18n = createInstance();
// All texts are in memory, so there is nothing to await. A top-level await would make every importing module
// asynchronous.
void i18n.init({
  initAsync: false,
  resources: Object.fromEntries(languages.map((lang) => [lang, { translation: texts[lang] }])),
  lng: fallbackLanguage,
  fallbackLng: fallbackLanguage,
  supportedLngs: [...languages],
  nsSeparator: false,
  // React escapes. The name of a user or client is never interpreted as a reference to another text.
  interpolation: { escapeValue: false, skipOnVariables: true },
});

/** The one instance of i18next: the texts of all languages. */
import { createInstance } from 'i18next';
import { type Language, languages, texts } from '../../locales/index.ts';

export const isLanguage = (value: unknown): value is Language =>
  typeof value === 'string' && (languages as readonly string[]).includes(value);

export const fallbackLanguage: Language = 'en';

export const i18n = createInstance();
// All texts are at hand, so nothing is waited for: a module that waits makes everything that imports it load asynchronously.
void i18n.init({
  initAsync: false,
  resources: Object.fromEntries(languages.map((lang) => [lang, { translation: texts[lang] }])),
  lng: fallbackLanguage,
  fallbackLng: fallbackLanguage,
  supportedLngs: [...languages],
  nsSeparator: false,
  // React escapes; and a member's or client's name is never read as a reference to another text.
  interpolation: { escapeValue: false, skipOnVariables: true },
});

/** The product's instance of i18next, with the texts of all languages. */
import { createInstance, type i18n as I18n } from 'i18next';
import { type Language, languages, texts } from '../../locales/index.ts';

export const isLanguage = (value: unknown): value is Language =>
  typeof value === 'string' && (languages as readonly string[]).includes(value);

export const fallbackLanguage: Language = 'en';

/** An instance of i18next with the texts of each language. */
export function createI18n(resources: Readonly<Record<Language, object>>): I18n {
  const instance = createInstance();
  // All texts are in memory, so there is nothing to await. A top-level await would make every importing module
  // asynchronous.
  void instance.init({
    initAsync: false,
    resources: Object.fromEntries(languages.map((lang) => [lang, { translation: resources[lang] }])),
    lng: fallbackLanguage,
    fallbackLng: fallbackLanguage,
    supportedLngs: [...languages],
    nsSeparator: false,
    // React escapes. The name of a user or client is never interpreted as a reference to another text.
    interpolation: { escapeValue: false, skipOnVariables: true },
  });
  return instance;
}

export const i18n = createI18n(texts);

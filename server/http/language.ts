/** The language of a page, and its texts. */
import type { i18n as I18n } from 'i18next';
import { type Language, languages, type TextKey, type Translate } from '../../locales/index.ts';
import { i18n, isLanguage } from './i18n.ts';
import { createLanguageDetector } from './language-detector.ts';

export { type Language, languageNames, languages, type T } from '../../locales/index.ts';

/** The supported language of a tag such as `fr-CH` (RFC 5646, section 2.1). */
export function supportedLanguage(tag: string | undefined): Language | undefined {
  const primary = tag?.split('-', 1)[0]?.toLowerCase();
  return isLanguage(primary) ? primary : undefined;
}

const languageOfHeader = createLanguageDetector();

/**
 * The language of a mail, or of an answer to a program.
 * @param acceptLanguage the header, or the language that was detected from it
 * @param remembered the user's earlier choice; it has precedence if it is supported
 */
export function resolveLanguage(acceptLanguage: string | undefined, remembered?: string): Language {
  if (isLanguage(remembered)) return remembered;
  if (isLanguage(acceptLanguage)) return acceptLanguage;
  return languageOfHeader({ headers: { 'accept-language': acceptLanguage } });
}

/** The texts of one language, by keys of the type `Key`. */
export function createTranslator<Key extends string>(instance: I18n): (lang: Language) => Translate<Key> {
  const translators = new Map(
    languages.map((lang): [Language, Translate<Key>] => {
      const fixed = instance.getFixedT(lang);
      return [lang, (key: string, values) => fixed(key, { ...values })];
    }),
  );
  return (lang) => {
    const t = translators.get(lang);
    if (t === undefined) throw new Error(`No texts for the language ${lang}`);
    return t;
  };
}

/** The typed texts of one language: `translator('de')('signIn.title')`. A key that does not exist is a type error. */
export const translator = createTranslator<TextKey>(i18n);

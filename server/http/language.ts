/** The language of a page, and its texts. */
import { createInstance, type i18n as I18n } from 'i18next';
import { LanguageDetector } from 'i18next-http-middleware';
import { type Language, languages, type TextKey, type Translate, texts } from '../../locales/index.ts';
import { isItemIn } from '../shared/index.ts';

export { type Language, languageNames, languages, type T } from '../../locales/index.ts';

const isLanguage = (value: unknown): value is Language => isItemIn(languages, value);

const fallbackLanguage: Language = 'en';

/** The product's instance, and that of the sandbox's pages. */
const instances: I18n[] = [];

/** An instance of i18next with the texts of each language. */
export function createI18n(resources: Readonly<Record<Language, object>>): I18n {
  const instance = createInstance();
  // All texts are in memory, so there is nothing to await. A top-level await would make every importing module
  // asynchronous.
  void instance.init({
    initAsync: false,
    // Copies, because i18next writes replaced texts into the objects that it was given.
    resources: Object.fromEntries(languages.map((lang) => [lang, { translation: structuredClone(resources[lang]) }])),
    lng: fallbackLanguage,
    fallbackLng: fallbackLanguage,
    supportedLngs: [...languages],
    nsSeparator: false,
    // An operator may leave out a hint.
    returnEmptyString: true,
    // React escapes. The name of a user or client is never interpreted as a reference to another text.
    interpolation: { escapeValue: false, skipOnVariables: true },
  });
  instances.push(instance);
  return instance;
}

/** The product's instance of i18next, with the texts of all languages. */
const i18n = createI18n(texts);

/**
 * Replaces single texts in this process, before it answers anything.
 * @param replacements by language, as in the files of `locales`
 */
export function replaceTexts(replacements: Readonly<Record<string, object>>): void {
  for (const instance of instances)
    for (const [lang, tree] of Object.entries(replacements))
      instance.addResourceBundle(lang, 'translation', tree, true, true);
}

interface WithHeaders {
  headers: { 'accept-language'?: string | undefined };
}

/**
 * One language of an Accept-Language header with its weight (RFC 9110, section 12.5.4). The default expression of the package
 * also matches parts of longer words, languages that the browser refuses (`q=0`) and weights that are no number.
 */
const languageRange = new RegExp(
  [
    /(?<=^|,)[ \t]*((\*|[a-z]+)(-[a-z\d-]+)?)/,
    /([ \t]*;[ \t]*q[ \t]*=[ \t]*(?!0?\.0+[ \t]*(?:,|$))(1(?:\.0*)?|0?\.\d+))?[ \t]*(?=,|$)/,
  ]
    .map(({ source }) => source)
    .join(''),
  'gi',
);

/** An unsupported stored value has no effect. */
const supported = (language: string | undefined) => (isLanguage(language) ? language : undefined);

/** Browsers send far less; the rest of a longer header is not read. */
const maxHeaderLength = 500;

interface LanguageSources<Req> {
  /** The cookie with the language that was chosen in this browser. */
  cookie?: { name: string; read: (req: Req) => string | undefined };
  /** Further sources, in this order, after the cookie and before the header. */
  others?: { name: string; lookup: (req: Req) => string | undefined }[];
}

/**
 * Finds the language of a request: the cookie, the other sources, then Accept-Language by its weights. The first supported
 * language decides, also when the browser prefers an unsupported one; otherwise it is English. Nothing is written back: only
 * POST /language sets the cookie.
 */
export function createLanguageDetector<Req extends WithHeaders>({
  cookie,
  others = [],
}: LanguageSources<Req> = {}): (req: Req) => Language {
  const detector = new LanguageDetector<Req>(
    i18n.services,
    {
      order: [...(cookie ? ['cookie'] : []), ...others.map(({ name }) => name), 'header'],
      caches: [],
      ...(cookie && {
        lookupCookie: cookie.name,
        getCookies: (req: Req) => ({ [cookie.name]: supported(cookie.read(req)) }),
      }),
      getHeaders: ({ headers }) => ({ 'accept-language': headers['accept-language']?.slice(0, maxHeaderLength) }),
      lookupHeaderRegex: languageRange,
      // The first two letters (specification, section 1). "*" means any language, so it becomes English.
      convertDetectedLanguage: (tag) => (tag === '*' ? fallbackLanguage : tag.slice(0, 2).toLowerCase()),
    },
    i18n.options,
  );
  for (const { name, lookup } of others) detector.addDetector({ name, lookup: (req) => supported(lookup(req)) });
  return (req) => {
    const found = detector.detect(req, {});
    return isLanguage(found) ? found : fallbackLanguage;
  };
}

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

/**
 * The texts of one language, by keys of the type `Key`. A text without values is the same each time: i18next would take
 * the key apart for every word of every page.
 */
export function createTranslator<Key extends string>(instance: I18n): (lang: Language) => Translate<Key> {
  const translators = new Map(
    languages.map((lang): [Language, Translate<Key>] => {
      const fixed = instance.getFixedT(lang);
      const constants = new Map<string, string>();
      const translate = (key: string, values?: object): string => {
        if (values) return fixed(key, { ...values });
        const text = constants.get(key) ?? fixed(key);
        constants.set(key, text);
        return text;
      };
      // A text may have been read before it is replaced.
      instance.store.on('added', () => constants.clear());
      return [lang, translate];
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

import { LanguageDetector } from 'i18next-http-middleware';
import type { Language } from '../../locales/index.ts';
import { fallbackLanguage, i18n, isLanguage } from './i18n.ts';

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

export interface LanguageSources<Req> {
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

/**
 * The part of the package that Foyer uses; `paths` in tsconfig.json leads here. The types of the package itself declare
 * `req.t` for every request as the untyped `t` of i18next, and `req.i18n`, which only its own handler sets.
 */
import type { InitOptions, Services } from 'i18next';

export interface DetectionOptions<Req> {
  /** Names of detectors: the first that finds a supported language decides. */
  order: string[];
  /** Where the package stores the language; nowhere with []. */
  caches: string[];
  lookupCookie?: string;
  getCookies?: (req: Req) => Record<string, string | undefined>;
  getHeaders: (req: Req) => Record<string, string | undefined>;
  /** Global; group 1 is a language, group 5 its weight. */
  lookupHeaderRegex: RegExp;
  convertDetectedLanguage: (tag: string) => string;
}

export class LanguageDetector<Req extends object> {
  constructor(services: Services, options: DetectionOptions<Req>, allOptions: InitOptions);
  addDetector(detector: { name: string; lookup: (req: Req) => string | undefined }): void;
  /** The language, or the fallback of `allOptions`. Leaves the name of the detector at `req.i18nextLookupName`. */
  detect(req: Req, res: object): unknown;
}

import type { Request, RequestHandler, Response } from 'express';
import { safeReturnUrl } from './continuation.ts';
import type { HostCookies } from './cookies.ts';
import { HttpError } from './errors.ts';
import { type Language, languages } from './language.ts';
import { readFormField } from './request-body.ts';
import { belongToRequest } from './request-traits.ts';

export const languageCookie = 'foyer_lang';
const keptMs = 365 * 24 * 60 * 60 * 1000;

/** Stores the language in this browser; undefined deletes it. */
export function writeLanguageCookie(cookies: HostCookies, res: Response, language: Language | undefined): void {
  if (language === undefined) cookies.clear(res, languageCookie);
  else cookies.set(res, languageCookie, { value: language, maxAgeMs: keptMs });
}

interface LanguageFormOptions {
  cookies: HostCookies;
  publicUrl: string;
  /** Stores the choice for the signed-in user, if there is one. Injected, because users belong to a higher layer. */
  saveForUser(req: Request, language: Language): Promise<void>;
}

/** POST /language: stores the choice for this browser and the user, and returns to the page. */
export function submitLanguage({ cookies, publicUrl, saveForUser }: LanguageFormOptions): RequestHandler {
  return async (req, res) => {
    const expected = readFormField(req, 'lang');
    const language = languages.find((one) => one === expected);
    if (language === undefined) throw new HttpError('badRequest', { detail: 'unknown language' });
    const back = safeReturnUrl(readFormField(req, 'redirect'), publicUrl) ?? '/';
    const { pathname, search } = new URL(back, publicUrl);
    belongToRequest(cookies, { req, res }, pathname + search);
    await saveForUser(req, language);
    writeLanguageCookie(cookies, res, language);
    res.redirect(303, back);
  };
}

import type { Request, RequestHandler, Response } from 'express';
import type { HostCookies } from './cookies.ts';
import { HttpError } from './errors.ts';
import { field } from './fields.ts';
import { type Language, languages } from './language.ts';
import { belongToRequest } from './request-traits.ts';
import { returnAddress } from './return-address.ts';

export const languageCookie = 'foyer_lang';
const keptMs = 365 * 24 * 60 * 60 * 1000;

/** Keeps the language for this browser; undefined: it has none of its own any more. */
export function rememberLanguage(cookies: HostCookies, res: Response, language: Language | undefined): void {
  if (language === undefined) cookies.clear(res, languageCookie);
  else cookies.set(res, languageCookie, language, { maxAgeMs: keptMs });
}

export interface LanguageChoice {
  cookies: HostCookies;
  publicUrl: string;
  /** Remembers the choice for the member who is signed in, if one is. Injected: members are not this room's. */
  keepForMember(req: Request, language: Language): Promise<void>;
}

/** POST /language: remembers the choice, for this browser and for the member, and goes back to the page it was made on. */
export function chooseLanguage({ cookies, publicUrl, keepForMember }: LanguageChoice): RequestHandler {
  return async (req, res) => {
    const wanted = field(req, 'lang');
    const language = languages.find((one) => one === wanted);
    if (language === undefined) throw new HttpError('badRequest', { detail: 'lang is none of our languages' });
    const back = returnAddress(field(req, 'redirect'), publicUrl) ?? '/';
    const { pathname, search } = new URL(back, publicUrl);
    belongToRequest(cookies, req, res, pathname + search);
    await keepForMember(req, language);
    rememberLanguage(cookies, res, language);
    res.redirect(303, back);
  };
}

import type { Request, RequestHandler, Response } from 'express';
import { safeReturnUrl } from './continuation.ts';
import type { HostCookies, HttpExchange } from './cookies.ts';
import { HttpError } from './errors.ts';
import type { OpenInput } from './forms.ts';
import { type Language, languages } from './language.ts';
import { readFormField, readQueryParam } from './request-body.ts';
import { belongToRequest } from './request-traits.ts';

export const languageCookie = 'foyer_lang';
const keptMs = 365 * 24 * 60 * 60 * 1000;

/** Stores the language in this browser; undefined deletes it. */
export function writeLanguageCookie(cookies: HostCookies, res: Response, language: Language | undefined): void {
  if (language === undefined) cookies.clear(res, languageCookie);
  else cookies.set(res, languageCookie, { value: language, maxAgeMs: keptMs });
}

/** The longest text that is kept; a page's own limits are far below. */
const maxInputLength = 1_000;
const maxFields = 40;
/** Pages name no secret; a request that does so gets none back either. */
const secretName = /pass|secret|token|credential|^code$|^(?:t|h)?otp$/i;

/** The input of the page's form, in the fields that the page names. */
function readOpenInput(req: Request, names: string): OpenInput | undefined {
  const fields = names.split(',', maxFields).filter((name) => /^\w+$/.test(name) && !secretName.test(name));
  if (fields.length === 0) return undefined;
  return Object.fromEntries(fields.map((name) => [name, readFormField(req, name).slice(0, maxInputLength)]));
}

interface LanguageFormOptions {
  cookies: HostCookies;
  publicUrl: string;
  /** Shows the input again on its page. */
  pages: { keepInput(exchange: HttpExchange, address: string, input: OpenInput): void };
  /** Stores the choice for the signed-in user, if there is one. Injected, because users belong to a higher layer. */
  saveForUser(req: Request, language: Language): Promise<void>;
}

/** POST /language: stores the choice for this browser and the user, and returns to the page, with the input of its form. */
export function submitLanguage({ cookies, publicUrl, pages, saveForUser }: LanguageFormOptions): RequestHandler {
  return async (req, res) => {
    const expected = readFormField(req, 'lang');
    const language = languages.find((one) => one === expected);
    if (language === undefined) throw new HttpError('badRequest', { detail: 'unknown language' });
    const back = safeReturnUrl(readQueryParam(req, 'redirect') ?? readFormField(req, 'redirect'), publicUrl) ?? '/';
    const { pathname, search } = new URL(back, publicUrl);
    belongToRequest(cookies, { req, res }, pathname + search);
    await saveForUser(req, language);
    writeLanguageCookie(cookies, res, language);
    const input = readOpenInput(req, readQueryParam(req, 'keep') ?? '');
    if (input) pages.keepInput({ req, res }, pathname + search, input);
    res.redirect(303, back);
  };
}

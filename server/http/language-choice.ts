import type { Request, RequestHandler } from 'express';
import type { HostCookies } from './cookies.ts';
import { field } from './fields.ts';
import { languageOf } from './language.ts';
import { returnAddress } from './return-address.ts';

const cookieName = 'foyer_lang';
const keptMs = 365 * 24 * 60 * 60 * 1000;

/** The language that this browser chose, if it did. */
export function rememberedLanguage(cookies: HostCookies, req: Request): string | undefined {
  return cookies.read(req, cookieName);
}

/** POST /language: remembers the choice and goes back to the page it was made on. */
export function chooseLanguage(cookies: HostCookies, publicUrl: string): RequestHandler {
  return (req, res) => {
    cookies.set(res, cookieName, languageOf(undefined, field(req, 'lang')), { maxAgeMs: keptMs });
    res.redirect(303, returnAddress(field(req, 'redirect'), publicUrl) ?? '/');
  };
}

import type { Request, RequestHandler } from 'express';
import type { HostCookies } from './cookies.ts';
import { field } from './fields.ts';
import { type Language, languageOf } from './language.ts';
import { returnAddress } from './return-address.ts';

const cookieName = 'foyer_lang';
const keptMs = 365 * 24 * 60 * 60 * 1000;

/** The language that this browser chose, if it did. */
export function rememberedLanguage(cookies: HostCookies, req: Request): string | undefined {
  return cookies.read(req, cookieName);
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
    const language = languageOf(undefined, field(req, 'lang'));
    await keepForMember(req, language);
    cookies.set(res, cookieName, language, { maxAgeMs: keptMs });
    res.redirect(303, returnAddress(field(req, 'redirect'), publicUrl) ?? '/');
  };
}

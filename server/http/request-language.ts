import type { Express as ExpressApp, Request } from 'express';
import type { HostCookies } from './cookies.ts';
import { type Language, type T, translator } from './language.ts';
import { createLanguageDetector } from './language-detector.ts';
import { languageCookie } from './language-form.ts';
import { getPageUser } from './page-user.ts';
import { toTraits } from './request-traits.ts';

declare global {
  namespace Express {
    interface Request {
      /** The language of the page that answers this request. */
      readonly language: Language;
      /** The texts in that language. */
      readonly t: T;
    }
  }
}

/**
 * Gives each request of the application `req.language` and `req.t`: the language of the cookie, else the user's own, else the
 * client app's (`ui_locales`), else the browser's, else English. Both are found when they are read, because the user is known
 * only after the look-up of the session. They are properties of `app.request`, from which Express makes every request, also
 * one whose error came first: a property of each request would slow every access to it. The handler of
 * i18next-http-middleware would copy the instance of i18next for each request.
 */
export function detectLanguages(app: ExpressApp, cookies: HostCookies): void {
  const languageOfRequest = createLanguageDetector<Request>({
    cookie: { name: languageCookie, read: (req) => cookies.read(req, languageCookie) },
    others: [
      { name: 'user', lookup: (req) => getPageUser(req)?.locale ?? undefined },
      { name: 'ui_locales', lookup: (req) => toTraits(cookies, req).lang },
    ],
  });
  Object.defineProperties(app.request, {
    language: {
      get(this: Request) {
        return languageOfRequest(this);
      },
    },
    t: {
      get(this: Request) {
        return translator(this.language);
      },
    },
  });
}

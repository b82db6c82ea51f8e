import type { Express as ExpressApp, Request } from 'express';
import type { HostCookies } from './cookies.ts';
import { createLanguageDetector, type Language, type T, translator } from './language.ts';
import { languageCookie } from './language-form.ts';
import { getPageUser } from './pages.ts';
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
 * Gives each request of the application `req.language` and `req.t`: the language of the cookie, else of the user, else
 * of the client app's request (`ui_locales`), else of the browser, else English. Both are getters, because the user is
 * known only after the session is loaded. They are properties of `app.request`, the prototype of every request, because
 * an own property on each request would slow every access to it, and because a request with an early error needs them
 * too. The handler of i18next-http-middleware would copy the instance of i18next for each request.
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

import { createElement } from 'react';
import { SignInPage } from '../../views/sign-in/sign-in-page.tsx';
import { isEmbeddedBrowser, type Provider } from '../federation/index.ts';
import {
  createPlaceholder,
  type DirectPage,
  isUnidentified,
  type Language,
  type PreparedPage,
  translator,
} from '../http/index.ts';
import type { SignInDeps } from './deps.ts';
import { passkeyRequestOptions, signInKeeps, toSignInPageProps } from './sign-in-page-props.ts';

type Deps = Pick<SignInDeps, 'pages' | 'cookies' | 'passkeys' | 'federation' | 'publicUrl'>;

/** Headers that change the answer: a part of the page, or the body of a GET request. */
const otherHeaders = ['foyer-part', 'content-length', 'transfer-encoding'];

/**
 * GET / of a visitor who sends no cookie and no query. Their page depends only on the language, on whether the browser is
 * embedded in another app, and on the providers in force, so it is rendered once for each of these. Every other visitor
 * gets the same page from `showLanding`.
 */
export function prepareSignInPage(deps: Deps): DirectPage {
  // A reload of the providers replaces their list.
  const prepared = new WeakMap<readonly Provider[], Map<string, PreparedPage>>();
  const challenge = createPlaceholder();
  const passkeys = deps.passkeys && {
    ...deps.passkeys,
    challenges: { ...deps.passkeys.challenges, make: () => challenge },
  };

  function prepare(lang: Language, userAgent: string | undefined): PreparedPage {
    const t = translator(lang);
    const continuation = { search: '' };
    const passkey = passkeyRequestOptions({ t }, { passkeys }, continuation);
    const props = toSignInPageProps({ t, lang, userAgent }, deps, { continuation, passkey });
    return deps.pages.prepare((ctx) => createElement(SignInPage, { ...props, ctx }), {
      lang,
      address: '/',
      title: () => t('signIn.title'),
      keeps: signInKeeps,
      placeholders: [challenge],
    });
  }

  return {
    accepts: (req) =>
      isUnidentified(req, deps.cookies) && otherHeaders.every((name) => req.headers[name] === undefined),
    answer(req, res) {
      const { all } = deps.federation.providers;
      const pages = prepared.get(all) ?? new Map<string, PreparedPage>();
      prepared.set(all, pages);
      const userAgent = req.headers['user-agent'];
      const key = `${req.language} ${isEmbeddedBrowser(userAgent)}`;
      const page = pages.get(key) ?? prepare(req.language, userAgent);
      pages.set(key, page);
      page({ req, res }, new Map(deps.passkeys && [[challenge, deps.passkeys.challenges.make()]]));
    },
  };
}

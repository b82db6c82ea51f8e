import type { Request, Router } from 'express';
import { createElement } from 'react';
import { ProviderLinkPage } from '../../views/settings/provider-pages.tsx';
import { providersHref } from '../../views/settings/providers-page.tsx';
import { acceptsBrowser, FederationError, loginPageUrl, type Provider } from '../federation/index.ts';
import { HttpError, methodNotAllowed, readQueryParam, renderRedirectPage } from '../http/index.ts';
import type { AccountDeps } from './deps.ts';
import { type MemberHandler, requireRecentAuth } from './require-recent-auth.ts';

/** The provider in the address. @throws {HttpError} notFound */
function named({ federation }: AccountDeps, req: Request): Provider {
  const provider = federation.providers.byId(readQueryParam(req, 'provider') ?? '');
  if (!provider) throw new HttpError('notFound', { detail: 'no such provider' });
  return provider;
}

/** GET /settings/providers/link?provider=: starts nothing. */
const show =
  (deps: AccountDeps): MemberHandler =>
  (req, res) => {
    const provider = named(deps, req);
    const { name } = provider;
    const { t } = req;
    const taken = acceptsBrowser(provider, req.get('user-agent'));
    const place = new URL(providersHref, deps.publicUrl).href;
    const instead = taken ? undefined : t('federation.buttons.embedded', { providers: name, place });
    deps.pages.send(
      req,
      res,
      200,
      (ctx) => createElement(ProviderLinkPage, { ctx, action: req.originalUrl, provider: name, instead }),
      { title: (ctx) => ctx.t('federation.linked.linking.title', { provider: name }), address: req.originalUrl },
    );
  };

/** POST: to the provider, only for this user in this session (`security.md`, rule 15). */
const begin =
  (deps: AccountDeps): MemberHandler =>
  async (req, res, { user, session }) => {
    const { pages, federation, log } = deps;
    const provider = named(deps, req);
    const intent = { kind: 'link', userId: user.id, sessionIdHash: session.idHash } as const;
    // Otherwise the person of a live session at the provider would be linked without a question.
    const beginning = { continuation: { search: '' }, remember: session.remember, forceFresh: true };
    try {
      const href = await federation.begin(req, res, provider, intent, beginning);
      renderRedirectPage(pages, req, res, href, { providerName: provider.name });
    } catch (error) {
      if (!(error instanceof FederationError)) throw error;
      log.info(
        { act: 'federation-link', provider: provider.id, outcome: error.kind, detail: error.detail },
        'account link',
      );
      res.redirect(303, loginPageUrl({ intent, continuation: '' }, provider, error.kind));
    }
  };

export function linkProviderRoutes(router: Router, deps: AccountDeps): void {
  router
    .route(`${providersHref}/link`)
    .get(requireRecentAuth(deps, show(deps)))
    .post(requireRecentAuth(deps, begin(deps)))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
}

import type { Express, RequestHandler, Router } from 'express';
import { pageRoutes } from '../http/index.ts';
import { finishPostedResponse, handleCallback, showClientKeys, showPostedResponse } from './callback-handlers.ts';
import type { FederationDeps } from './deps.ts';
import { showLinkConfirmation, submitLinkConfirmation } from './link-confirmation-handlers.ts';
import { logoutPosts, logoutRedirects } from './logout-routes.ts';
import { serveLogo } from './provider-buttons.ts';
import type { Provider } from './providers.ts';
import { decideReused, showReused } from './reused-page.ts';
import { assertionPosts, showMetadata, showRequestForm } from './saml-posts.ts';
import { linkConfirmationPath, reusedPath } from './sign-in-notices.ts';
import { submitStartSignIn } from './start-sign-in.ts';

const path = '/federation/:provider';

/** Precedes the guard against cross-site posts; each route reads its own body, and none uses the session. */
export function postsFromElsewhere(app: Express, deps: FederationDeps): void {
  // A reload may add the first one.
  const only =
    (isMeant: (provider: Provider) => boolean): RequestHandler =>
    (_req, _res, next) =>
      deps.providers.all.some(isMeant) ? next() : next('route');
  app.post(
    `${path}/acs`,
    only(({ saml }) => saml !== undefined),
    ...assertionPosts(deps),
  );
  app.post(
    `${path}/logout`,
    only(({ saml, oidc }) => (saml ?? oidc) !== undefined),
    ...logoutPosts(deps),
  );
}

export function federationRoutes(router: Router, deps: FederationDeps): void {
  const add = pageRoutes(router, deps);
  add(linkConfirmationPath, { get: showLinkConfirmation, post: submitLinkConfirmation });
  add(reusedPath, { get: showReused, post: decideReused });
  add(path, { post: submitStartSignIn });
  add(`${path}/logo`, { get: serveLogo });
  add(`${path}/callback`, { get: handleCallback });
  add(`${path}/jwks`, { get: showClientKeys });
  add(`${path}/finish`, { get: showPostedResponse, post: finishPostedResponse });
  add(`${path}/request`, { get: showRequestForm });
  add(`${path}/metadata`, { get: showMetadata });
  // Without an answer to other methods: a POST has its own route.
  router.route(`${path}/logout`).get(logoutRedirects(deps));
}

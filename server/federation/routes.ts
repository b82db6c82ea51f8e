import type { Express, Router } from 'express';
import { methodNotAllowed } from '../http/index.ts';
import { callback } from './callback.ts';
import type { FederationDeps } from './deps.ts';
import { showLinkConfirmation, submitLinkConfirmation } from './link-confirmation-handlers.ts';
import { serveLogo } from './logo.ts';
import { finishPostedResponse, showPostedResponse } from './posted-response-handlers.ts';
import { decideReused, showReused } from './reused-page.ts';
import { handleAssertion, handleLogoutPost, handleLogoutRedirect, showMetadata } from './saml-posts.ts';
import { reusedPath } from './sign-in-notices.ts';
import { submitStartSignIn } from './start-sign-in.ts';

/** Precedes the guard against cross-site posts; each route reads its own body, and none uses the session. */
export function postsFromElsewhere(app: Express, deps: FederationDeps): void {
  if (!deps.providers.all.some(({ kind }) => kind === 'saml')) return;
  app.post('/federation/:provider/acs', ...handleAssertion(deps));
  app.post('/federation/:provider/logout', ...handleLogoutPost(deps));
}

export function federationRoutes(router: Router, deps: FederationDeps): void {
  if (deps.providers.all.length === 0) return;
  router
    .route('/federation/link')
    .get(showLinkConfirmation(deps))
    .post(submitLinkConfirmation(deps))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
  router
    .route(reusedPath)
    .get(showReused(deps))
    .post(decideReused(deps))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
  router.route('/federation/:provider').post(submitStartSignIn(deps)).all(methodNotAllowed('POST'));
  router.route('/federation/:provider/logo').get(serveLogo(deps)).all(methodNotAllowed('GET', 'HEAD'));
  router.route('/federation/:provider/callback').get(callback(deps)).all(methodNotAllowed('GET', 'HEAD'));
  router
    .route('/federation/:provider/finish')
    .get(showPostedResponse(deps))
    .post(finishPostedResponse(deps))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
  router.route('/federation/:provider/metadata').get(showMetadata(deps)).all(methodNotAllowed('GET', 'HEAD'));
  router.route('/federation/:provider/logout').get(...handleLogoutRedirect(deps));
}

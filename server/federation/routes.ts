import type { Express, Router } from 'express';
import { methodNotAllowed } from '../http/index.ts';
import { submitBegin } from './begin-sign-in.ts';
import { callback } from './callback.ts';
import type { FederationDeps } from './deps.ts';
import { finishTicket, showTicket } from './finish-ticket.ts';
import { showLogo } from './logo.ts';
import { reusedPath } from './notices.ts';
import { decideOffer, showOffer } from './offer-page.ts';
import { decideReused, showReused } from './reused-page.ts';
import { receiveAssertion, receiveLogout, receiveLogoutPost, showMetadata } from './saml-posts.ts';

/** Before the guard against posts from other sites; each reads its own body, and none touches the session. */
export function postsFromElsewhere(app: Express, deps: FederationDeps): void {
  if (!deps.providers.all.some(({ kind }) => kind === 'saml')) return;
  app.post('/federation/:provider/acs', ...receiveAssertion(deps));
  app.post('/federation/:provider/logout', ...receiveLogoutPost(deps));
}

export function federationRoutes(router: Router, deps: FederationDeps): void {
  if (deps.providers.all.length === 0) return;
  router
    .route('/federation/link')
    .get(showOffer(deps))
    .post(decideOffer(deps))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
  router
    .route(reusedPath)
    .get(showReused(deps))
    .post(decideReused(deps))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
  router.route('/federation/:provider').post(submitBegin(deps)).all(methodNotAllowed('POST'));
  router.route('/federation/:provider/logo').get(showLogo(deps)).all(methodNotAllowed('GET', 'HEAD'));
  router.route('/federation/:provider/callback').get(callback(deps)).all(methodNotAllowed('GET', 'HEAD'));
  router
    .route('/federation/:provider/finish')
    .get(showTicket(deps))
    .post(finishTicket(deps))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
  router.route('/federation/:provider/metadata').get(showMetadata(deps)).all(methodNotAllowed('GET', 'HEAD'));
  router.route('/federation/:provider/logout').get(...receiveLogout(deps));
}

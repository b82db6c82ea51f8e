import type { Router } from 'express';
import { methodNotAllowed } from '../http/index.ts';
import type { SignInDeps } from './deps.ts';
import { landing } from './landing.ts';
import { submit } from './submit.ts';
import { decideTerms, showTerms } from './terms.ts';

export function signInRoutes(router: Router, deps: SignInDeps): void {
  router.route('/').get(landing(deps)).all(methodNotAllowed('GET', 'HEAD'));
  router.route('/sign-in').post(submit(deps)).all(methodNotAllowed('POST'));
  router
    .route('/tos')
    .get(showTerms(deps))
    .post(decideTerms(deps))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
}

import type { Router } from 'express';
import { methodNotAllowed } from '../http/index.ts';
import type { SignInDeps } from './deps.ts';
import { landing, toSignInPage } from './landing.ts';
import { showMailedCode, submitMailedCode } from './mailed-code-page.ts';
import { submitPasskey } from './passkey.ts';
import { confirmByPasskey } from './passkey-again.ts';
import { confirmByProvider } from './provider-again.ts';
import { showReAuthenticate, submitReAuthenticate } from './re-authenticate.ts';
import { showSecondFactor, submitSecondFactor } from './second-factor.ts';
import { submit } from './submit.ts';
import { decideTerms, showTerms } from './terms.ts';

export function signInRoutes(router: Router, deps: SignInDeps): void {
  router.route('/').get(landing(deps)).all(methodNotAllowed('GET', 'HEAD'));
  router
    .route('/sign-in')
    .get(toSignInPage)
    .post(submit(deps))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
  router
    .route('/sign-in/code')
    .get(showMailedCode(deps))
    .post(submitMailedCode(deps))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
  const { passkeys } = deps;
  if (passkeys) {
    const only = methodNotAllowed('POST');
    router.route('/sign-in/passkey').post(submitPasskey(deps, passkeys)).all(only);
    router.route('/re-authenticate/passkey').post(confirmByPasskey(deps, passkeys)).all(only);
  }
  if (deps.federation.providers.all.length > 0) {
    router.route('/re-authenticate/provider/:provider').post(confirmByProvider(deps)).all(methodNotAllowed('POST'));
  }
  router
    .route('/second-factor')
    .get(showSecondFactor(deps))
    .post(submitSecondFactor(deps))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
  router
    .route('/re-authenticate')
    .get(showReAuthenticate(deps))
    .post(submitReAuthenticate(deps))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
  router
    .route('/tos')
    .get(showTerms(deps))
    .post(decideTerms(deps))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
}

import type { Router } from 'express';
import { methodNotAllowed } from '../http/index.ts';
import type { SignInDeps } from './deps.ts';
import { showMailedCode, submitMailedCode } from './mailed-code-page.ts';
import { submitPasskey } from './passkey-sign-in-handlers.ts';
import { submitPassword } from './password-handlers.ts';
import { reauthenticateByPasskey } from './reauthenticate-by-passkey.ts';
import { reauthenticateByProvider } from './reauthenticate-by-provider.ts';
import { showReauthenticate, submitReauthenticate } from './reauthenticate-handlers.ts';
import { showSecondFactor, submitSecondFactor } from './second-factor-handlers.ts';
import { landing, toSignInPage } from './sign-in-handlers.ts';
import { showTerms, submitTerms } from './terms-handlers.ts';

export function signInRoutes(router: Router, deps: SignInDeps): void {
  router.route('/').get(landing(deps)).all(methodNotAllowed('GET', 'HEAD'));
  router
    .route('/sign-in')
    .get(toSignInPage)
    .post(submitPassword(deps))
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
    router.route('/re-authenticate/passkey').post(reauthenticateByPasskey(deps, passkeys)).all(only);
  }
  if (deps.federation.providers.all.length > 0) {
    router
      .route('/re-authenticate/provider/:provider')
      .post(reauthenticateByProvider(deps))
      .all(methodNotAllowed('POST'));
  }
  router
    .route('/second-factor')
    .get(showSecondFactor(deps))
    .post(submitSecondFactor(deps))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
  router
    .route('/re-authenticate')
    .get(showReauthenticate(deps))
    .post(submitReauthenticate(deps))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
  router
    .route('/tos')
    .get(showTerms(deps))
    .post(submitTerms(deps))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
}

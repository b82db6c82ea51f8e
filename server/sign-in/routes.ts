import type { Router } from 'express';
import { pageRoutes } from '../http/index.ts';
import type { SignInDeps } from './deps.ts';
import { showMailedCode, submitMailedCode } from './mailed-code-page.ts';
import { submitPasskey } from './passkey-sign-in-handlers.ts';
import { submitPassword } from './password-handlers.ts';
import { reauthenticateByPasskey } from './reauthenticate-by-passkey.ts';
import { reauthenticateByProvider } from './reauthenticate-by-provider.ts';
import { showReauthenticate, submitReauthenticate } from './reauthenticate-handlers.ts';
import { showSecondFactor, submitSecondFactor } from './second-factor-handlers.ts';
import { showLanding, toSignInPage } from './sign-in-handlers.ts';
import { showTerms, submitTerms } from './terms-handlers.ts';

export function signInRoutes(router: Router, deps: SignInDeps): void {
  const add = pageRoutes(router, deps);
  add('/', { get: showLanding });
  add('/sign-in', { get: toSignInPage, post: submitPassword });
  add('/sign-in/code', { get: showMailedCode, post: submitMailedCode });
  const { passkeys } = deps;
  if (passkeys) {
    add('/sign-in/passkey', { post: submitPasskey(passkeys) });
    add('/re-authenticate/passkey', { post: reauthenticateByPasskey(passkeys) });
  }
  add('/re-authenticate/provider/:provider', { post: reauthenticateByProvider });
  add('/second-factor', { get: showSecondFactor, post: submitSecondFactor });
  add('/re-authenticate', { get: showReauthenticate, post: submitReauthenticate });
  add('/tos', { get: showTerms, post: submitTerms });
}

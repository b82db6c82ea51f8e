import type { Router } from 'express';
import { methodNotAllowed } from '../http/index.ts';
import type { PasswordDeps } from './deps.ts';
import { askAtForgot, showForgot } from './forgot-page.ts';
import { showReset, submitReset } from './reset-page.ts';
import { removeResetWaysIn, showResetWaysIn, waysInPath } from './reset-ways-in.ts';

export function passwordRoutes(router: Router, deps: PasswordDeps): void {
  const only = methodNotAllowed('GET', 'HEAD', 'POST');
  router.route('/forgot-password').get(showForgot(deps)).post(askAtForgot(deps)).all(only);
  router.route('/reset-password').get(showReset(deps)).post(submitReset(deps)).all(only);
  router.route(waysInPath).get(showResetWaysIn(deps)).post(removeResetWaysIn(deps)).all(only);
}

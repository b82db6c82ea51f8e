import type { Router } from 'express';
import { methodNotAllowed } from '../http/index.ts';
import type { PasswordDeps } from './deps.ts';
import { showForgotPassword, submitForgotPassword } from './forgot-password-handlers.ts';
import { recentFactorsPath, removeRecentFactors, showRecentFactors } from './recent-factors-handlers.ts';
import { showReset, submitReset } from './reset-password-handlers.ts';

export function passwordRoutes(router: Router, deps: PasswordDeps): void {
  const only = methodNotAllowed('GET', 'HEAD', 'POST');
  router.route('/forgot-password').get(showForgotPassword(deps)).post(submitForgotPassword(deps)).all(only);
  router.route('/reset-password').get(showReset(deps)).post(submitReset(deps)).all(only);
  router.route(recentFactorsPath).get(showRecentFactors(deps)).post(removeRecentFactors(deps)).all(only);
}

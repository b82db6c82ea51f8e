import type { Router } from 'express';
import { pageRoutes } from '../http/index.ts';
import type { PasswordDeps } from './deps.ts';
import { showForgotPassword, submitForgotPassword } from './forgot-password-handlers.ts';
import { recentFactorsPath, removeRecentFactors, showRecentFactors } from './recent-factors-handlers.ts';
import { showReset, submitReset } from './reset-password-handlers.ts';

export function passwordRoutes(router: Router, deps: PasswordDeps): void {
  const add = pageRoutes(router, deps);
  add('/forgot-password', { get: showForgotPassword, post: submitForgotPassword });
  add('/reset-password', { get: showReset, post: submitReset });
  add(recentFactorsPath, { get: showRecentFactors, post: removeRecentFactors });
}

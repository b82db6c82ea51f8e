import type { Router } from 'express';
import { pageRoutes } from '../http/index.ts';
import { showVerifyUser, submitStorage } from './bind-session-handlers.ts';
import { showConsent, submitConsent } from './consent-handlers.ts';
import { showDashboard } from './dashboard-handlers.ts';
import type { OidcDeps } from './deps.ts';
import { deviceDonePath, devicePath, deviceRefusedPath } from './device-addresses.ts';
import { redirectToDevicePage, showDeviceEnd } from './device-handlers.ts';
import { redirectLogin } from './login-address.ts';
import { showPlanRequired, submitPlanRequired } from './plan-required-handlers.ts';
import { restartAuthorization, restartPath } from './restart-authorization.ts';
import { askSignOut, questionPath, signOut, signOutOrAsk } from './sign-out-handlers.ts';

/** The pages and calls of this module for browsers. */
export function oidcPageRoutes(router: Router, deps: OidcDeps): void {
  const add = pageRoutes(router, deps);
  add('/verify-user', { get: showVerifyUser });
  add(restartPath, { get: restartAuthorization });
  add('/storage', { post: submitStorage });
  add('/consent', { get: showConsent, post: submitConsent });
  add('/not-in-plan', { get: showPlanRequired, post: submitPlanRequired });
  add(devicePath, { get: redirectToDevicePage });
  add(deviceDonePath, { get: showDeviceEnd('done') });
  add(deviceRefusedPath, { get: showDeviceEnd('refused') });
  add(questionPath, { get: askSignOut });
  add('/logout', { get: signOutOrAsk, post: signOut });
  add('/login', { get: redirectLogin });
  add('/dashboard', { get: showDashboard });
}

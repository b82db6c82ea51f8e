import type { Router } from 'express';
import { methodNotAllowed, pageRoutes } from '../http/index.ts';
import { addPasskeyRoutes } from './add-passkey-handlers.ts';
import { membershipActRoutes } from './cancel-and-resume-handlers.ts';
import { connectedAppRoutes } from './connected-apps.ts';
import { deleteAccountRoutes } from './delete-account-handlers.ts';
import type { AccountDeps, SettingsSettings } from './deps.ts';
import { deviceRoutes } from './devices-handlers.ts';
import { emailRoutes } from './email-handlers.ts';
import { dataRoutes } from './export-handlers.ts';
import { factorResetRoutes } from './factor-reset-card.ts';
import { createFormDrafts } from './form-drafts.ts';
import { accountHome } from './home-handlers.ts';
import { linkProviderRoutes } from './link-provider-handlers.ts';
import { membershipRoutes } from './membership-handlers.ts';
import { mfaRoutes } from './mfa-handlers.ts';
import { nameRoutes } from './name-handlers.ts';
import { notificationRoutes } from './notifications.ts';
import { passkeyRoutes } from './passkeys-handlers.ts';
import { passwordRoutes } from './password-handlers.ts';
import { membershipMoneyRoutes } from './pay-invoice-handlers.ts';
import { phoneRoutes } from './phone-handlers.ts';
import { profileRoutes } from './profile-handlers.ts';
import { providerRoutes } from './providers-handlers.ts';
import { recoveryCodeRoutes } from './recovery-codes-handlers.ts';
import { requireUser } from './require-recent-auth.ts';
import { mfaSmsRoutes } from './sms-enrolment-handlers.ts';
import { totpRoutes } from './totp-enrolment-handlers.ts';

/** Each subject of the settings has a file with its paths; page and form share a path. */
export function settingsRoutes(router: Router, settings: SettingsSettings): void {
  const deps: AccountDeps = { ...settings, formDrafts: createFormDrafts(settings) };
  router
    .route('/settings')
    .get(requireUser(deps, accountHome(deps)))
    .all(methodNotAllowed('GET', 'HEAD'));
  const add = pageRoutes(router, deps);
  nameRoutes(add);
  profileRoutes(add);
  emailRoutes(router, deps);
  phoneRoutes(router, deps);
  passwordRoutes(add);
  mfaRoutes(add);
  totpRoutes(add);
  mfaSmsRoutes(add);
  recoveryCodeRoutes(add);
  passkeyRoutes(add);
  addPasskeyRoutes(add, deps);
  providerRoutes(add);
  linkProviderRoutes(add);
  connectedAppRoutes(router, deps);
  factorResetRoutes(router, deps);
  membershipRoutes(router, deps);
  membershipActRoutes(router, deps);
  membershipMoneyRoutes(router, deps);
  dataRoutes(router, deps);
  deleteAccountRoutes(router, deps);
  deviceRoutes(router, deps);
  notificationRoutes(router, deps);
}

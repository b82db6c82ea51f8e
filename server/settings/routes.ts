import type { Router } from 'express';
import { methodNotAllowed } from '../http/index.ts';
import { connectedAppRoutes } from './connected-apps.ts';
import { dataRoutes } from './data.ts';
import { deleteAccountRoutes } from './delete-account.ts';
import type { AccountDeps, SettingsSettings } from './deps.ts';
import { deviceRoutes } from './devices.ts';
import { emailRoutes } from './email.ts';
import { factorResetRoutes } from './factor-reset.ts';
import { requireUser } from './guard.ts';
import { accountHome } from './home.ts';
import { membershipRoutes } from './membership.ts';
import { membershipActRoutes } from './membership-acts.ts';
import { membershipMoneyRoutes } from './membership-money.ts';
import { mfaRoutes } from './mfa.ts';
import { mfaSmsRoutes } from './mfa-sms.ts';
import { nameRoutes } from './name.ts';
import { notificationRoutes } from './notifications.ts';
import { passkeyRoutes } from './passkeys.ts';
import { passwordRoutes } from './password.ts';
import { phoneRoutes } from './phone.ts';
import { profileRoutes } from './profile.ts';
import { providerRoutes } from './providers.ts';
import { recoveryCodeRoutes } from './recovery-codes.ts';
import { createFormDrafts } from './stash.ts';
import { totpRoutes } from './totp.ts';

/** Every subject of the settings has a file of its own with its paths; each path is the form's, too. */
export function settingsRoutes(router: Router, settings: SettingsSettings): void {
  const deps: AccountDeps = { ...settings, stash: createFormDrafts(settings) };
  router
    .route('/settings')
    .get(requireUser(deps, accountHome(deps)))
    .all(methodNotAllowed('GET', 'HEAD'));
  nameRoutes(router, deps);
  profileRoutes(router, deps);
  emailRoutes(router, deps);
  phoneRoutes(router, deps);
  passwordRoutes(router, deps);
  mfaRoutes(router, deps);
  totpRoutes(router, deps);
  mfaSmsRoutes(router, deps);
  recoveryCodeRoutes(router, deps);
  passkeyRoutes(router, deps);
  providerRoutes(router, deps);
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

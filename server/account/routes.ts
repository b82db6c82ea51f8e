import type { Router } from 'express';
import { pageRoutes } from '../http/index.ts';
import { activityPage } from './activity-handlers.ts';
import { connectedAppPages } from './connected-apps.ts';
import { contactPages } from './contact/contact-form-handlers.ts';
import { undoEmailChangePage } from './contact/undo-email-change-handlers.ts';
import { deleteAccountPage } from './deletion/delete-account-handlers.ts';
import { deletionRequestedPage } from './deletion/deletion-requested-handlers.ts';
import type { AccountDeps, AccountSettings } from './deps.ts';
import { devicePages } from './devices/devices-handlers.ts';
import { exportPage } from './export/export-handlers.ts';
import { cancelFactorResetPage } from './factor-reset/cancel-factor-reset-handlers.ts';
import { factorResetPage } from './factor-reset/factor-reset-card.ts';
import { createFormDrafts } from './form-drafts.ts';
import { homePage } from './home-handlers.ts';
import { billingDetailsPage } from './membership/billing-details-handlers.ts';
import { membershipActPages } from './membership/cancel-and-resume-handlers.ts';
import { cancelByMailPages } from './membership/cancel-by-mail-handlers.ts';
import { membershipPage } from './membership/membership-handlers.ts';
import { pausePage } from './membership/pause-handlers.ts';
import { membershipMoneyPages } from './membership/pay-invoice-handlers.ts';
import { seatsPage } from './membership/seats-handlers.ts';
import { withdrawPage } from './membership/withdraw-handlers.ts';
import { notificationsPage } from './notifications.ts';
import { picturePage } from './profile/picture-handlers.ts';
import { namePage, userDataPage } from './profile/profile-handlers.ts';
import { linkProviderPage } from './providers/link-provider-handlers.ts';
import { providerPages } from './providers/providers-handlers.ts';
import { addPasskeyPage } from './security/add-passkey-handlers.ts';
import { mfaPage } from './security/mfa-handlers.ts';
import { passkeyPages } from './security/passkeys-handlers.ts';
import { passwordPage } from './security/password-handlers.ts';
import { recoveryCodesPage } from './security/recovery-codes-handlers.ts';
import { mfaSmsPages } from './security/sms-enrolment-handlers.ts';
import { totpPages } from './security/totp-enrolment-handlers.ts';
import type { PageRoute } from './settings-page.ts';

const pages: readonly PageRoute[] = [
  homePage,
  namePage,
  userDataPage,
  ...contactPages,
  passwordPage,
  mfaPage,
  ...totpPages,
  ...mfaSmsPages,
  recoveryCodesPage,
  ...passkeyPages,
  ...providerPages,
  linkProviderPage,
  ...connectedAppPages,
  factorResetPage,
  membershipPage,
  exportPage,
  deleteAccountPage,
  ...devicePages,
  activityPage,
  notificationsPage,
  undoEmailChangePage,
  deletionRequestedPage,
  cancelFactorResetPage,
];

/** Without plans on sale there is nothing to cancel or to pay. */
const pagesWithPlans: readonly PageRoute[] = [
  billingDetailsPage,
  ...membershipActPages,
  pausePage,
  seatsPage,
  ...cancelByMailPages,
  withdrawPage,
  ...membershipMoneyPages,
];

export function accountRoutes(router: Router, settings: AccountSettings): void {
  const deps: AccountDeps = { ...settings, formDrafts: createFormDrafts(settings) };
  const { passkeys, membership } = deps;
  const add = pageRoutes(router, deps);
  const offered = [
    ...pages,
    ...(deps.uploadsBaseUrl === undefined ? [] : [picturePage(deps.uploadsBaseUrl)]),
    ...(passkeys ? [addPasskeyPage(passkeys)] : []),
    ...(membership.sold ? pagesWithPlans : []),
  ];
  for (const { path, get, post } of offered) add(path, { get, post });
}

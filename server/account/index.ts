/**
 * The module of the account pages (the specification's section 2, Security settings): name, address, number, password,
 * second factors, passkeys, devices, providers, connected apps, membership, data, and deletion.
 * Owns the pages and forms under /settings and what they do to contact data (codes, the undo of a change of address), the
 * export and the deletion of accounts with their waiting periods (GDPR, articles 15, 17 and 20), and the reset of a lost
 * second factor. Does not own the rules of credentials (password/, mfa/, passkeys/), sessions (sessions/), plans and
 * cards (billing/), nor the stored data of other modules.
 */
export { accountOperations } from './account-operations.ts';
export { createContactDeps } from './contact/contact-deps.ts';
export { contactOperations } from './contact/contact-operations.ts';
export {
  ContactChangeRefusedError,
  changeContactByOperator,
  type OperatorContactChange,
} from './contact/operator-change.ts';
export { createDeletion, createDeletionDeps, type Deletion } from './deletion/create-deletion.ts';
export { eraseNow } from './deletion/delete-due-accounts.ts';
export { findDeletion, listErasedUsers, postponeDeletions } from './deletion/deletion-store.ts';
export {
  cancelDeletionsRequestedSince,
  cancelPendingDeletion,
  requestDeletion,
  waitDays,
} from './deletion/request-deletion.ts';
export type { ConnectedApp, ConnectedApps } from './deps.ts';
export { cancelFactorReset, cancelResetsRequestedSince, requestFactorReset } from './factor-reset/factor-reset.ts';
export {
  cancelEveryReset,
  type FactorReset,
  findWaitingReset,
  listPendingResets,
} from './factor-reset/factor-reset-store.ts';
export { uploadPaths } from './profile/picture-handlers.ts';
export { profileSaver } from './profile/profile-calls.ts';
export { saveProfile } from './profile/save-profile.ts';
export { isRecentlyAuthenticated, reAuthenticateFor } from './recent-auth-guard.ts';
export { accountRoutes } from './routes.ts';
export { qrCode } from './security/qr-code.ts';

/**
 * The module of account deletion: the export of all stored data, the deletion after a period in which a sign-in cancels
 * it (GDPR, articles 15, 17 and 20), and an operator's removal of a lost second factor.
 * Owns both waiting periods with their mails, the list of personal data of every module, and the pages that the mails
 * link to. Does not own the data (each module's own), nor the pages under /settings (settings/).
 */

export { deletionRequestedPath } from './deletion-requested-handlers.ts';
export { findDeletion } from './deletion-store.ts';
export {
  cancelFactorReset,
  cancelResetsRequestedSince,
  type RequestFactorResetResult,
  requestFactorReset,
} from './factor-reset.ts';
export { type FactorReset, findWaitingReset, listPendingResets } from './factor-reset-store.ts';
export { type RequestDeletionResult, waitDays } from './request-deletion.ts';
export { createDeletionModule, type DeletionModule } from './room.ts';

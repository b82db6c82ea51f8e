/**
 * The room of members who leave: a copy of everything that is stored of them, the deletion of the account after a while in
 * which signing in cancels it (GDPR, articles 15, 17 and 20), and the second factor that an operator takes away from a member
 * who has lost it.
 *
 * Owns both waits with their mails, the list of what every room holds of a member, and the pages that the mails lead to. Does
 * not own what is held (each room's own), nor the pages under /settings (settings/).
 */

export { deletionRequestedPath } from './deletion-requested-handlers.ts';
export { findDeletion } from './deletion-store.ts';
export type { CancellationTiming, PersonalDataSource, RenewingSubscription, SubscriptionOnDeletion } from './deps.ts';
export {
  cancelFactorReset,
  cancelResetsRequestedSince,
  type RequestFactorResetResult,
  requestFactorReset,
} from './factor-reset.ts';
export { type FactorReset, findWaitingReset, listPendingResets } from './factor-reset-store.ts';
export { type RequestDeletionResult, waitDays } from './request-deletion.ts';
export { createDeletionModule, type DeletionModule } from './room.ts';

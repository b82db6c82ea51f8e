/**
 * The module of memberships: plans, purchases, promotion codes, cards, orders, and their state at Stripe (the
 * specification's sections 3, 5, 7 and 9; docs/plans.md).
 * Owns the catalogue, the stored subscriptions and orders, every call to Stripe and every webhook from it, and the rule
 * for the effective plan. Does not own the pages for choosing and paying (checkout/), the page of the settings
 * (settings/), users and partners' deals (users/), nor the next step (sign-in/).
 */
export {
  type Catalogue,
  createCatalogue,
  type Plan,
  type PlanType,
  planRank,
  type Trial,
  validityDays,
} from './catalogue.ts';
export { hasBegun } from './changeable-subscription.ts';
export { membershipClaims } from './claims.ts';
export type { BillingDeps, CardLimitSettings } from './deps.ts';
export { effectivePlan, graceEndsAt, listEntitlements, paymentGraceEnds, trialUntil } from './effective-plan.ts';
export { assignBasePlan } from './free-plans.ts';
export {
  type AppliedDiscount,
  isPaused,
  type Membership,
  type NotedAct,
  type PendingChange,
  type SavedCard,
  type SubscriptionStatus,
  trialPlanKey,
  type UnpaidInvoice,
} from './membership.ts';
export { offerPartnerDeals } from './offer-partner-deals.ts';
export { membershipOperations, planCommands } from './operations.ts';
export { findOrderByInvoice, listOrders, type Order } from './order-store.ts';
export { billingDataSource, subscriptionOnDeletion } from './personal-data.ts';
export { type Drift, type ExpectedPrice, findDrift, type PlanAct } from './plan-drift.ts';
export { readPlansFromStripe, type SyncedPlan, syncPlans } from './plan-sync.ts';
export { diffWithStripe, type ReconcileResult, reconcileAll } from './reconcile.ts';
export { findRenewingMembership, type RenewingMembership } from './renewing-membership.ts';
export {
  type BillingService,
  type ChosenPromotion,
  type DisplayedQuote,
  type InvoiceView,
  type PromotionRefusal,
  type PromotionResult,
  type PurchaseResult,
  type PurchaseView,
  type Quote,
  type SaveCardResult,
  type SetupIntentResult,
  StripeUnavailableError,
} from './results.ts';
export { type BillingModule, createBillingModule, membershipDeps } from './room.ts';
export { type BillingClock, createStandInClock, type StandInAddress } from './stand-in-clock.ts';
export { createStripe, type StripeClient } from './stripe-client.ts';
export type { Difference, DifferenceKind } from './stripe-differences.ts';
export { createWebhooks, webhookPath } from './stripe-webhooks.ts';
export type { CancellationTiming, RenewingSubscription, SubscriptionOnDeletion } from './subscription-on-deletion.ts';

/**
 * The room of memberships: plans, purchases, promotion codes, cards, orders, and what Stripe says of all of them
 * (the specification's sections 3, 5, 7 and 9; docs/plans.md).
 *
 * Owns the catalogue, what is stored of subscriptions and orders, every call to Stripe and every webhook from it, and the
 * rule by which a member has a plan. Does not own the pages on which plans are chosen and paid (checkout/), the page of the
 * settings (settings/), members and partners' deals (account/), nor what comes next (sign-in/).
 */
export {
  type Catalogue,
  createCatalogue,
  type Plan,
  type PlanType,
  rankOf,
  type Trial,
  validityDays,
} from './catalogue.ts';
export { membershipClaims } from './claims.ts';
export type { CardLimits, MembershipDeps } from './deps.ts';
export type { Difference, DifferenceKind } from './differences.ts';
export { effectivePlan, entitlementsOf, graceEnds, trialUntil, waitEnds } from './effective-plan.ts';
export { membershipHolding, membershipOnLeaving } from './leaving.ts';
export { hasBegun } from './live-subscription.ts';
export { offerDeals } from './offers.ts';
export { membershipOperations, planChanges } from './operations.ts';
export { findOrderOf, type Order, ordersOf } from './order-store.ts';
export { type Drift, driftOf, type PlanAct, type WantedPrice } from './plan-drift.ts';
export { readPlans, type SyncedPlan, syncPlans } from './plan-sync.ts';
export { diffWithStripe, type Reconciled, reconcileWithStripe } from './reconcile.ts';
export {
  type Announced,
  BillingUnavailable,
  type CardBegun,
  type CardSaved,
  type ChosenPromotion,
  type Confirmed,
  type InvoiceShown,
  type MembershipRules,
  type PromotionRefusal,
  type PromotionResult,
  type Purchase,
  type Quote,
} from './results.ts';
export { type MembershipRoom, membershipDeps, openMembership } from './room.ts';
export { type Running, runningMembership } from './running.ts';
export {
  type AppliedDiscount,
  isPaused,
  type Membership,
  type NotedAct,
  type PendingChange,
  type SavedCard,
  type SubscriptionStatus,
  trialPlan,
  type UnpaidInvoice,
} from './standing.ts';
export { createStripe, type StripeClient } from './stripe.ts';
export { createWebhooks, webhookPath } from './webhooks.ts';
export { giveBasePlan } from './without-card.ts';

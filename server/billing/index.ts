/**
 * The module of memberships: plans, purchases, promotion codes, cards, orders, their state at Stripe, and the step PLAN
 * in all flows (the specification's sections 2, 3, 5, 7 and 9; docs/plans.md).
 * Owns the catalogue, the stored subscriptions and orders, every call to Stripe and every webhook from it, the rule for
 * the effective plan, and the pages for choosing and paying: amounts in forms are only compared with the announced ones.
 * Does not own the page of the settings (account/), users and partners' deals (users/), nor the next step (sign-in/).
 */
export { membershipOperations, planCommands } from './api/operations.ts';
export { type BillingModule, createBillingModule, membershipDeps } from './billing-module.ts';
export { toOfferedMethods } from './cards/payment-methods.ts';
export {
  type Catalogue,
  createCatalogue,
  findPlan,
  ofOneSeat,
  type Plan,
  parseSeats,
  planAfterYear,
  planRank,
  validityDays,
  withSeats,
} from './catalogue/catalogue.ts';
export { type Drift, type ExpectedPrice, findDrift, type PlanAct } from './catalogue/plan-drift.ts';
export { readPlansFromStripe, syncPlans } from './catalogue/plan-sync.ts';
export { cardPage, renderPaymentAction } from './checkout/card-handlers.ts';
export { runOrRerender } from './checkout/checkout-context.ts';
export { planPageUrl } from './checkout/checkout-flow.ts';
export { checkoutRoutes } from './checkout/checkout-routes.ts';
export { refusalText, tooManyText } from './checkout/checkout-texts.ts';
export { findWaitingDeal, partnerDealUrl } from './checkout/partner-deal.ts';
export {
  asSubscribed,
  laterAmountsText,
  planLine,
  planPrice,
  priceText,
  type TextContext,
} from './checkout/plan-view.ts';
export {
  findRefund,
  readAnnouncedDeletion,
  readAnnouncedEnd,
  readAnnouncedEndsAt,
} from './checkout/refund-view.ts';
export type { StripeForBrowsers } from './checkout/stripe-js.ts';
export type { BillingDeps } from './deps.ts';
export { detailsForm, saveDetailsAction, toDetailsTexts } from './details/details-form.ts';
export { listCountries, toDetailsView } from './details/details-view.ts';
export { createGiftCode, toGiftCodeHash } from './gifts/gift-code.ts';
export {
  findGift,
  findGiftById,
  forgetErasedUsers,
  type Gift,
  giftState,
  insertGift,
  listGifts,
  revokeGift,
} from './gifts/gift-store.ts';
export { countTasks } from './jobs/task-store.ts';
export type { EndOnNotice, Order } from './orders/order.ts';
export { findLatestOrder, listOrders } from './orders/order-store.ts';
export { type RefundResult, refundInvoice } from './orders/refund-invoice.ts';
export { billingDataSource, subscriptionOnDeletion } from './personal-data.ts';
export {
  type BillingService,
  type InvoiceView,
  type PurchaseResult,
  StripeUnavailableError,
} from './results.ts';
export { diffWithStripe, type ReconcileResult, reconcileAll } from './stripe/reconcile.ts';
export { type BillingClock, createStandInClock, type StandInAddress } from './stripe/stand-in-clock.ts';
export { createStripe, listMissingTaxSettings, type StripeClient } from './stripe/stripe-client.ts';
export type { Difference } from './stripe/stripe-differences.ts';
export { recordContactChange } from './subscription/contact-store.ts';
export type { AnnouncedEnd, ProratedEndResult } from './subscription/early-end.ts';
export { assignBasePlan } from './subscription/free-plans.ts';
export {
  type Membership,
  type NextCharge,
  type SubscriptionStatus,
  toFullPeriodEnd,
  toLaterAmounts,
  trialPlanKey,
} from './subscription/membership.ts';
export { listEntitlements, membershipClaims } from './subscription/membership-claims.ts';
export {
  effectivePlan,
  findPlanOfSeats,
  graceEndsAt,
  type MembershipState,
  toMembershipState,
} from './subscription/membership-state.ts';
export { offerPartnerDeals } from './subscription/offer-partner-deals.ts';
export { toAnnouncedPause } from './subscription/pause.ts';
export { canPause } from './subscription/pause-rules.ts';
export { requestCustomer } from './subscription/request-customer.ts';
export type { CancellationTiming, SubscriptionOnDeletion } from './subscription/subscription-on-deletion.ts';
export { createWebhooks, webhookPath } from './webhooks/stripe-webhooks.ts';

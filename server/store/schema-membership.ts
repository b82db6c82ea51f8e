import type { PlanId, StripeCustomerId, StripeInvoiceId, StripeSubscriptionId, UserId } from '../shared/index.ts';

/** Tables of plans, cards and orders. See `schema.ts`; amounts are integer cents. */

/**
 * The membership of a user, as last read from Stripe. Only one function writes it (`billing/subscription/sync-from-stripe.ts`),
 * which reads Stripe first and overwrites only the version that it has seen.
 */
export interface MembershipTable {
  userId: UserId;
  /** Stripe's customer; null until there is one. */
  customerId: StripeCustomerId | null;
  /** Start of the requests for it under the present idempotency keys, which Stripe keeps for a day. */
  customerAskedAt: number | null;
  /** Length of the user's trial; 0: none. */
  trialDays: number;
  subscriptionId: StripeSubscriptionId | null;
  /** Number of earlier subscriptions of this user: part of the idempotency key of the next. */
  generation: number;
  /** Stripe's status of the subscription; none without a subscription. */
  status:
    | 'none'
    | 'trialing'
    | 'active'
    | 'past_due'
    | 'paused'
    | 'unpaid'
    | 'incomplete'
    | 'incomplete_expired'
    | 'canceled';
  /** The plan of the subscription's price; `trial` for the initial plan; null for any other price. */
  pricedPlanId: PlanId | null;
  periodStart: number | null;
  periodEnd: number | null;
  trialEnd: number | null;
  cancelAtPeriodEnd: number;
  /** The plan after the period's end. */
  nextPlanId: PlanId | null;
  /** The plan of the last paid invoice, and its end. */
  paidPlanId: PlanId | null;
  paidUntil: number | null;
  /** The plan without a subscription: a free one or a partner's. */
  basePlanId: PlanId | null;
  /** JSON: the charged card (`SavedCard`). */
  card: string | null;
  /** JSON: the discount on the subscription (`AppliedDiscount`). */
  discount: string | null;
  /** JSON: the unpaid invoice (`UnpaidInvoice`). */
  unpaid: string | null;
  unpaidSince: number | null;
  /** JSON: a change that waits for its payment (`PendingChange`). */
  pending: string | null;
  /** JSON: the user's data that the customer at Stripe lacks (`ContactDue`); null: none. */
  contact: string | null;
  /** Time of the last attempt; null with `contact`. */
  contactAt: number | null;
  version: number;
  syncedAt: number | null;
  createdAt: number;
  updatedAt: number;
}

/** A user's purchase: the choice, and the attempted charge. */
export interface PurchaseTable {
  id: string;
  userId: UserId;
  /** The user's id while it is open, null after that, so that a user has one open purchase. */
  openFor: UserId | null;
  planId: PlanId;
  /** JSON: the applied promotion code (`ChosenPromotion`). */
  promotion: string | null;
  state: 'open' | 'charging' | 'paid' | 'abandoned';
  /** Part of the idempotency keys. */
  attempt: number;
  /** JSON: the exact request to Stripe in this attempt (`Charge`), so that it can be repeated. */
  charge: string | null;
  invoiceId: StripeInvoiceId | null;
  createdAt: number;
  updatedAt: number;
}

/** One row per paid invoice. It stays when its user is erased, without the user. */
export interface OrderTable {
  id: string;
  userId: UserId | null;
  /** Stripe's; unique. */
  invoiceId: StripeInvoiceId;
  invoiceNumber: string | null;
  /** Stripe's page of the invoice. */
  invoiceUrl: string | null;
  customerId: StripeCustomerId;
  subscriptionId: StripeSubscriptionId | null;
  planId: PlanId | null;
  /** The specification's 'plan'. */
  orderPurchase: 'plan';
  /** 'upgrade', the specification's; 'renewal'. */
  orderType: 'upgrade' | 'renewal';
  currency: string;
  paidCents: number;
  /** Used part of the user's credit at Stripe. */
  usedCreditCents: number;
  discountCents: number;
  /** The discount on the next renewals. */
  recurringDiscountCents: number;
  /** The promotion code, as it was typed. */
  voucher: string | null;
  refundedCents: number;
  disputedAt: number | null;
  /** JSON: brand and last four digits. */
  card: string | null;
  validityDays: number | null;
  renewsAt: number | null;
  orderedAt: number;
  createdAt: number;
}

/** Received webhook events; one is done once its object has been read again. */
export interface StripeEventTable {
  id: string;
  type: string;
  customerId: StripeCustomerId | null;
  receivedAt: number;
  doneAt: number | null;
}

/** One trial per confirmed address and per card. Stays when its user is erased. */
export interface TrialClaimTable {
  kind: 'email' | 'card';
  /** Keyed hash of the address or of the card's fingerprint. */
  valueHash: string;
  userId: UserId;
  claimedAt: number;
}

/** Notifications that a user gets only once. */
export interface ToldMemberTable {
  userId: UserId;
  /** For example `payment-failed:<invoice>:<attempt>`. */
  about: string;
  toldAt: number;
}

/** Tasks at Stripe that were decided in a transaction here. */
export interface BillingTaskTable {
  id: string;
  kind: 'cancel-now' | 'cancel-later' | 'keep' | 'resume' | 'delete-customer';
  userId: UserId;
  customerId: StripeCustomerId | null;
  /** keep: the plan of an earlier scheduled change. */
  planId: PlanId | null;
  attempts: number;
  lastError: string | null;
  nextAttemptAt: number;
  createdAt: number;
}

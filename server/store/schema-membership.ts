import type { PlanId, StripeCustomerId, StripeInvoiceId, StripeSubscriptionId, UserId } from '../shared/index.ts';

/** Tables of plans, cards and orders. See `schema.ts`; amounts are integer cents. */

/**
 * The membership of a user, as last read from Stripe. Only one function writes it (`billing/subscription/sync-from-stripe.ts`),
 * which reads Stripe first and overwrites only the version that it has seen.
 */
export interface MembershipTable {
  user_id: UserId;
  /** Stripe's customer; null until there is one. */
  customer_id: StripeCustomerId | null;
  /** Start of the requests for it under the present idempotency keys, which Stripe keeps for a day. */
  customer_asked_at: number | null;
  /** Length of the user's trial; 0: none. */
  trial_days: number;
  subscription_id: StripeSubscriptionId | null;
  /** Number of earlier subscriptions of this user: part of the idempotency key of the next. */
  generation: number;
  /** Stripe's status of the subscription; none without a subscription. */
  status: string;
  /** The plan of the subscription's price; `trial` for the initial plan; null for any other price. */
  priced_plan_id: PlanId | null;
  period_start: number | null;
  period_end: number | null;
  trial_end: number | null;
  cancel_at_period_end: number;
  /** The plan after the period's end. */
  next_plan_id: PlanId | null;
  /** The plan of the last paid invoice, and its end. */
  paid_plan_id: PlanId | null;
  paid_until: number | null;
  /** The plan without a subscription: a free one or a partner's. */
  base_plan_id: PlanId | null;
  /** JSON: the charged card (`SavedCard`). */
  card: string | null;
  /** JSON: the discount on the subscription (`AppliedDiscount`). */
  discount: string | null;
  /** JSON: the unpaid invoice (`UnpaidInvoice`). */
  unpaid: string | null;
  unpaid_since: number | null;
  /** JSON: a change that waits for its payment (`PendingChange`). */
  pending: string | null;
  /** JSON: the user's data that the customer at Stripe lacks (`ContactDue`); null: none. */
  contact: string | null;
  /** Time of the last attempt; null with `contact`. */
  contact_at: number | null;
  version: number;
  synced_at: number | null;
  created_at: number;
  updated_at: number;
}

/** A user's purchase: the choice, and the attempted charge. */
export interface PurchaseTable {
  id: string;
  user_id: UserId;
  /** The user's id while it is open, null after that, so that a user has one open purchase. */
  open_for: UserId | null;
  plan_id: PlanId;
  /** JSON: the applied promotion code (`ChosenPromotion`). */
  promotion: string | null;
  /** open, charging, paid or abandoned. */
  state: string;
  /** Part of the idempotency keys. */
  attempt: number;
  /** JSON: the exact request to Stripe in this attempt (`Charge`), so that it can be repeated. */
  charge: string | null;
  invoice_id: StripeInvoiceId | null;
  created_at: number;
  updated_at: number;
}

/** One row per paid invoice. It stays when its user is erased, without the user. */
export interface OrderTable {
  id: string;
  user_id: UserId | null;
  /** Stripe's; unique. */
  invoice_id: StripeInvoiceId;
  invoice_number: string | null;
  /** Stripe's page of the invoice. */
  invoice_url: string | null;
  customer_id: StripeCustomerId;
  subscription_id: StripeSubscriptionId | null;
  plan_id: PlanId | null;
  /** The specification's 'plan'. */
  order_purchase: string;
  /** 'upgrade', the specification's; 'renewal'. */
  order_type: string;
  currency: string;
  paid_cents: number;
  /** Used part of the user's credit at Stripe. */
  used_credit_cents: number;
  discount_cents: number;
  /** The discount on the next renewals. */
  recurring_discount_cents: number;
  /** The promotion code, as it was typed. */
  voucher: string | null;
  refunded_cents: number;
  disputed_at: number | null;
  /** JSON: brand and last four digits. */
  card: string | null;
  validity_days: number | null;
  renews_at: number | null;
  ordered_at: number;
  created_at: number;
}

/** Received webhook events; one is done once its object has been read again. */
export interface StripeEventTable {
  id: string;
  type: string;
  customer_id: StripeCustomerId | null;
  received_at: number;
  done_at: number | null;
}

/** One trial per confirmed address and per card. Stays when its user is erased. */
export interface TrialClaimTable {
  /** email or card. */
  kind: string;
  /** Keyed hash of the address or of the card's fingerprint. */
  value_hash: string;
  user_id: UserId;
  claimed_at: number;
}

/** Notifications that a user gets only once. */
export interface ToldMemberTable {
  user_id: UserId;
  /** For example `payment-failed:<invoice>:<attempt>`. */
  about: string;
  told_at: number;
}

/** Tasks at Stripe that were decided in a transaction here. */
export interface BillingTaskTable {
  id: string;
  /** cancel-now, cancel-later, keep, resume, delete-customer. */
  kind: string;
  user_id: UserId;
  customer_id: StripeCustomerId | null;
  /** keep: the plan of an earlier scheduled change. */
  plan_id: PlanId | null;
  attempts: number;
  last_error: string | null;
  next_attempt_at: number;
  created_at: number;
}

import type { UserId } from '../shared/index.ts';

/** Tables of plans, cards and orders. As in `schema.ts`; amounts are integer cents. */

/**
 * What a member's membership is, as last read from Stripe. Written by one function (`membership/sync-from-stripe.ts`), which reads
 * Stripe first and writes only over the version that it has seen.
 */
export interface MembershipTable {
  user_id: UserId;
  /** Stripe's customer; null until there is one. */
  customer_id: string | null;
  /** Since when Stripe is asked to make it under the present idempotency keys, which it keeps for a day. */
  customer_asked_at: number | null;
  /** Of the trial that the member was given; 0: none. */
  trial_days: number;
  subscription_id: string | null;
  /** How many subscriptions were made for this member before: part of the idempotency key of the next. */
  generation: number;
  /** Stripe's word for the subscription; none where there is no subscription. */
  status: string;
  /** The plan whose price the subscription has; `trial` for the plan on which members begin; null for any other price. */
  priced_plan_id: string | null;
  period_start: number | null;
  period_end: number | null;
  trial_end: number | null;
  cancel_at_period_end: number;
  /** To which the member changes at the period's end. */
  next_plan_id: string | null;
  /** The plan that the last paid invoice bought, and until when. */
  paid_plan_id: string | null;
  paid_until: number | null;
  /** What the member has without a subscription: a free plan or a partner's. */
  base_plan_id: string | null;
  /** JSON: the card that is charged (`SavedCard`). */
  card: string | null;
  /** JSON: the discount on the subscription (`AppliedDiscount`). */
  discount: string | null;
  /** JSON: the invoice that could not be charged (`UnpaidInvoice`). */
  unpaid: string | null;
  unpaid_since: number | null;
  /** JSON: a change that waits for its payment (`PendingChange`). */
  pending: string | null;
  /** JSON: what the customer at Stripe still has to be told of the member (`ContactDue`); null: nothing. */
  contact: string | null;
  /** When that was tried last; null with `contact`. */
  contact_at: number | null;
  version: number;
  synced_at: number | null;
  created_at: number;
  updated_at: number;
}

/** A member on the way to a plan: what was chosen, and what has been tried to charge for it. */
export interface PurchaseTable {
  id: string;
  user_id: UserId;
  /** The member's id while it is open; null once it is over: so a member has one at a time. */
  open_for: UserId | null;
  plan_id: string;
  /** JSON: the promotion code that was applied (`ChosenPromotion`). */
  promotion: string | null;
  /** open, charging, paid or given-up. */
  state: string;
  /** Part of the idempotency keys. */
  attempt: number;
  /** JSON: exactly what was asked of Stripe in this attempt (`Charge`), so that it can be asked again. */
  charge: string | null;
  invoice_id: string | null;
  created_at: number;
  updated_at: number;
}

/** One row per paid invoice. It stays when its member is erased, without them. */
export interface OrderTable {
  id: string;
  user_id: UserId | null;
  /** Stripe's; unique. */
  invoice_id: string;
  invoice_number: string | null;
  /** Stripe's page of the invoice. */
  invoice_url: string | null;
  customer_id: string;
  subscription_id: string | null;
  plan_id: string | null;
  /** The specification's 'plan'. */
  order_purchase: string;
  /** 'upgrade', the specification's; 'renewal'. */
  order_type: string;
  currency: string;
  paid_cents: number;
  /** Of the member's credit with Stripe. */
  used_credit_cents: number;
  discount_cents: number;
  /** What the next renewals will be lowered by. */
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

/** Webhook events that have come in; one is done once what it speaks of has been read anew. */
export interface StripeEventTable {
  id: string;
  type: string;
  customer_id: string | null;
  received_at: number;
  done_at: number | null;
}

/** One trial per confirmed address and per card. Stays when its member is erased. */
export interface TrialClaimTable {
  /** email or card. */
  kind: string;
  /** Keyed hash of the address or of the card's fingerprint. */
  value_hash: string;
  user_id: UserId;
  claimed_at: number;
}

/** What a member has been told once and need not hear twice. */
export interface ToldMemberTable {
  user_id: UserId;
  /** As in `payment-failed:<invoice>:<attempt>`. */
  about: string;
  told_at: number;
}

/** What must still be done at Stripe, and was decided in a transaction here. */
export interface BillingTaskTable {
  id: string;
  /** cancel-now, cancel-later, keep, resume, delete-customer. */
  kind: string;
  user_id: UserId;
  customer_id: string | null;
  /** keep: the plan to which the member changes at the period's end, as before. */
  plan_id: string | null;
  attempts: number;
  last_error: string | null;
  next_attempt_at: number;
  created_at: number;
}

// Generated from the migrations and `scripts/lib/table-columns.mjs` by `npm run docs`; a test fails when it is stale.
import type { Generated } from 'kysely';
import type {
  ClientId,
  PlanId,
  SealedText,
  SessionIdHash,
  Sha256,
  StripeCustomerId,
  StripeInvoiceId,
  StripeSubscriptionId,
  UserId,
} from '../shared/index.ts';

export interface TablesMToO {
  /**
   * The membership of a user, as last read from Stripe. Only one function writes it
   * (`billing/subscription/sync-from-stripe.ts`), which reads Stripe first and overwrites only the version that it has
   * seen.
   */
  memberships: {
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
    version: number;
    syncedAt: number | null;
    createdAt: number;
    updatedAt: number;
    /** JSON: the user's data that the customer at Stripe lacks (`ContactDue`); null: none. */
    contact: string | null;
    /** Time of the last attempt; null with `contact`. */
    contactAt: number | null;
    /** JSON: the price of the subscription's item (`SubscriptionPrice`). */
    price: string | null;
    /** JSON: the next charge, from a preview of Stripe (`NextCharge`); null: none. */
    nextCharge: string | null;
    /** The customer's balance at Stripe: below 0 the user's credit, above 0 owed. */
    balanceCents: Generated<number>;
    /** JSON: the discount on the customer (`CustomerDiscount`). */
    customerDiscount: string | null;
    /** JSON: the user's pause (`MemberPause`), from when it is scheduled until it is over; null: none. */
    pause: string | null;
    /** The number of seats of the paid plan, if it is sold by the seat; null: one. */
    seats: number | null;
    /** The number of seats of that plan; null: one. */
    nextSeats: number | null;
    /** The plan by a gift code, and its end. */
    giftPlanId: PlanId | null;
    giftUntil: number | null;
    /** The paid plan that has begun with free days and a card; null: none, or another plan has followed. */
    triedPlanId: PlanId | null;
    /** The end of those days, which stays when they are over; null: the user never had any. */
    triedUntil: number | null;
  };
  /** Facts about the database itself: sandbox stamp, key check. */
  meta: {
    name: string;
    value: string;
  };
  /** A notification inside the marketplace. */
  notifications: {
    id: string;
    userId: UserId;
    title: string;
    description: string;
    category: string;
    /** JSON: further data of its sender. */
    details: string;
    status: 'unread' | 'read';
    createdAt: number;
    updatedAt: number;
    /** 1: it reports a change of credentials; only the product itself can write it. */
    security: Generated<number>;
  };
  /** Records of the OpenID Provider that must survive a flushed key-value store: grants and refresh tokens. */
  oidc: {
    model: string;
    /** SHA-256 (base64url) of the record's id; the id itself is a bearer secret and is never stored. */
    idHash: Sha256;
    /** JSON, sealed. */
    payload: SealedText;
    grantId: Sha256 | null;
    clientId: ClientId | null;
    accountId: UserId | null;
    /** Hash of its Foyer session. */
    foyerSession: SessionIdHash | null;
    consumedAt: number | null;
    expiresAt: number;
    /** 1: a grant that outlives its session (offline access, or a device); 0: it ends with the session. */
    offline: Generated<number>;
  };
  /** One row per paid invoice. It stays when its user is erased, without the user. */
  orders: {
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
    orderPurchase: 'plan';
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
    /** Amount of the sold line, before discounts; null: written by an earlier release. */
    planAmountCents: number | null;
    /** Stripe's payment of the invoice; null: nothing was charged, or not read since the column exists. */
    paymentIntentId: string | null;
    /** null: never disputed. */
    disputeState: 'open' | 'won' | 'lost' | null;
    /** JSON: the credit notes of the invoice (`CreditNote`); null: none. */
    creditNotes: string | null;
    taxCents: number | null;
    /** When the user has asked that the plan begins before a withdrawal is over; null: they have not. */
    beginRequestedAt: number | null;
    /** The text of that request: its version and language, as in `1-de`. */
    beginWording: string | null;
    /** The number of seats that it paid; null: one. */
    seats: number | null;
    /** The debt that it has left (above 0), or has charged from before (below 0); null: none, or not recorded. */
    debtCents: number | null;
  };
  /** One message that waits or was recently delivered. */
  outbox: {
    id: string;
    /** mail, sms, notification or logout-token. */
    channel: string;
    template: string;
    /** Masked, for listings. */
    recipient: string;
    /** JSON, sealed; null once it was delivered, or cannot be any more. */
    sealedPayload: SealedText | null;
    /** Messages of one group are delivered one after the other, in the order of their positions. */
    groupId: string | null;
    /** Position among the waiting ones of its group; 0 without a group. Ids of one millisecond have no order. */
    groupPosition: number;
    state: 'waiting' | 'delivered' | 'dead';
    attempts: number;
    lastError: string | null;
    nextAttemptAt: number;
    createdAt: number;
    /** It is not delivered after this. */
    expiresAt: number | null;
    /** Time of delivery or of giving up. */
    finishedAt: number | null;
    /** 1: without a recipient; the worker renders and discards it. */
    decoy: Generated<number>;
  };
  /** Ids that recognize a repeated message. */
  outboxDeduplication: {
    id: string;
    messageId: string;
    expiresAt: number;
  };
}

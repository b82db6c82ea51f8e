import type { UserId } from '../shared/index.ts';

/** What a member's membership is, as pages and calls need it. Times in milliseconds since the epoch, amounts in cents. */

/** The card that is charged; nothing else of it is known here. */
export interface SavedCard {
  paymentMethodId: string;
  /** Stripe's word: visa, mastercard, amex … */
  brand: string;
  lastFour: string;
  expMonth: number;
  expYear: number;
}

/** A discount that stands on the subscription. */
export interface AppliedDiscount {
  /** The promotion code as Stripe has it, else the coupon's id. */
  code: string;
  couponId: string;
  promotionCodeId: string | null;
  percentOff: number | null;
  amountOffCents: number | null;
  duration: 'once' | 'forever' | 'repeating';
  /** When a repeating one ends. */
  endsAt: number | null;
}

/** An invoice that could not be charged. */
export interface UnpaidInvoice {
  invoiceId: string;
  amountCents: number;
  why: 'failed' | 'action-required';
  attempts: number;
  /** An earlier renewal was never paid, and its days of grace were had for nothing: this one has none. */
  withoutGrace?: true;
  /** When Stripe tries again; null: not by itself. */
  nextAttemptAt: number | null;
  /** Stripe's page where it can be paid. */
  url: string | null;
}

/** A change of plan whose payment is not through (Stripe's pending update). */
export interface PendingChange {
  planId: string;
  invoiceId: string;
  amountCents: number;
  expiresAt: number;
}

export type SubscriptionStatus =
  | 'none'
  | 'trialing'
  | 'active'
  | 'past_due'
  | 'paused'
  | 'unpaid'
  | 'incomplete'
  | 'incomplete_expired'
  | 'canceled';

export interface Membership {
  userId: UserId;
  customerId: string | null;
  customerAskedAt: number | null;
  trialDays: number;
  subscriptionId: string | null;
  generation: number;
  status: SubscriptionStatus;
  /** `trial`: the plan on which members begin. */
  pricedPlanId: string | null;
  periodStart: number | null;
  periodEnd: number | null;
  trialEnd: number | null;
  cancelAtPeriodEnd: boolean;
  /** To which the member changes at the period's end. */
  nextPlanId: string | null;
  /** The plan that the last paid invoice has bought. */
  paidPlanId: string | null;
  paidUntil: number | null;
  basePlanId: string | null;
  card: SavedCard | null;
  discount: AppliedDiscount | null;
  unpaid: UnpaidInvoice | null;
  unpaidSince: number | null;
  pending: PendingChange | null;
  /** The data of the member that the customer at Stripe does not have yet; null: nothing. */
  contact: ContactDue | null;
  /** A request that Stripe has not confirmed: only for pages. */
  noted?: NotedAct;
  version: number;
  syncedAt: number | null;
}

/** `due`: name, address and language are still to be written to the customer; `refused`: Stripe does not take the address. */
export type ContactDue = { state: 'due' } | { state: 'refused'; code: string; digest: string };

/** What stands in `pricedPlanId` for the plan on which members begin. */
export const trialPlanKey = 'trial';

/**
 * The last days before a change at the period's end: a price waits on the subscription for that moment, which Stripe counts
 * as a trial of it.
 */
export const isInLastDays = ({ status, pricedPlanId }: Pick<Membership, 'status' | 'pricedPlanId'>): boolean =>
  status === 'trialing' && pricedPlanId !== trialPlanKey;

/**
 * A subscription on a plan that is sold, which the operator or Stripe has paused: it gives nothing and is not charged until
 * it is resumed there.
 */
export const isPaused = ({ status, pricedPlanId }: Pick<Membership, 'status' | 'pricedPlanId'>): boolean =>
  status === 'paused' && pricedPlanId !== trialPlanKey;

/** A member's request that Stripe has not confirmed yet. */
export type NotedAct = 'cancel' | 'resume';

/** The membership as it will be once Stripe has confirmed what was noted. */
export function asNoted(membership: Membership, noted: NotedAct): Membership {
  const { status, paidPlanId, pricedPlanId } = membership;
  // Anything else ends at once: until then it is as it is.
  const goesOn = status === 'active' || isInLastDays(membership);
  if (!goesOn) return { ...membership, noted };
  return noted === 'cancel'
    ? { ...membership, noted, cancelAtPeriodEnd: true, nextPlanId: null }
    : { ...membership, noted, cancelAtPeriodEnd: false, nextPlanId: null, pricedPlanId: paidPlanId ?? pricedPlanId };
}

/** Whether what is paid ends within this time. */
export const endsWithin = ({ periodEnd }: Pick<Membership, 'periodEnd'>, nowMs: number, withinMs: number): boolean =>
  periodEnd !== null && periodEnd - nowMs < withinMs;

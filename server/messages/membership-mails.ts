/** '1' monthly, '2' yearly (the specification's planType). */
type PlanType = '1' | '2';

/** In all of these: times in milliseconds since the epoch, amounts in cents, `currency` as in `usd`. */
interface MembershipMailBase {
  givenName: string;
  /** Where the member looks after the membership. */
  pageLink: string;
}
interface CardMailFields {
  /** Stripe's word for the brand (`visa`); with the last four digits. Left out: no card was charged. */
  cardType?: string;
  lastFour?: string;
}

/** The specification's receipt email fields, in its names. */
export interface Receipt extends MembershipMailBase, CardMailFields {
  email: string;
  fullName: string;
  zipcode?: string;
  currency: string;
  /** Charged: after discount and credit. */
  totalAmount: number;
  /** The user record's totalRewards. */
  rewards: string;
  planName: string;
  planType: PlanType;
  planAmount: number;
  orderDate: number;
  renewDate?: number;
  discount: number;
  creditUsed: number;
  invoiceNumber?: string;
  /** Stripe's page of the invoice. */
  invoiceUrl?: string;
}

interface UnpaidInvoiceMail extends MembershipMailBase {
  planName: string;
  amountCents: number;
  currency: string;
  /** Until when the plan stays. */
  keptUntil?: number;
}

/** What members are told of their plan, their card and their money. */
export interface MembershipMailValues {
  receipt: Receipt;
  'payment-failed': UnpaidInvoiceMail & CardMailFields & { /** Left out: not by itself. */ nextAttemptAt?: number };
  /** The bank wants to hear from the member. */
  'payment-action-required': UnpaidInvoiceMail;
  'trial-ends': MembershipMailBase & { days: number; endsAt: number };
  'plan-cancelled': MembershipMailBase & { planName: string; endsAt: number };
  'plan-ended': MembershipMailBase & {
    planName: string;
    endedAt: number;
    why: 'cancelled' | 'unpaid';
    /** What the member has now; left out: none. */
    planNow?: string;
  };
  /** At the period's end. `amountCents`: what the new plan costs; 0: nothing. */
  'plan-changes': MembershipMailBase & {
    fromPlan: string;
    toPlan: string;
    /** Left out: a plan without an end. */
    toPlanType?: PlanType;
    changesAt: number;
    amountCents: number;
    currency: string;
  };
  'refund-made': MembershipMailBase &
    CardMailFields & {
      planName?: string;
      amountCents: number;
      currency: string;
      invoiceNumber?: string;
      invoiceUrl?: string;
    };
  'card-changed': MembershipMailBase & Required<CardMailFields> & { atMs: number };
  'card-removed': MembershipMailBase & Required<CardMailFields> & { atMs: number };
}

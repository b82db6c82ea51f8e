/** '1' monthly, '2' yearly (the specification's planType). */
type PlanType = '1' | '2';

/** In all of these: times in milliseconds since the epoch, amounts in cents, `currency` as in `usd`. */
interface MembershipMailBase {
  givenName: string;
  /** The page of the membership. */
  pageLink: string;
}
interface CardMailFields {
  /** Stripe's name of the card brand (`visa`); with the last four digits. Omitted: no card was charged. */
  cardType?: string;
  lastFour?: string;
}

/** The specification's receipt email fields, in its names. */
export interface Receipt extends MembershipMailBase, CardMailFields {
  email: string;
  fullName: string;
  zipcode?: string;
  currency: string;
  /** The charged amount: after discount and credit. */
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

/** The mails about plan, card and payments. */
export interface MembershipMailValues {
  receipt: Receipt;
  /** Without `nextAttemptAt` there is no automatic attempt. */
  'payment-failed': UnpaidInvoiceMail & CardMailFields & { nextAttemptAt?: number };
  /** The bank requires authentication by the user. */
  'payment-action-required': UnpaidInvoiceMail;
  'trial-ends': MembershipMailBase & { days: number; endsAt: number };
  'plan-cancelled': MembershipMailBase & { planName: string; endsAt: number };
  'plan-ended': MembershipMailBase & {
    planName: string;
    endedAt: number;
    why: 'cancelled' | 'unpaid';
    /** The user's present plan; omitted: none. */
    planNow?: string;
  };
  /** At the period's end. `amountCents`: the price of the new plan; 0: free. */
  'plan-changes': MembershipMailBase & {
    fromPlan: string;
    toPlan: string;
    /** Omitted: a plan that does not end. */
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

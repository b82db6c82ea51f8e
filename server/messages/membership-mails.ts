/** '1' monthly, '2' yearly (the specification's planType). */
type PlanType = '1' | '2';

/** In all of these: times in milliseconds since the epoch, amounts in cents, `currency` as in `usd`. */
interface About {
  givenName: string;
  /** Where the member looks after the membership. */
  pageLink: string;
}
interface Card {
  /** Stripe's word for the brand (`visa`); with the last four digits. Left out: no card was charged. */
  cardType?: string;
  lastFour?: string;
}

/** The specification's receipt email fields, in its names. */
export interface Receipt extends About, Card {
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

interface Unpaid extends About {
  planName: string;
  amountCents: number;
  currency: string;
  /** Until when the plan stays. */
  keptUntil?: number;
}

/** What members are told of their plan, their card and their money. */
export interface MembershipMailValues {
  receipt: Receipt;
  'payment-failed': Unpaid & Card & { /** Left out: not by itself. */ nextAttemptAt?: number };
  /** The bank wants to hear from the member. */
  'payment-action-required': Unpaid;
  'trial-ends': About & { days: number; endsAt: number };
  'plan-cancelled': About & { planName: string; endsAt: number };
  'plan-ended': About & {
    planName: string;
    endedAt: number;
    why: 'cancelled' | 'unpaid';
    /** What the member has now; left out: none. */
    planNow?: string;
  };
  /** At the period's end. `amountCents`: what the new plan costs; 0: nothing. */
  'plan-changes': About & {
    fromPlan: string;
    toPlan: string;
    /** Left out: a plan without an end. */
    toPlanType?: PlanType;
    changesAt: number;
    amountCents: number;
    currency: string;
  };
  'refund-made': About &
    Card & {
      planName?: string;
      amountCents: number;
      currency: string;
      invoiceNumber?: string;
      invoiceUrl?: string;
    };
  'card-changed': About & Required<Card> & { atMs: number };
  'card-removed': About & Required<Card> & { atMs: number };
}

import type { DetailsView } from '../billing/billing-details-fields.tsx';
import type { CardView } from '../billing/card-name.ts';

/** A plan as text, with amounts in the user's language. */
export interface UserPlanView {
  name: string;
  /** With its interval: `Growth, annual`. */
  line: string;
  /** `$99 a month`; undefined: a plan without a price. */
  price?: string | undefined;
  features: readonly string[];
}

/** As text. `credit`: the part that becomes credit again. Neither: Stripe has not computed them yet. */
interface RefundAtEndView {
  amount?: string | undefined;
  credit?: string | undefined;
}

/**
 * The status of a membership. `lasting`: a free plan (`isFree`) or a partner's. `at` in milliseconds since the epoch:
 * when it renews, ends or changes, the trial ends, or until when an unpaid plan is kept; null: unknown.
 */
export type PlanStatusView =
  | { kind: 'none' | 'trial-over' }
  | { kind: 'trial'; at: number }
  /** By a gift code. */
  | { kind: 'gift'; plan: UserPlanView; at: number }
  /** A paid plan that is paused: it gives nothing and is not charged. `resumesAt` null: the operator has paused it. */
  | { kind: 'paused'; plan: UserPlanView; resumesAt: number | null }
  /** A paid plan whose pause begins then; `hasBegun`: Stripe has paused it already, a little before. */
  | { kind: 'pauses'; plan: UserPlanView; at: number | null; resumesAt: number; hasBegun: boolean }
  | { kind: 'lasting'; plan: UserPlanView; isFree: boolean }
  /** A paid plan that is free until then, and charged from then on. */
  | { kind: 'tries'; plan: UserPlanView; at: number }
  | { kind: 'renews' | 'unpaid'; plan: UserPlanView; at: number | null }
  /**
   * `refund`: given back then, because the paid period is not over. `isTrial`: nothing of it is paid. `isForDeal`: the
   * partner's plan `after` it was chosen in its place.
   */
  | {
      kind: 'ends';
      isTrial?: true;
      isForDeal?: boolean;
      plan: UserPlanView;
      at: number | null;
      after?: string | undefined;
      refund?: RefundAtEndView | undefined;
    }
  /** `byMonth`: a yearly plan goes on as the monthly one, and the change cannot be taken back. */
  | { kind: 'changes'; plan: UserPlanView; at: number | null; to: string; byMonth?: boolean };

export interface MembershipView {
  status: PlanStatusView;
  /** The user's request that Stripe has not confirmed yet; `planStatus` shows it as done. */
  noted?: 'cancel' | 'resume' | 'change' | 'pause' | undefined;
  /** Of the initial plan. */
  trial?: { name: string; endsAt: number; days: number } | undefined;
  discount?: string | undefined;
  /** The credit that later charges use first. */
  credit?: string | undefined;
  /** The next charge: its amount, and sentences on credit and later amounts ('': none). */
  nextCharge?: { amount: string; more: string } | undefined;
  unpaid?:
    | {
        amount: string;
        why: 'failed' | 'action-required';
        nextAttemptAt: number | null;
        keptUntil?: number | undefined;
        /** The plan is not kept until this is paid. */
        resting?: boolean;
        /** The plan that the user has until then; undefined: none. */
        meanwhile?: string | undefined;
        /** Stripe's page of the invoice. */
        url: string | null;
      }
    | undefined;
  /** An upgrade that waits for its payment. */
  /** `debit`: a bank has it for days, or has refused it. */
  pending?:
    | { plan: string; amount: string; href: string; debit?: 'purchase' | 'renewal' | 'failed' | undefined }
    | undefined;
  card?: (CardView & { expired: boolean }) | undefined;
  /** The name and address on invoices. */
  details?: DetailsView | undefined;
  /** A partner's plan that waits for the user. */
  deal?: { plan: string; href: string } | undefined;
  /** The last moment for a withdrawal from the purchase (milliseconds since the epoch); undefined: there is none. */
  withdrawalUntil?: number | undefined;
  /** Whether the user can change the number of seats. */
  hasSeats?: boolean;
  /** Whether the user can choose a pause. */
  canPause?: boolean;
  /** Whether gift codes can be redeemed. */
  hasGifts?: boolean;
  /** Whether plans can be bought or changed here. */
  sold: boolean;
}

export interface InvoiceRow {
  id: string;
  /** Milliseconds since the epoch. */
  at: number;
  number: string | null;
  plan?: string | undefined;
  kind?: 'upgrade' | 'renewal' | undefined;
  /** The member's request that the plan begins before the right to withdraw ends. */
  begins?: string | undefined;
  amount: string;
  state: 'open' | 'failed' | 'paid' | 'void' | 'uncollectible' | 'refunded' | 'partlyRefunded';
  /** Notes on the amount. */
  notes: readonly string[];
  creditNotes: readonly { number: string; amount: string; pdfUrl: string }[];
  url: string | null;
  pdfUrl: string | null;
}

import type { CardView } from '../checkout/card-name.ts';

/** A plan as a member reads it; amounts in words of their language. */
export interface UserPlanView {
  name: string;
  /** With its period: `Growth, annual`. */
  line: string;
  /** `$99 a month`; undefined: a plan without a price. */
  price?: string | undefined;
  features: readonly string[];
}

/**
 * How a membership stands. `lasting`: a free plan (`isFree`) or a partner's. `at` in milliseconds since the epoch: when it
 * renews, ends or changes, the trial ends, or until when a plan is kept that is not paid; null: not known.
 */
export type PlanStatusView =
  | { kind: 'none' | 'trial-over' }
  | { kind: 'trial'; at: number }
  /** On a plan that is sold, paused at Stripe: it gives nothing and is not charged. */
  | { kind: 'paused'; plan: UserPlanView }
  | { kind: 'lasting'; plan: UserPlanView; isFree: boolean }
  | { kind: 'renews' | 'unpaid'; plan: UserPlanView; at: number | null }
  | { kind: 'ends'; plan: UserPlanView; at: number | null; after?: string | undefined }
  | { kind: 'changes'; plan: UserPlanView; at: number | null; to: string };

export interface MembershipView {
  status: PlanStatusView;
  /** The member's request that Stripe has not confirmed yet; `standing` shows it as done. */
  noted?: 'cancel' | 'resume' | undefined;
  /** Of the plan on which members begin. */
  trial?: { name: string; endsAt: number; days: number } | undefined;
  discount?: string | undefined;
  unpaid?:
    | {
        amount: string;
        why: 'failed' | 'action-required';
        nextAttemptAt: number | null;
        keptUntil?: number | undefined;
        /** Nothing is kept: there is no plan until this is paid. */
        resting?: boolean;
        /** Stripe's page of the invoice. */
        url: string | null;
      }
    | undefined;
  /** An upgrade whose payment is not through. */
  pending?: { plan: string; amount: string; href: string } | undefined;
  card?: (CardView & { expired: boolean }) | undefined;
  /** A partner's plan that waits for the member. */
  deal?: { plan: string; href: string } | undefined;
  /** Whether anything can be bought, changed or charged here. */
  sold: boolean;
}

export interface InvoiceRow {
  id: string;
  /** Milliseconds since the epoch. */
  at: number;
  number: string | null;
  plan?: string | undefined;
  kind?: 'upgrade' | 'renewal' | undefined;
  amount: string;
  state: 'open' | 'paid' | 'void' | 'uncollectible' | 'refunded';
  /** What else there is to say of the amount. */
  notes: readonly string[];
  url: string | null;
  pdfUrl: string | null;
}

import type { PlanEnd } from '../../../config/plans.ts';
import type { StripeInvoiceId } from '../../shared/index.ts';
import type { Row } from '../../store/index.ts';
import type { SavedCard } from '../subscription/membership.ts';

/** A document on money that was given back; Stripe has its PDF. */
export interface CreditNote {
  id: string;
  number: string;
  amountCents: number;
  pdfUrl: string;
  createdAt: number;
}

/** A refund that an operator or a user (`withdrawal`, `cancellation`) has asked for. */
export interface RefundTask {
  invoiceId: StripeInvoiceId;
  /** To the card. */
  amountCents: number;
  /** To the user's credit; by default nothing. */
  creditCents?: number | undefined;
  operator: string;
  /** Whether the plan ends; undefined: as the catalogue says. */
  end?: PlanEnd | undefined;
}

/** The record of one paid invoice (the specification's Order). Cents, milliseconds since the epoch. */
export type Order = Omit<Row<'orders'>, 'card' | 'creditNotes' | 'createdAt'> & {
  card: Pick<SavedCard, 'brand' | 'lastFour'> | null;
  creditNotes: readonly CreditNote[];
};

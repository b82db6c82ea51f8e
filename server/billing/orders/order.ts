import type { PlanEnd } from '../../../config/plans.ts';
import type { StripeInvoiceId, StripeSubscriptionId } from '../../shared/index.ts';
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
  /** It is made when this subscription ends before its paid period; one that goes on gives nothing back. */
  after?: EarlyEnd | undefined;
}

/** The end of a subscription before that of its paid period. */
export interface EarlyEnd {
  subscriptionId: StripeSubscriptionId;
  /** Milliseconds since the epoch. */
  endsAt: number;
  currency: string;
  /** It ends as soon as Stripe answers, whenever that is. */
  atOnce?: boolean | undefined;
}

/** A payment of which a part is given back. */
export interface RefundPart {
  invoiceId: StripeInvoiceId;
  /** To the card. */
  refundCents: number;
  /** To the user's credit. */
  creditCents: number;
}

/** The detail of a `cancel-later` on a month's notice, or of a `cancel-now` that gives back what is paid after it. */
export interface EndOnNotice {
  /** Milliseconds since the epoch. */
  endsAt: number;
  currency: string;
  /** The refund then; null: Stripe has not computed it yet. */
  parts: readonly RefundPart[] | null;
}

/** The record of one paid invoice (the specification's Order). Cents, milliseconds since the epoch. */
export type Order = Omit<Row<'orders'>, 'card' | 'creditNotes' | 'createdAt'> & {
  card: Pick<SavedCard, 'brand' | 'lastFour'> | null;
  creditNotes: readonly CreditNote[];
};

/**
 * The price of an order with its tax: a debt from before that it has charged is no part of it, and what is still owed of
 * it is. Of an order from before debts were recorded: what was paid.
 */
export const toPriceCents = ({
  paidCents,
  usedCreditCents,
  debtCents,
}: Pick<Order, 'paidCents' | 'usedCreditCents' | 'debtCents'>): number =>
  paidCents + usedCreditCents + (debtCents ?? 0);

/** The part of a payment that can be given back: a credit note is of no more than the price. */
export const toReturnableCents = (order: Parameters<typeof toPriceCents>[0]): number =>
  Math.max(0, Math.min(order.paidCents, toPriceCents(order)));

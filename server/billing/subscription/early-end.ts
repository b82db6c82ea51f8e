import type { RefundPart } from '../orders/order.ts';
import type { Membership } from './membership.ts';

// The end of a plan before that of its paid period.

/** Cents. */
export interface RefundAmounts extends Omit<RefundPart, 'invoiceId'> {
  currency: string;
}

/** An end before that of the paid period, with its unused part. */
export interface ProratedEnd {
  /** Milliseconds since the epoch; null: at once. */
  endsAt: number | null;
  /** null: Stripe has not computed it yet. */
  amounts: RefundAmounts | null;
  parts: readonly RefundPart[];
}

/** An end as a page has announced it; null: not named. */
export interface AnnouncedEnd {
  endsAt: number | null;
  refundCents: number | null;
  creditCents: number | null;
}

/** `later`: the page has said that Stripe computes the amount; undefined: it has named no refund. */
export type AnnouncedDeletion = AnnouncedEnd | 'later' | undefined;

/** `changed`: another end or amount than announced is due, and nothing has happened. `cancelled`: it ends later. */
export type ProratedEndResult = 'ended' | 'cancelled' | 'noted' | 'no-change' | 'changed';

/** The end of what is paid and used; a plan may end before its paid period does. */
export const findPaidEnd = ({
  cancelAtPeriodEnd,
  periodEnd,
  paidUntil,
}: Pick<Membership, 'cancelAtPeriodEnd' | 'periodEnd' | 'paidUntil'>): number | null =>
  cancelAtPeriodEnd && periodEnd !== null && paidUntil !== null ? Math.min(periodEnd, paidUntil) : paidUntil;

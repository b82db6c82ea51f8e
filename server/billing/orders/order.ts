import type { PlanId, StripeCustomerId, StripeInvoiceId, StripeSubscriptionId, UserId } from '../../shared/index.ts';
import type { SavedCard } from '../subscription/membership.ts';

/** The record of one paid invoice (the specification's Order). Cents, milliseconds since the epoch. */
export interface Order {
  id: string;
  /** null after the user was deleted. */
  userId: UserId | null;
  invoiceId: StripeInvoiceId;
  invoiceNumber: string | null;
  invoiceUrl: string | null;
  customerId: StripeCustomerId;
  subscriptionId: StripeSubscriptionId | null;
  planId: PlanId | null;
  orderPurchase: 'plan';
  orderType: 'upgrade' | 'renewal';
  currency: string;
  paidCents: number;
  usedCreditCents: number;
  discountCents: number;
  recurringDiscountCents: number;
  voucher: string | null;
  refundedCents: number;
  disputedAt: number | null;
  card: Pick<SavedCard, 'brand' | 'lastFour'> | null;
  validityDays: number | null;
  renewsAt: number | null;
  orderedAt: number;
}

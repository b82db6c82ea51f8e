import { z } from 'zod';
import { decimalText, describedAs, HttpError } from '../../http/index.ts';
import { planIdSchema, type StripeCustomerId, stripeInvoiceIdSchema, userIdSchema } from '../../shared/index.ts';
import type { Catalogue, Plan } from '../catalogue/catalogue.ts';
import type { Order } from '../orders/order.ts';
import { type Membership, type SavedCard, trialPlanKey } from '../subscription/membership.ts';

// The specification's shapes (sections 3 and 7), under its names. Times in milliseconds since the epoch; amounts as
// text with two decimals, except a plan's, which are whole dollars.

/** @param cents integer cents, 0 or more */
export const dollars = (cents: number): string => (cents / 100).toFixed(2);

/** An amount from a caller: `79.2`, `"79.20"`. */
export const amountSchema = z
  .union([z.string().regex(/^\d{1,9}(\.\d{1,2})?$/, 'write an amount as in 79.20'), z.number().min(0).max(999_999_999)])
  .meta(describedAs(decimalText));

/** NaN: not a whole number of cents. */
export function parseAmount(submitted: z.infer<typeof amountSchema>): number {
  const whole = Math.round(Number(submitted) * 100);
  // 79.2 × 100 is a little less than 7920; dividing the rounded value gives the same number, if it was one of whole
  // cents.
  return whole / 100 === Number(submitted) ? whole : Number.NaN;
}

export const planSchema = z.object({
  id: z.string(),
  code: z.string(),
  planName: z.string(),
  /** '1' monthly, '2' yearly; null: a partner's plan, which does not end. */
  planType: z.enum(['1', '2']).nullable(),
  planAmount: z.int(),
  planHash: z.string(),
});

export const toWirePlan = ({ id, code, name, type, amountCents, planKey }: Plan): z.infer<typeof planSchema> => ({
  id,
  code,
  planName: name,
  planType: type,
  planAmount: amountCents / 100,
  planHash: planKey,
});

export const customerSchema = z.object({
  customer_id: z.string(),
  /** One, or none after its end. */
  subscription: z.array(
    z.object({
      subscription_id: z.string(),
      /** Stripe's status. */
      status: z.string(),
      /** The plan's code; the initial one has its own name. */
      plan_name: z.string().nullable(),
      trial_end: z.int().nullable(),
      current_period_end: z.int().nullable(),
      cancel_at_period_end: z.boolean(),
      /** Given back at `current_period_end`, to the card: the plan ends before its paid period does. */
      refund_at_end: z.string().optional(),
    }),
  ),
});

export function toWireCustomer(
  membership: Membership & { customerId: StripeCustomerId },
  { trial, byId }: Pick<Catalogue, 'trial' | 'byId'>,
): z.infer<typeof customerSchema> {
  const { customerId, subscriptionId, status, pricedPlanId, trialEnd, periodEnd, cancelAtPeriodEnd } = membership;
  const { amounts } = membership.refundAtEnd ?? {};
  const name = pricedPlanId === trialPlanKey ? trial.lookupKey : (byId(pricedPlanId)?.code ?? null);
  const subscription = {
    status,
    plan_name: name,
    trial_end: trialEnd,
    current_period_end: periodEnd,
    cancel_at_period_end: cancelAtPeriodEnd,
    ...(amounts && { refund_at_end: dollars(amounts.refundCents) }),
  };
  return {
    customer_id: customerId,
    subscription: subscriptionId === null ? [] : [{ subscription_id: subscriptionId, ...subscription }],
  };
}

export const orderSchema = z.object({
  id: z.string(),
  userId: userIdSchema.nullable(),
  planId: planIdSchema.nullable(),
  invoiceId: stripeInvoiceIdSchema,
  invoiceNumber: z.string().nullable(),
  invoiceUrl: z.string().nullable(),
  orderDate: z.int(),
  orderPurchase: z.literal('plan'),
  orderType: z.enum(['upgrade', 'renewal']),
  currency: z.string(),
  totalAmountPaid: z.string(),
  usedCredits: z.string(),
  discountCoupon: z.string().nullable(),
  planDiscountVoucher: z.string(),
  recurDiscount: z.string(),
  /** The tax in the amount paid. */
  tax: z.string(),
  /** Days. */
  validity: z.int().nullable(),
  renewDate: z.int().nullable(),
});
export type OrderJson = z.infer<typeof orderSchema>;

export const toWireOrder = (order: Order): OrderJson => ({
  id: order.id,
  userId: order.userId,
  planId: order.planId,
  currency: order.currency,
  invoiceId: order.invoiceId,
  invoiceNumber: order.invoiceNumber,
  invoiceUrl: order.invoiceUrl,
  orderDate: order.orderedAt,
  orderPurchase: order.orderPurchase,
  orderType: order.orderType,
  totalAmountPaid: dollars(order.paidCents),
  usedCredits: dollars(order.usedCreditCents),
  discountCoupon: order.voucher,
  planDiscountVoucher: dollars(order.discountCents),
  recurDiscount: dollars(order.recurringDiscountCents),
  tax: dollars(order.taxCents ?? 0),
  validity: order.validityDays,
  renewDate: order.renewsAt,
});

export const cardSchema = z.object({
  /** Stripe's payment method. */
  id: z.string(),
  type: z.enum(['card', 'link', 'sepa_debit']),
  /** Of a card: visa, mastercard …; else the type, or ideal or bancontact for a debit that was agreed by it. */
  brand: z.string(),
  /** apple_pay or google_pay. */
  wallet: z.string().nullable(),
  /** Of the card or the account; empty for Link. */
  last4: z.string(),
  /** null: not a card. */
  exp_month: z.int().nullable(),
  exp_year: z.int().nullable(),
  is_default: z.literal(true),
});

export const toWireCard = (card: SavedCard): z.infer<typeof cardSchema> => ({
  id: card.paymentMethodId,
  type: card.expYear !== null ? 'card' : card.brand === 'link' ? 'link' : 'sepa_debit',
  brand: card.brand.split('/').at(-1) ?? '',
  wallet: card.brand.includes('/') ? (card.brand.split('/')[0] ?? null) : null,
  last4: card.lastFour,
  exp_month: card.expMonth,
  exp_year: card.expYear,
  is_default: true,
});

/** A value from a caller, and the true one. */
export interface SubmittedValue {
  name: string;
  /** Whether they are equal; undefined: not submitted. */
  agrees: boolean | undefined;
  /** In the specification's format. */
  true_: string;
}

/**
 * The server decides amounts, plans and dates; a caller may repeat them, not change them.
 * @throws {HttpError} 409 with everything that differs
 */
export function rejectDifferent(submitted: readonly SubmittedValue[]): void {
  const wrong = submitted.filter(({ agrees }) => agrees === false);
  if (wrong.length === 0) return;
  throw new HttpError('differs', {
    detail: `differs: ${wrong.map(({ name }) => name).join(', ')}`,
    invalidParams: wrong.map(({ name, true_ }) => ({ name: `body.${name}`, detail: `is ${true_}`, stored: true_ })),
  });
}

/** @param submitted undefined, null and '' mean not submitted */
export function compareValue(
  name: string,
  submitted: string | number | null | undefined,
  true_: string | number,
): SubmittedValue {
  const silent = submitted === undefined || submitted === null || submitted === '';
  return { name, agrees: silent ? undefined : String(submitted) === String(true_), true_: String(true_) };
}

export function compareAmount(
  name: string,
  submitted: z.infer<typeof amountSchema> | null | undefined,
  cents: number,
): SubmittedValue {
  return { name, agrees: submitted == null ? undefined : parseAmount(submitted) === cents, true_: dollars(cents) };
}

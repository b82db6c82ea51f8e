import { z } from 'zod';
import { decimalText, describedAs, doc, HttpError } from '../../http/index.ts';
import { planIdSchema, type StripeCustomerId, stripeInvoiceIdSchema, userIdSchema } from '../../shared/index.ts';
import { type Catalogue, findPlan, type Plan } from '../catalogue/catalogue.ts';
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

const time = (description: string) =>
  z
    .int()
    .nullable()
    .meta(doc(`${description}, in milliseconds since the epoch; null: none`, 1_795_510_200_000));
const amount = (description: string, example: string) =>
  z.string().meta(doc(`${description}, a decimal text`, example));

export const planSchema = z
  .object({
    id: z.string().meta(doc('Id of the plan', '12')),
    code: z.string().meta(doc('Code of the plan', 'm-499')),
    planName: z.string().meta(doc('Name for members', 'Growth')),
    planType: z
      .enum(['1', '2'])
      .nullable()
      .meta(doc("1 monthly, 2 yearly; null: a partner's plan, which does not end")),
    planAmount: z.int().meta(doc('Price in whole dollars', 499)),
    planHash: z.string().meta(doc('Public handle of the plan', 'growth-monthly')),
    seats: z
      .object({ min: z.int().meta(doc('The fewest', 1)), max: z.int().meta(doc('The most', 50)) })
      .meta({ id: 'SeatRange', description: 'How many seats a plan has.' })
      .optional()
      .meta(doc('How many seats a member can choose: `planAmount` is that of one. Absent: not sold by the seat')),
  })
  .meta({ id: 'Plan', description: 'A plan.' });

export const toWirePlan = ({
  id,
  code,
  name,
  type,
  amountCents,
  planKey,
  seats,
}: Plan): z.infer<typeof planSchema> => ({
  id,
  code,
  planName: name,
  planType: type,
  planAmount: amountCents / 100,
  planHash: planKey,
  ...(seats && { seats }),
});

const subscriptionSchema = z
  .object({
    subscription_id: z.string().meta(doc('Id of the subscription at Stripe', 'sub_1Nk3Xy')),
    status: z.string().meta(doc('Status at Stripe', 'active')),
    plan_name: z.string().nullable().meta(doc('Code of the plan; the initial one has its own name', 'm-499')),
    seats: z.int().optional().meta(doc('Number of seats; absent: the plan is not sold by the seat', 5)),
    trial_end: time('End of the trial'),
    current_period_end: time('End of the paid period'),
    cancel_at_period_end: z.boolean().meta(doc('Whether it ends with the paid period', false)),
    refund_at_end: z
      .string()
      .optional()
      .meta(
        doc(
          'Refunded to the card at `current_period_end`, a decimal text: the plan ends before its paid period',
          '99.00',
        ),
      ),
  })
  .meta({ id: 'Subscription', description: 'A subscription at Stripe.' });

export const customerSchema = z
  .object({
    customer_id: z.string().meta(doc('Id of the customer at Stripe', 'cus_QK2v7Yd1')),
    subscription: z.array(subscriptionSchema).meta(doc('One, or none after its end')),
  })
  .meta({ id: 'Customer', description: 'A customer at Stripe.' });

export function toWireCustomer(
  membership: Membership & { customerId: StripeCustomerId },
  { trial, byId }: Pick<Catalogue, 'trial' | 'byId'>,
): z.infer<typeof customerSchema> {
  const { customerId, subscriptionId, status, pricedPlanId, trialEnd, periodEnd, cancelAtPeriodEnd } = membership;
  const { amounts } = membership.refundAtEnd ?? {};
  const plan = findPlan({ byId }, pricedPlanId, membership.seats);
  const name = pricedPlanId === trialPlanKey ? trial.lookupKey : (plan?.code ?? null);
  const subscription = {
    status,
    plan_name: name,
    ...(plan?.chosenSeats !== undefined && { seats: plan.chosenSeats }),
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

export const orderSchema = z
  .object({
    id: z.string().meta(doc('Id of the order', '0197c2a6-2b40-7c8e-b3a1-9d7f5e3c1a08')),
    userId: userIdSchema
      .nullable()
      .meta(doc('Id of the member; null: deleted', '0197c2a4-7b6e-7d31-9f0a-2c4e6a8b0d1f')),
    planId: planIdSchema.nullable().meta(doc('Id of the plan; null: unknown', '12')),
    invoiceId: stripeInvoiceIdSchema.meta(doc('Id of the invoice at Stripe', 'in_1Nk4Ab')),
    invoiceNumber: z.string().nullable().meta(doc('Number of the invoice', 'F-0001')),
    invoiceUrl: z
      .string()
      .nullable()
      .meta(doc('Page of the invoice at Stripe', 'https://invoice.stripe.com/i/acct_1/x')),
    orderDate: z.int().meta(doc('Time of the payment, in milliseconds since the epoch', 1_795_510_200_000)),
    orderPurchase: z.literal('plan').meta(doc('Always plan')),
    orderType: z.enum(['upgrade', 'renewal']).meta(doc('A purchase, or a renewal')),
    currency: z.string().meta(doc('Currency (ISO 4217), lower case', 'usd')),
    totalAmountPaid: amount('The amount paid', '499.00'),
    usedCredits: amount('Credit of the customer that was used', '0.00'),
    discountCoupon: z.string().nullable().meta(doc('The promotion code; null: none', 'WELCOME20')),
    planDiscountVoucher: amount('What the promotion code took off', '0.00'),
    recurDiscount: amount('What the promotion code takes off each renewal', '0.00'),
    tax: amount('The tax in the amount paid', '0.00'),
    seats: z.int().optional().meta(doc('Number of seats; absent: one, or the plan is not sold by the seat', 5)),
    validity: z.int().nullable().meta(doc('Days for which the plan is paid; null: without end', 30)),
    renewDate: time('Time of the next renewal'),
  })
  .meta({ id: 'Order', description: 'The order of a paid invoice.' });
type OrderJson = z.infer<typeof orderSchema>;

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
  ...(order.seats !== null && { seats: order.seats }),
  validity: order.validityDays,
  renewDate: order.renewsAt,
});

export const cardSchema = z
  .object({
    id: z.string().meta(doc('Id of the payment method at Stripe', 'pm_1Nk6Ef')),
    type: z.enum(['card', 'link', 'sepa_debit']).meta(doc('Kind of payment method')),
    brand: z
      .string()
      .meta(doc('visa, mastercard …; else the type, or ideal or bancontact for a debit that was agreed by it', 'visa')),
    wallet: z.string().nullable().meta(doc('apple_pay or google_pay; null: none', null)),
    last4: z.string().meta(doc('Last four digits of the card or account; empty for Link', '4242')),
    exp_month: z.int().nullable().meta(doc('Month of expiry, 1 to 12; null: not a card', 12)),
    exp_year: z.int().nullable().meta(doc('Year of expiry; null: not a card', 2030)),
    is_default: z.literal(true).meta(doc('Always true: there is one card')),
  })
  .meta({ id: 'Card', description: 'The saved card.' });

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

/** The same, without regard to case: `USD`. */
export const compareWord = (name: string, submitted: string | null | undefined, true_: string): SubmittedValue =>
  compareValue(name, submitted?.toLowerCase(), true_);

export function compareAmount(
  name: string,
  submitted: z.infer<typeof amountSchema> | null | undefined,
  cents: number,
): SubmittedValue {
  return { name, agrees: submitted == null ? undefined : parseAmount(submitted) === cents, true_: dollars(cents) };
}

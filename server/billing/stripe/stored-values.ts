import { createHash } from 'node:crypto';
import type Stripe from 'stripe';
import { z } from 'zod';
import { planIdSchema, stripeInvoiceIdSchema, stripeSubscriptionIdSchema } from '../../shared/index.ts';
import { parseStored } from '../../store/index.ts';
import type { AnnouncedPrice, LaterChange } from '../jobs/task-store.ts';
import type { CreditNote, EndOnNotice, RefundTask } from '../orders/order.ts';
import type { Charge, QuotedDate } from '../purchase/charge.ts';
import type { ChosenPromotion } from '../results.ts';
import type { MemberPause, PauseRequest } from '../subscription/coming-acts.ts';
import type {
  AppliedDiscount,
  ContactDue,
  CustomerDiscount,
  NextCharge,
  PendingChange,
  SavedCard,
  SubscriptionPrice,
  UnpaidInvoice,
} from '../subscription/membership.ts';
import { toId } from './stripe-objects.ts';

/** The JSON columns of memberships, purchases and orders. Properties of other releases stay. */

const card: z.ZodType<SavedCard> = z.looseObject({
  paymentMethodId: z.string(),
  brand: z.string(),
  lastFour: z.string(),
  expMonth: z.number().nullable(),
  expYear: z.number().nullable(),
});

const orderCard: z.ZodType<Pick<SavedCard, 'brand' | 'lastFour'>> = z.looseObject({
  brand: z.string(),
  lastFour: z.string(),
});

const creditNotes: z.ZodType<readonly CreditNote[]> = z.array(
  z.looseObject({
    id: z.string(),
    number: z.string(),
    amountCents: z.number(),
    pdfUrl: z.string(),
    createdAt: z.number(),
  }),
);

const refund: z.ZodType<RefundTask> = z.looseObject({
  invoiceId: stripeInvoiceIdSchema,
  amountCents: z.number(),
  creditCents: z.number().optional(),
  operator: z.string(),
  end: z.enum(['keep', 'period-end', 'at-once']).optional(),
  after: z
    .looseObject({
      subscriptionId: stripeSubscriptionIdSchema,
      endsAt: z.number(),
      currency: z.string(),
      atOnce: z.boolean().optional(),
    })
    .optional(),
});

const endOnNotice: z.ZodType<EndOnNotice> = z.looseObject({
  endsAt: z.number(),
  currency: z.string(),
  parts: z
    .array(z.looseObject({ invoiceId: stripeInvoiceIdSchema, refundCents: z.number(), creditCents: z.number() }))
    .nullable(),
});

const announcedPrice: z.ZodType<AnnouncedPrice> = z.looseObject({
  planId: planIdSchema,
  priceId: z.string(),
  seats: z.number().optional(),
});

const laterChange: z.ZodType<LaterChange> = z.looseObject({
  prices: z.array(announcedPrice),
  byUser: z.boolean(),
  laterAmounts: z.string().optional(),
});

const pauseShape = { pausesAt: z.number(), resumesAt: z.number() };
const pause: z.ZodType<MemberPause> = z.looseObject(pauseShape);
const pauseRequest: z.ZodType<PauseRequest> = z.looseObject({ ...pauseShape, periodEnd: z.number() });

const discountShape = {
  code: z.string(),
  couponId: z.string(),
  promotionCodeId: z.string().nullable(),
  percentOff: z.number().nullable(),
  amountOffCents: z.number().nullable(),
  duration: z.enum(['once', 'forever', 'repeating']),
  endsAt: z.number().nullable(),
  months: z.number().nullable().optional(),
};
const discount: z.ZodType<AppliedDiscount> = z.looseObject(discountShape);
const customerDiscount: z.ZodType<CustomerDiscount> = z.looseObject({ ...discountShape, discountId: z.string() });
const promotion: z.ZodType<ChosenPromotion> = z
  .looseObject({ ...discountShape, typed: z.string(), judgedCodeId: z.string().optional() })
  // An earlier release applied the coupon in place of some codes.
  .transform(({ judgedCodeId, ...chosen }) =>
    judgedCodeId === undefined ? chosen : { ...chosen, promotionCodeId: judgedCodeId },
  );

const unpaid: z.ZodType<UnpaidInvoice> = z.looseObject({
  invoiceId: stripeInvoiceIdSchema,
  amountCents: z.number(),
  why: z.enum(['failed', 'action-required']),
  attempts: z.number(),
  withoutGrace: z.literal(true).optional(),
  nextAttemptAt: z.number().nullable(),
  url: z.string().nullable(),
});

const pending: z.ZodType<PendingChange> = z.looseObject({
  planId: planIdSchema,
  seats: z.number().optional(),
  invoiceId: stripeInvoiceIdSchema,
  amountCents: z.number(),
  expiresAt: z.number(),
  debit: z.enum(['purchase', 'renewal']).optional(),
  failed: z.literal(true).optional(),
});

const price: z.ZodType<SubscriptionPrice> = z.looseObject({
  id: z.string(),
  amountCents: z.number(),
  currency: z.string(),
  interval: z.string(),
  intervalCount: z.number(),
  tax: z.enum(['inclusive', 'exclusive']).optional(),
});

const nextCharge: z.ZodType<NextCharge> = z.looseObject({
  amountCents: z.number(),
  regularCents: z.number().nullable(),
  eachCents: z.number().optional(),
  firstRegularCents: z.number().optional(),
  firstRegularAt: z.number().optional(),
  isDiscountKept: z.literal(true).optional(),
  carriedCents: z.number().optional(),
  discountCents: z.number(),
  discountEndsAt: z.number().nullable(),
  taxCents: z.number(),
  creditUsedCents: z.number(),
  currency: z.string(),
  at: z.number().nullable(),
  basis: z.string().optional(),
});

const contact: z.ZodType<ContactDue> = z.discriminatedUnion('state', [
  z.looseObject({ state: z.literal('due') }),
  z.looseObject({ state: z.literal('refused'), code: z.string(), digest: z.string() }),
]);

const discountParams = z
  .array(z.looseObject({ promotion_code: z.string().optional(), coupon: z.string().optional() }))
  .nullable();
const charge: z.ZodType<Charge> = z.looseObject({
  subscriptionId: stripeSubscriptionIdSchema,
  itemId: z.string(),
  priceId: z.string(),
  quantity: z.number().optional(),
  prorationDate: z.number().nullable(),
  endTrial: z.boolean(),
  discounts: discountParams,
  scheduledPlanId: planIdSchema.optional(),
  scheduledPriceId: z.string().optional(),
  scheduledPrices: z.array(announcedPrice).optional(),
  trialEnd: z.number().optional(),
  byDebit: z.literal(true).optional(),
  planTrialEnd: z.number().optional(),
  announcedCents: z.number(),
  laterCents: z.string().optional(),
  followingPriceId: z.string().optional(),
  switchesTaxOn: z.literal(true).optional(),
  requestToBegin: z.looseObject({ at: z.number(), wording: z.string() }).optional(),
  beganAt: z.number(),
});

const quoted: z.ZodType<QuotedDate> = z.looseObject({
  prorationDate: z.number(),
  at: z.number(),
  subscriptionId: z.string(),
  periodStart: z.number(),
  couponId: z.string().nullable(),
});

/** The schemas by the names of their values. */
export const storedValues = {
  card,
  orderCard,
  creditNotes,
  refund,
  endOnNotice,
  laterChange,
  pause,
  pauseRequest,
  discount,
  customerDiscount,
  promotion,
  unpaid,
  pending,
  contact,
  charge,
  price,
  nextCharge,
  quoted,
};

/** @throws {StoredDataInvalid} */
export const parseColumn = <T>(schema: z.ZodType<T>, json: string | null): T | null =>
  json === null ? null : parseStored(schema, json);

/** A digest of everything at Stripe that the next charge follows from. */
export function toBasis(subscription: Stripe.Subscription, customer: Stripe.Customer | undefined): string {
  const { id, status, items, discounts, schedule, cancel_at, cancel_at_period_end, latest_invoice } = subscription;
  const { metadata, trial_end, pause_collection, automatic_tax: tax } = subscription;
  const latest = typeof latest_invoice === 'string' ? latest_invoice : [latest_invoice?.id, latest_invoice?.status];
  const facts = [
    // Of the record itself: one of an earlier release lacks values.
    4,
    ...[id, status, cancel_at, cancel_at_period_end, trial_end, latest, metadata],
    ...[pause_collection?.behavior, customer?.balance, customer?.address?.country, customer?.address?.postal_code],
    typeof schedule === 'object'
      ? [schedule?.id, schedule?.end_behavior, schedule?.phases, schedule?.pause_schedules]
      : schedule,
    items.data.map((item) => [item.price.id, item.quantity, item.current_period_end]),
    discounts.map(toId),
    ...(customer?.discount ? [customer.discount.id] : []),
    // The tax follows the place.
    ...(tax.enabled ? [customer?.address, customer?.tax_exempt] : []),
  ];
  return createHash('sha256').update(JSON.stringify(facts)).digest('base64url');
}

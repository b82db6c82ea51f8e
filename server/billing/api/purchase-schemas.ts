import { z } from 'zod';
import { describedAs, doc, withDocs } from '../../http/index.ts';
import { planIdSchema } from '../../shared/index.ts';
import { amountSchema } from '../stripe/wire-format.ts';
import { amountOwedSchema, nextChargeSchema } from '../stripe/wire-next-charge.ts';
import { billingDocs } from './billing-docs.ts';
import { purchaseType } from './save-card-operation.ts';

const text = (max: number) => z.string().max(max);

const upgradeDocs = {
  plan_name: doc("The plan's id, code, price key or name; a name that two plans share needs the interval", 'm-499'),
  plan_amount: doc(
    'Price of the plan, of one seat, a decimal text in whole currency units; another value is refused',
    '499',
  ),
  seats: doc('Number of seats; absent: as chosen on the page, or as many as the member has, or the fewest', 5),
  interval: doc('`month` or `year`', 'month'),
  amount: doc('The amount that was shown to the member, a decimal text; only this is charged today', '499.00'),
  amount_owed: doc(
    'What is too small to be charged today, a decimal text: it is owed with the next payment. Must be named if it is not 0',
    '0.00',
  ),
  usedCredits: doc(
    "What the member's credit pays today, a decimal text; must be named if it is not 0 and nothing is charged",
    '0.00',
  ),
  validity: doc('Days for which the plan is paid; another value is refused', 30),
  currency: billingDocs.currency,
  purchase_type: billingDocs.purchaseType,
  discountCoupon: billingDocs.code,
  planDiscountVoucher: doc('What the promotion code takes off today, a decimal text', '0.00'),
  recurDiscount: doc('What the promotion code takes off each renewal, a decimal text', '0.00'),
  next_amount: doc('What the member was told of the next charge, a decimal text; another amount is refused', '99.00'),
  begins_at_once: doc(
    'The member has asked that the plan begins at once, and knows that after a withdrawal they pay for the days until then; needed where the operator gives back all but that share',
    true,
  ),
  checkout_type: doc('Accepted and ignored', 'card'),
};

const upgradedDocs = {
  status: doc(
    'paid: the plan has changed; scheduled: the plan changes at the end of the paid period; noted: the same, as soon as Stripe answers; processing: a bank has the debit for days, and the plan comes with its payment',
  ),
  planId: billingDocs.planId,
  stripe_invoice_id: doc('Id of the invoice; null: nothing was charged today', 'in_1Nk4Ab'),
  order_date: doc('Time of the payment, in milliseconds since the epoch; null: none', 1_795_510_200_000),
  amount: doc('The amount paid, a decimal text', '499.00'),
  currency: billingDocs.currency,
  starts_at: doc('Start of the plan, in milliseconds since the epoch; null: unknown', 1_795_510_200_000),
};

/** The specification's upgrade payload. */
const fields = z.object({
  plan_name: text(200).min(1),
  plan_amount: amountSchema.optional(),
  seats: z.int().min(1).max(99_999).optional(),
  interval: text(20).optional(),
  amount: amountSchema,
  amount_owed: amountSchema.nullable().optional(),
  usedCredits: amountSchema.nullable().optional(),
  validity: z
    .union([z.int(), text(10)])
    .meta(describedAs({ type: 'integer' }))
    .optional(),
  currency: text(3).optional(),
  purchase_type: purchaseType.optional(),
  discountCoupon: text(100).nullable().optional(),
  planDiscountVoucher: amountSchema.nullable().optional(),
  recurDiscount: amountSchema.nullable().optional(),
  next_amount: amountSchema.nullable().optional(),
  begins_at_once: z.boolean().optional(),
  checkout_type: text(100).optional(),
});
export const upgradeBody = withDocs(fields, upgradeDocs);
export type UpgradeBody = z.infer<typeof fields>;

const result = z.object({
  status: z.enum(['paid', 'scheduled', 'noted', 'processing']),
  planId: planIdSchema,
  stripe_invoice_id: z.string().nullable(),
  order_date: z.int().nullable(),
  amount: z.string(),
  currency: z.string(),
  starts_at: z.int().nullable(),
});
const later = { amount_owed: amountOwedSchema, next_charge: nextChargeSchema };
export const upgraded = withDocs(result, upgradedDocs)
  .extend(later)
  .meta({ id: 'Purchase', description: 'The result of a purchase, and what is charged later.' });
/** Without what is charged later. */
export type Upgraded = z.infer<typeof result>;

import { z } from 'zod';
import { doc } from '../../http/index.ts';
import type { Membership, NextCharge } from '../subscription/membership.ts';
import { dollars } from './wire-format.ts';

// The charges to come, as the pages announce them: a caller can tell the member the same.

const amount = (description: string, example: string) =>
  z.string().meta(doc(`${description}, a decimal text`, example));
const time = (description: string) =>
  z
    .int()
    .nullable()
    .meta(doc(`${description}, in milliseconds since the epoch; null: unknown`, 1_795_510_200_000));

const nextCharge = z
  .object({
    amount: amount('What is charged, with everything that is owed from before', '99.05'),
    at: time('Time of the charge'),
    amount_owed: amount('Of this charge, too small for Stripe and added to the charge after it', '0.00'),
    credit_used: amount('Paid from the credit of the customer, besides `amount`', '0.00'),
    tax: amount('The tax in it', '0.00'),
    discount_ends_at: z
      .int()
      .nullable()
      .meta(doc('End of the discount, in milliseconds since the epoch; null: none, or without an end', null)),
    regular_amount: z
      .string()
      .nullable()
      .meta(doc('What is charged each time without the discount, a decimal text; null: unknown', '99.00')),
    first_regular_amount: z
      .string()
      .optional()
      .meta(doc('The first amount without the discount, where credit or a debt is left for it', '99.30')),
  })
  .meta({ id: 'NextCharge', description: 'A charge without a further act of the member.' });

export const nextChargeSchema = nextCharge.nullable().meta(doc('The next charge; null: none, or not known yet'));
export const amountOwedSchema = amount('Too small for Stripe to charge today, and added to the next payment', '0.00');

export const toWireNextCharge = (next: NextCharge | null): z.infer<typeof nextChargeSchema> =>
  next && {
    amount: dollars(next.amountCents),
    at: next.at,
    amount_owed: dollars(next.carriedCents ?? 0),
    credit_used: dollars(next.creditUsedCents),
    tax: dollars(next.taxCents),
    discount_ends_at: next.discountEndsAt,
    regular_amount: next.regularCents === null ? null : dollars(next.regularCents),
    ...(next.firstRegularCents !== undefined && { first_regular_amount: dollars(next.firstRegularCents) }),
  };

/** The charges to come after a purchase. */
export const toWireLater = (membership: Pick<Membership, 'nextCharge' | 'balanceCents'> | undefined) => ({
  amount_owed: dollars(Math.max(0, membership?.balanceCents ?? 0)),
  next_charge: toWireNextCharge(membership?.nextCharge ?? null),
});

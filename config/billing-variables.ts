import { z } from 'zod';
import { text, webAddress, whole } from './value-rules.ts';

const methods = ['card', 'link', 'apple_pay', 'google_pay', 'sepa_debit', 'ideal', 'bancontact'] as const;
export type PaymentMethodWord = (typeof methods)[number];

/** Words with commas, each once. */
const paymentMethods = z
  .string()
  .transform((value) => [...new Set(value.split(',').map((word) => word.trim()))])
  .pipe(z.array(z.enum(methods, `write some of ${methods.join(', ')} with commas between them`)))
  .refine((words) => words.includes('card') || !words.some((word) => word === 'apple_pay' || word === 'google_pay'), {
    error: 'apple_pay and google_pay are cards in a wallet; write card too',
  });

/** The variables of `server/billing/`: a part of the schema in `schema.ts`. */
export const billingVariables = {
  /** The catalogue of plans; unset: the one that comes with the product. */
  PLANS_FILE: text('a file').optional(),
  STRIPE_SECRET_KEY: z
    .string()
    .regex(/^(sk|rk)_(test|live)_\w+$/, 'write the secret key that Stripe gave you: it begins with sk_ or rk_')
    .optional(),
  STRIPE_PUBLISHABLE_KEY: z
    .string()
    .regex(/^pk_(test|live)_\w+$/, 'write the publishable key that Stripe gave you: it begins with pk_')
    .optional(),
  STRIPE_WEBHOOK_SECRET: z
    .string()
    .regex(/^whsec_\S+$/, 'write the signing secret of the webhook endpoint: it begins with whsec_')
    .optional(),
  STRIPE_API_URL: webAddress.default('https://api.stripe.com'),
  STRIPE_JS_URL: webAddress.default('https://js.stripe.com/endive/stripe.js'),
  /** The ways in which members can pay. */
  PAYMENT_METHODS: paymentMethods.default(['card']),
  /** Limits of card attempts: per browser session, per network, in total. */
  CARD_WINDOW_MINUTES: whole(1, 1_440).default(60),
  CARD_LIMIT_MEMBER: whole(1, 1_000_000).default(10),
  CARD_LIMIT_ADDRESS: whole(1, 1_000_000).default(20),
  CARD_LIMIT_OVERALL: whole(1, 100_000_000).default(1_000),
};

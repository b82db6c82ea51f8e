import { z } from 'zod';
import { type ApiOperation, defineOperation, HttpError } from '../../http/index.ts';
import type { BillingModule } from '../billing-module.ts';
import type { SaveCardResult } from '../results.ts';
import { cardSchema, rejectDifferent, toWireCard } from '../stripe/wire-format.ts';
import { apiErrorTexts, findBillingOwner, orUnavailable, toTooManyError } from './api-errors.ts';
import { getClientIp } from './customer-operations.ts';

const text = (max: number) => z.string().max(max);
/** One, or a list. */
export const purchaseType = z.union([text(50), z.array(text(50)).max(10)]);

export const isForPlans = (submitted: z.infer<typeof purchaseType> | undefined) =>
  submitted === undefined || [submitted].flat().includes('plan');

function savedOrRefused(saved: SaveCardResult | { kind: 'not-offered' } | { kind: 'too-many'; retryAfterMs: number }) {
  switch (saved.kind) {
    case 'saved':
      return { data: [toWireCard(saved.card)] };
    case 'declined':
      throw new HttpError('paymentRequired', { detail: 'card declined', extra: { errMessage: saved.message } });
    case 'not-confirmed':
      throw new HttpError('unknownCard', {
        publicDetail: apiErrorTexts.update,
        detail: 'no such card, or not confirmed',
      });
    case 'not-offered':
      throw new HttpError('cardsNotAccepted', { detail: 'method not offered' });
    case 'too-many':
      throw toTooManyError(saved.retryAfterMs);
  }
}

/** `POST /customer/{id}/paymenttypes/`: saves the card that is charged from now on. */
export function savePaymentTypeOperation(billing: BillingModule): ApiOperation {
  return defineOperation({
    method: 'post',
    path: '/customer/{stripeCustomerId}/paymenttypes/',
    alsoAt: '/customer/{stripeCustomerId}/paymenttypes',
    id: 'savePaymentType',
    summary:
      'Saves the card that is charged from now on: by a setup intent that the browser has confirmed, or by a token',
    params: z.object({ stripeCustomerId: text(100).brand<'StripeCustomerId'>() }),
    body: z.object({
      purchase_type: purchaseType.optional(),
      source: z.string().regex(/^(tok|seti)_\w{1,200}$/, 'write the id of a token or of a setup intent'),
      is_default: z.boolean().optional(),
    }),
    answer: z.object({ data: z.array(cardSchema) }),
    problems: {
      402: 'The card provider has refused the card (errMessage)',
      404: 'No such customer, token or confirmed setup intent',
      409: 'There is one card, and it is the default one; or cards are not accepted',
    },
    async handle({ req, params, body }) {
      const { user } = await findBillingOwner(req, billing.deps.database, { customerId: params.stripeCustomerId });
      rejectDifferent([
        { name: 'is_default', agrees: body.is_default !== false, true_: 'true' },
        { name: 'purchase_type', agrees: isForPlans(body.purchase_type), true_: 'plan' },
      ]);
      const { source } = body;
      return orUnavailable(apiErrorTexts.update, async () =>
        savedOrRefused(
          source.startsWith('seti_')
            ? await billing.keepCard(user, source)
            : await billing.keepToken(user, source, getClientIp(req)),
        ),
      );
    },
  });
}

import { z } from 'zod';
import {
  type ApiOperation,
  defineOperation,
  describedAs,
  doc,
  flagField,
  HttpError,
  withDocs,
} from '../../http/index.ts';
import type { BillingModule } from '../billing-module.ts';
import type { SaveCardResult } from '../results.ts';
import { cardSchema, rejectDifferent, toWireCard } from '../stripe/wire-format.ts';
import { apiErrorTexts, findBillingOwner, orUnavailable, toTooManyError } from './api-errors.ts';
import { billingDocs, customerParams } from './billing-docs.ts';
import { getClientIp } from './customer-operations.ts';

const text = (max: number) => z.string().max(max);
/** One, or a list. */
export const purchaseType = z
  .union([text(50), z.array(text(50)).max(10)])
  .meta(describedAs({ type: 'string', maxLength: 50 }));

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

const cardDocs = {
  purchase_type: billingDocs.purchaseType,
  source: { ...doc('Id of a confirmed setup intent (`seti_`) or of a token (`tok_`)', 'seti_1Nk5Cd'), maxLength: 205 },
  is_default: doc('true: the saved card is always the default one'),
};

/** `POST /customer/{id}/paymenttypes/`: saves the card that is charged from now on. */
export function savePaymentTypeOperation(billing: BillingModule): ApiOperation {
  return defineOperation({
    method: 'post',
    path: '/customer/{stripeCustomerId}/paymenttypes',
    alsoAt: '/customer/{stripeCustomerId}/paymenttypes/',
    id: 'savePaymentType',
    summary: 'Save a card',
    description:
      'Later payments charge this card. It comes from a setup intent that the browser has confirmed, or from a token.',
    params: z.object(customerParams),
    body: withDocs(
      z.object({
        purchase_type: purchaseType.optional(),
        source: z
          .string()
          .regex(
            /^(tok|seti)_\w{1,200}$/,
            'write the id of a token (tok_…) or of a setup intent (seti_…); sources (src_…) are not accepted',
          ),
        is_default: flagField().optional(),
      }),
      cardDocs,
    ),
    answer: z
      .object({ data: z.array(cardSchema).meta(doc('The one saved card')) })
      .meta({ id: 'CardAnswer', description: 'The saved card.' }),
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

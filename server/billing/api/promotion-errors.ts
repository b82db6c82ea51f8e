import { formatAmount } from '../../../views/format.ts';
import { HttpError } from '../../http/index.ts';
import type { PromotionRefusal } from '../results.ts';
import { dollars } from '../stripe/wire-format.ts';
import { toTooManyError } from './api-errors.ts';

/** The specification's `$100`; other currencies have their own signs. */
const toMinimum = (cents: number, currency: string): string =>
  currency === 'usd'
    ? `$${dollars(cents).replace(/\.00$/, '')}`
    : formatAmount('en', cents, { currency, wholes: true });

/** Text for callers; pages have their own, in four languages. */
function promotionText(refusal: Exclude<PromotionRefusal, { kind: 'too-many' }>, currency: string): string {
  switch (refusal.kind) {
    case 'unknown':
      return 'Enter valid promo code';
    case 'second':
      return 'Cannot apply more than one coupon code';
    case 'minimum':
      return `Minimum order amount should be greater than ${toMinimum(refusal.amountCents, currency)}`;
    case 'nothing-due':
      return 'The promo code was not applied: there is nothing to pay';
    case 'expired':
      return 'The promo code has expired';
    case 'used-up':
      return 'The promo code has been used up';
    case 'first-purchase-only':
      return 'The promo code is for a first purchase';
    case 'not-for-this-plan':
      return 'The promo code is not for this plan';
  }
}

/** @returns the error for a caller: 404 for an unknown code, 409 for one that cannot be used now, 429 */
export function toPromotionError(refusal: PromotionRefusal, currency: string): HttpError {
  if (refusal.kind === 'too-many') return toTooManyError(refusal.retryAfterMs);
  const kind = refusal.kind === 'unknown' ? 'unknownPromotionCode' : 'promotionNotApplicable';
  return new HttpError(kind, {
    publicDetail: promotionText(refusal, currency),
    detail: `promotion code: ${refusal.kind}`,
  });
}

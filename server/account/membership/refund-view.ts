import type { RefundView } from '../../../views/account/cancel-membership-pages.tsx';
import { isBankDebit } from '../../../views/billing/card-name.ts';
import { formatAmount } from '../../../views/format.ts';
import { type ProratedEnd, StripeUnavailableError } from '../../billing/index.ts';
import type { RequestContext } from '../../http/index.ts';
import type { UserId } from '../../shared/index.ts';
import type { AccountDeps } from '../deps.ts';

export type AnnouncedRefund = Pick<ProratedEnd, 'refundCents' | 'creditCents'>;

/**
 * The amounts that cancelling gives back, as text and for the page's form. Undefined: the plan ends with its period, as it does while
 * Stripe is unavailable.
 */
export async function findRefund(
  r: RequestContext,
  { membership }: Pick<AccountDeps, 'membership'>,
  userId: UserId,
): Promise<RefundView | undefined> {
  try {
    const end = await membership.quoteEnd(userId);
    if (!end) return undefined;
    const { refundCents, creditCents, currency } = end;
    const { card } = (await membership.getMembership(userId)) ?? {};
    return {
      toAccount: card != null && isBankDebit(card),
      amount: formatAmount(r.lang, refundCents, { currency }),
      credit: creditCents > 0 ? formatAmount(r.lang, creditCents, { currency }) : undefined,
      fields: { refundCents: String(refundCents), creditCents: String(creditCents) },
    };
  } catch (error) {
    if (!(error instanceof StripeUnavailableError)) throw error;
    r.log.warn({ err: error, act: 'settings: cancel' }, 'Stripe does not answer');
    return undefined;
  }
}

/** The announced amounts of the form; undefined: the page announced an end with the period. */
export function readAnnouncedRefund(r: RequestContext): AnnouncedRefund | undefined {
  if (r.field('refundCents') === '') return undefined;
  // No page announces a negative amount: invalid input never matches.
  const cents = (name: string) => (/^\d{1,9}$/.test(r.field(name)) ? Number(r.field(name)) : -1);
  return { refundCents: cents('refundCents'), creditCents: cents('creditCents') };
}

import type { RefundView } from '../../../views/account/cancel-membership-pages.tsx';
import { isBankDebit } from '../../../views/billing/card-name.ts';
import { formatAmount } from '../../../views/format.ts';
import { type AnnouncedEnd, StripeUnavailableError } from '../../billing/index.ts';
import type { RequestContext } from '../../http/index.ts';
import type { UserId } from '../../shared/index.ts';
import type { AccountDeps } from '../deps.ts';

/**
 * The end and the amounts that cancelling gives back, as text and for the page's form. Undefined: the plan ends with its
 * period, as it does while Stripe is unavailable, unless it ends on a month's notice.
 */
export async function findRefund(
  r: RequestContext,
  { membership }: Pick<AccountDeps, 'membership'>,
  userId: UserId,
): Promise<RefundView | undefined> {
  try {
    const end = await membership.quoteEnd(userId);
    if (!end) return undefined;
    const { endsAt, amounts } = end;
    const { refundCents, creditCents = 0 } = amounts ?? {};
    const { card } = (await membership.getMembership(userId)) ?? {};
    const money = (cents: number) => formatAmount(r.lang, cents, { currency: amounts?.currency ?? '' });
    return {
      endsAt,
      toAccount: card != null && isBankDebit(card),
      amount: refundCents === undefined ? undefined : money(refundCents),
      credit: creditCents > 0 ? money(creditCents) : undefined,
      fields: {
        ...(endsAt !== null && { endsAt: String(endsAt) }),
        ...(amounts && { refundCents: String(refundCents), creditCents: String(creditCents) }),
      },
    };
  } catch (error) {
    if (!(error instanceof StripeUnavailableError)) throw error;
    r.log.warn({ err: error, act: 'settings: cancel' }, 'Stripe does not answer');
    return undefined;
  }
}

/** The announced end and amounts of the form; undefined: the page announced an end with the period. */
export function readAnnouncedEnd(r: RequestContext): AnnouncedEnd | undefined {
  // No page announces a negative number: invalid input never matches.
  const number = (name: string) => {
    const text = r.field(name);
    if (text === '') return null;
    return /^\d{1,15}$/.test(text) ? Number(text) : -1;
  };
  const announced = {
    endsAt: number('endsAt'),
    refundCents: number('refundCents'),
    creditCents: number('creditCents'),
  };
  return announced.endsAt === null && announced.refundCents === null ? undefined : announced;
}

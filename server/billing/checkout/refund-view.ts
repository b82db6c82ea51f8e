import { isBankDebit } from '../../../views/billing/card-name.ts';
import type { RefundView } from '../../../views/billing/refund-sentences.ts';
import { formatAmount } from '../../../views/format.ts';
import type { RequestContext } from '../../http/index.ts';
import type { UserId } from '../../shared/index.ts';
import { type BillingService, StripeUnavailableError } from '../results.ts';
import { splitDebt } from '../stripe/next-charge.ts';
import type { AnnouncedDeletion, AnnouncedEnd } from '../subscription/early-end.ts';

const toDebtTexts = ({ taken, left }: ReturnType<typeof splitDebt>, money: (cents: number) => string) => ({
  owed: taken > 0 ? money(taken) : undefined,
  owedLater: left > 0 ? money(left) : undefined,
});

/**
 * The end and the amounts that cancelling gives back, as text and for the page's form. Undefined: the plan ends with its
 * period, as it does while Stripe is unavailable, unless it ends on a month's notice.
 */
export async function findRefund(
  r: RequestContext,
  { membership, act }: { membership: Pick<BillingService, 'quoteEnd' | 'getMembership'>; act?: 'deletion' },
  userId: UserId,
): Promise<RefundView | undefined> {
  try {
    const end = await membership.quoteEnd(userId, act);
    if (!end) return undefined;
    const { endsAt, amounts } = end;
    const { refundCents, creditCents = 0 } = amounts ?? {};
    const { card, balanceCents = 0 } = (await membership.getMembership(userId)) ?? {};
    const money = (cents: number) => formatAmount(r.lang, cents, { currency: amounts?.currency ?? '' });
    return {
      endsAt,
      toAccount: card != null && isBankDebit(card),
      amount: refundCents === undefined ? undefined : money(refundCents),
      credit: creditCents > 0 ? money(creditCents) : undefined,
      isCredit: refundCents === 0 && creditCents > 0,
      ...(amounts && toDebtTexts(splitDebt(balanceCents, creditCents), money)),
      fields: {
        ...(endsAt !== null && { endsAt: String(endsAt) }),
        ...(amounts && { refundCents: String(refundCents), creditCents: String(creditCents) }),
        ...(endsAt === null && !amounts && { refund: 'later' }),
      },
    };
  } catch (error) {
    if (!(error instanceof StripeUnavailableError)) throw error;
    r.log.warn({ err: error, act: 'refund' }, 'Stripe does not answer');
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

/** The announcement of a deletion's form. */
export const readAnnouncedDeletion = (r: RequestContext): AnnouncedDeletion =>
  readAnnouncedEnd(r) ?? (r.field('refund') === 'later' ? 'later' : undefined);

/** The end of a plan on a month's notice, and its refund. */
export type EndOnNotice = RefundView & { endsAt: number };

/** undefined: the plan ends with its period. */
export async function findRefundOnNotice(
  r: RequestContext,
  deps: Parameters<typeof findRefund>[1],
  userId: UserId,
): Promise<EndOnNotice | undefined> {
  const refund = await findRefund(r, deps, userId);
  return refund && refund.endsAt !== null ? { ...refund, endsAt: refund.endsAt } : undefined;
}

/** The end on a month's notice that the form's page has named. */
export const readAnnouncedEndsAt = (r: RequestContext): number | undefined => readAnnouncedEnd(r)?.endsAt ?? undefined;

import type { PageContext } from '../page-context.ts';

/** The unused part of the paid period, which is given back by cancelling. */
export interface RefundView {
  /** The end of the plan, before that of the paid period (milliseconds since the epoch); null: at once. */
  endsAt: number | null;
  /** To the card or the bank account, as text; undefined: Stripe has not computed it yet. */
  amount: string | undefined;
  toAccount: boolean;
  /** To the user's credit. */
  credit: string | undefined;
  /** Nothing goes to the card or the account. */
  isCredit?: boolean;
  /** The part of that credit which pays a debt. */
  owed?: string | undefined;
  /** A debt that it does not pay. */
  owedLater?: string | undefined;
  /** Hidden fields: the announced amounts. */
  fields: Record<string, string>;
}

/** After the credit: what it pays at once. */
const listOwed = ({ t }: Pick<PageContext, 't'>, { owed }: RefundView): string[] =>
  owed === undefined ? [] : [t('membership.cancel.owedFromCredit', { amount: owed })];

/** Sentences on the refund of an end at once, after one that names it. */
export function listRefundsNow({ t }: Pick<PageContext, 't'>, refund: RefundView): string[] {
  const { amount, toAccount, credit, isCredit } = refund;
  if (isCredit) return [t('membership.withdraw.credit', { amount: credit ?? '' }), ...listOwed({ t }, refund)];
  const back =
    amount === undefined
      ? t('membership.cancel.refundUnknown')
      : t(toAccount ? 'membership.cancel.refundAccount' : 'membership.cancel.refund', { amount });
  const credits = credit === undefined ? [] : [t('membership.cancel.refundCredit', { amount: credit })];
  return [back, ...credits, ...listOwed({ t }, refund)];
}

/** Sentences on the refund of an end on a month's notice, after one that names the day. */
export function listRefundsThen({ t }: Pick<PageContext, 't'>, refund: RefundView): string[] {
  const { amount, toAccount, credit, isCredit } = refund;
  const credits = credit === undefined ? [] : [t('membership.cancel.creditThen', { amount: credit })];
  if (isCredit) return [...credits, ...listOwed({ t }, refund)];
  const back =
    amount === undefined
      ? t('membership.cancel.refundLater')
      : t(toAccount ? 'membership.cancel.refundThenAccount' : 'membership.cancel.refundThen', { amount });
  return [back, ...credits, ...listOwed({ t }, refund)];
}
